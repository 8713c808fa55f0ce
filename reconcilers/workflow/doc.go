// Package workflow keeps a ServiceDefinition for each stage of a Workflow, and
// makes it when the stages that it depends on are ready.
//
// It watches Workflows and ServiceDefinitions. It owns the ServiceDefinitions
// of its Workflows' stages and the whole status of a Workflow, but for
// conditions of types that are not its own. What becomes of a
// ServiceDefinition is somebody else's work: here only its status is read.
//
// A pass looks at the workflow and its children, and decides; the first that
// fits wins:
//
//	Deleting  nothing: the children go by their owner references
//	Invalid   nothing: the spec cannot be understood until it is edited
//	Start     make the children whose gate is open, mend those that differ
//	Remove    delete the children of stages that are no longer there
//	Wait      a stage is not ready, and there is nothing to do about it
//	Settled   every stage is ready
//
// A stage's gate (gate.go) is open while each stage that it depends on shows
// what the spec wants of it and is ready in that generation. It is asked only
// before a child is made. Changes go to all children at once.
//
// What must always be true:
//
//   - No child is made before all that it depends on is ready.
//   - No child is deleted, and none left unmended, because another turned
//     unready.
//   - While the spec is invalid no child is made, changed or deleted.
//   - A ServiceDefinition that is not the workflow's own is never written or
//     deleted. Its stage is in conflict, and those that depend on it wait; all
//     others go on.
//   - Of the children of removed stages one goes only after those that
//     depended on it are gone.
//   - A stage that was ready and is not any more is told from one that has yet
//     to get ready, also after a restart: the status remembers.
//   - Neither plan nor text depends on the order of the stages in the spec,
//     which only the list in the status follows.
//
// The decision (plan.go and the files named for their question), the builder
// of the child (children.go) and the status (status.go, stage.go, verdict.go)
// are pure.
package workflow
