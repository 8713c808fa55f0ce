// Package conversation keeps exactly one execution unit for each open
// Conversation, and none for a closed or deleted one. Today a unit is a
// SandboxClaim of the conversation's name and namespace.
//
// It watches Conversations and SandboxClaims. It owns the claims, the
// finalizer polychrome.dev/cleanup, and in the status of a Conversation every
// field except closed (shared with the control plane), lastActivityUnix and
// idleReclaimed (read only) and conditions of types that are not its own.
//
// A pass looks at the conversation and at the one unit that bears its name,
// and finds its row in a table; the first that fits wins:
//
//	Cleanup             deleting, or closed with a unit left: tear it down
//	DeleteConversation  closed for longer than the retention
//	SettleClosed, Noop  closed: say so, once
//	AddFinalizer        open and not held yet
//	CloseIdle           no turn for longer than the idle timeout
//	CreateSandboxClaim  no unit recorded
//	RollHarness         the unit is of another generation than desired
//	SyncStatus          mirror the unit, mend it, notice that it is gone or ended
//
// What must always be true:
//
//   - A claim that is not the conversation's own is never applied to, deleted
//     or mirrored.
//   - The finalizer goes on before the first claim is made and comes off after
//     the last one is torn down, or ten minutes into a deletion whose teardown
//     keeps failing.
//   - A conversation without a stamp of activity is never closed for idleness;
//     a unit without a recorded generation is never rolled.
//   - Never more units are being rolled than there are slots, and none while
//     too many rolls to the same generation have failed.
//   - A unit that keeps being lost is made again ever less often; the count
//     survives a restart.
//   - An address is only advertised while the conversation's own unit has it.
//
// The decision (plan.go and the files named for their question), the builder
// of the claim (children.go) and the status (status.go, verdict.go) are pure:
// the time is an argument, in whole seconds.
package conversation
