// Localcluster runs a command beside a Kubernetes cluster of its own, and takes the cluster away when the command ends.
//
//	localcluster run [flags] -- COMMAND [ARGUMENT...]
//
// The cluster is made of real parts: the control plane (controlplane, in the folder beside this one), kwok, which plays
// the nodes and makes pods ready without running them, and the agent-sandbox operator with one template and a warm pool.
// The command finds the cluster through KUBECONFIG and POLYCHROME_TEST_KUBECONFIG, and the binaries through
// POLYCHROME_TEST_BIN. Its exit code becomes that of localcluster. Without a command the cluster stays until a signal.
//
// Nothing outlives localcluster: it stops what it started when it ends in order, and the kernel does when it does not.
package main
