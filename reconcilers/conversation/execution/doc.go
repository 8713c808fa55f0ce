// Package execution provides conversations with execution units, behind one
// interface. Today's only units are SandboxClaims of the agent-sandbox
// operator. They are read and written in the newest version of its API that
// is served: v1beta1, whose claims name a warm pool, or v1alpha1, whose
// claims name a template. All else is one rule for both.
//
// It reads from caches, judges whose a claim is, builds the claim that should
// be there, and applies or deletes it. Whether to do so is not decided here.
//
// A claim is a conversation's own if it is controlled by it, or if it has no
// controller at all and carries its UID as a label: garbage collection of
// orphans may strip the reference. Everything else of the name is foreign and
// is never applied to, deleted or mirrored.
package execution
