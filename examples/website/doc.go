// Website runs a kind of its own: a Website is a page, kept in a ConfigMap and
// served by a Deployment, both of the Website's name.
//
//	go run ./examples/website --namespace default
//
// It watches Websites, and the ConfigMaps and Deployments of their names. It
// writes those two children, by server-side apply, and the whole status.
// README.md tells how to read it and how to make a kind of your own of it.
//
// A pass looks at a Website and its children, and decides; the first that fits
// wins:
//
//	Deleting      nothing: the children go by their owner references
//	NameConflict  nothing: an object of somebody else has the name of a child
//	Apply         bring what differs to what it should be, the page first
//	Settled       nothing
//
// What must always be true:
//
//   - An object that is not the Website's own is never written.
//   - Ready is True only while the Deployment of the present spec is rolled
//     out, by the word of its own status.
//   - A Website at rest costs no request.
//
// There is no finalizer. One is needed where something must be undone that no
// owner reference reaches, such as a record in somebody's DNS: the framework's
// AddFinalizer is then the first action and RemoveFinalizer the last.
package main
