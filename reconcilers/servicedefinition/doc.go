// Package servicedefinition keeps one Deployment and one Service for each
// ServiceDefinition, both of its name and in its namespace.
//
// It watches ServiceDefinitions, Deployments, Services and the pods of the
// Deployments. It writes the Deployment and the Service, by server-side apply
// and only where they differ from what they should be, and the whole status.
//
// A pass looks at a ServiceDefinition and its children, and decides; the first
// that fits wins:
//
//	Deleting      nothing: the children go by their owner references
//	Invalid       nothing: only another spec, or another name, can help
//	NameConflict  nothing: an object of somebody else has the name of a child
//	Apply         bring what differs to what it should be
//	AwaitChild    nothing: a child is going away and will be made anew
//	AwaitRollout  nothing: the Deployment is not rolled out
//	Settled       nothing
//
// What must always be true:
//
//   - An object that is not the ServiceDefinition's own is never written, and
//     neither is its own other child while one is in the way.
//   - Ready is True only while the Deployment of the present spec is rolled
//     out, by the word of its own status, and the Service is there. An edit
//     ends it with the very write that follows from it.
//   - Zero replicas are never ready.
//   - The pods pass the Pod Security Standard restricted, whatever the spec.
//   - While the number of replicas is somebody else's, it is not applied, and
//     it survives that it was once.
//   - A ServiceDefinition at rest costs no request.
//
// There is no finalizer. What spec and children come to (validate.go), how the
// rollout stands (rollout.go), what the pods say (pods.go), the decision and
// the status are pure.
package servicedefinition
