package conversation

import (
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// idle reports whether the conversation is to be closed for want of turns.
func idle(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit) bool {
	deadline, ok := idleDeadline(conv, u)
	if !ok || now <= deadline {
		return false
	}
	busy, _ := busyUntil(now, conv)
	return busy <= now
}

// idleDeadline is the last second in which the conversation stays open
// without a turn. It has one only with a stamp of activity: the time of its
// creation is no proxy, or old conversations whose stamp is on its way would
// be closed in the middle of a turn. A unit younger than the last turn gets
// its full timeout, so that one woken with an old stamp is not closed again
// at once; without a unit there is nothing to reclaim.
func idleDeadline(conv *polychromev1alpha1.Conversation, u execution.Unit) (int64, bool) {
	last, stamped := stamp(conv.Status.LastActivityUnix)
	timeout := conv.Spec.IdleTimeoutSeconds
	if !stamped || timeout <= 0 || conv.Status.IdleReclaimed {
		return 0, false
	}
	if conv.Status.SandboxClaimName == "" && !u.Live() {
		return 0, false
	}
	if u.Live() {
		last = max(last, u.CreatedAt)
	}
	return later(last, timeout), true
}
