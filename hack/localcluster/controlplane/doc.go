// Controlplane runs a real Kubernetes control plane in one process: etcd, the API server, the controller manager and the
// scheduler, all compiled from source. It serves on 127.0.0.1 only.
//
// The start goes in a fixed order: etcd, the API server, the custom resource definitions of --crds, and only then the
// controller manager. The garbage collector learns the kinds of a cluster when it starts and looks again half a minute
// later, so a definition that came after it would leave owned objects behind for that long.
//
// The kubeconfig appears last, in one step, when all of it works; a starter may take its presence as the sign. Everything
// worth keeping is in the state folder, and a later start with the same folder finds the objects again. A write is not
// flushed to the disk before it is acknowledged: it outlives the process, not the machine.
//
// A component that ends ends the process, with its error. The components keep global state (feature gates, metrics,
// configuration endpoints), so none of them is ever started twice in one process.
package main
