// Package routine tells people when each Routine will fire, or what is wrong
// with it. It fires nothing: the control plane's scheduler does, by the same
// package schedule.
//
// It watches Routines and, where it may, the metadata of CronJobs and
// ServiceAccounts. It owns nothing. In the status of a Routine it writes every
// field; of the conditions Ready and Stalled. MissedFire is the scheduler's.
//
// A pass finds its row; the first that fits wins:
//
//	Noop           deleting: what the routine owns goes with it
//	ReportInvalid  the spec cannot be used: say what to write instead
//	Apply          say when it fires, and remove the trigger of older releases
//
// Older releases fired a routine by a CronJob routine-NAME under a
// ServiceAccount of that name. Both would fire it a second time.
//
// What must always be true:
//
//   - A CronJob or ServiceAccount is deleted only while this very Routine is
//     its owner, and its only one, and as the version that was judged. Without
//     the rights to see or delete them, nothing is removed and nothing else
//     changes.
//   - The spec is never written.
//   - Nothing is made up for: what should have fired in the past, while
//     suspended, or while a clock was wrong, is not looked at.
//   - A status is written only when it changes. That of a routine that fires
//     does so once for each fire, at a second of the routine's own.
//
// The decision (plan.go, verdict.go, wait.go), the names of the old trigger
// (children.go) and the status (status.go) are pure.
package routine
