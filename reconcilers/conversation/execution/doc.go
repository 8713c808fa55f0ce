// Package execution provides conversations with execution units, behind one
// interface. Today's only units are SandboxClaims of the agent-sandbox
// operator, in its version v1alpha1.
//
// It reads from caches, judges whose a claim is, builds the claim that should
// be there, and applies or deletes it. Whether to do so is not decided here.
//
// A claim is a conversation's own if it is controlled by it, or if it has no
// controller at all and carries its UID as a label: garbage collection of
// orphans may strip the reference. Everything else of the name is foreign and
// is never applied to, deleted or mirrored.
package execution
