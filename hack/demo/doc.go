// Demo shows the controller at work: it installs what the controller needs,
// runs it under its own ServiceAccount, applies the examples and prints what
// becomes of them. On a terminal it then holds until Ctrl-C; elsewhere it
// ends once everything has settled.
//
//	bin/localcluster run --state-dir .local/demo -- bin/demo
//	KUBECONFIG=FILE bin/demo --existing
//
// The first form is what make demo does. The second uses the cluster that
// kubectl would use, where it installs neither CRDs nor the agent-sandbox
// operator: it says which commands would.
//
// It runs in the root of the repository and leaves nothing running behind.
package main
