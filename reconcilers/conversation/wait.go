package conversation

import (
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// When to look again, beside what events bring.
const (
	afterFinalizer = time.Second
	afterClosing   = 5 * time.Second
	afterVanishing = time.Second
	afterRolling   = time.Second
	afterConflict  = 5 * time.Second
	afterDeferral  = 15 * time.Second
	settledPoll    = 5 * time.Minute
)

// wait is when to look again if nothing happens; spread marks a periodic look
// that may be stretched.
func (p rules) wait(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit, chosen row) (wait time.Duration, spread bool) {
	switch chosen {
	case rowCleanupClosed, rowCloseIdle:
		return afterClosing, false
	case rowAddFinalizer:
		return afterFinalizer, false
	case rowSettleClosed, rowNoopClosed:
		if expiry, ok := p.expiry(conv); ok {
			return sooner(settledPoll, now, expiry)
		}
		return settledPoll, true
	case rowCreateSandboxClaim:
		return execution.TightPoll, true
	case rowRollHarness, rowSyncStatus:
		// A roll that has to wait leaves the conversation as it is.
		return p.waitOpen(now, conv, u)
	}
	return 0, false
}

func (p rules) waitOpen(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit) (time.Duration, bool) {
	if gone(conv, u) {
		return afterVanishing, false
	}
	poll := execution.TightPoll
	if u.Dialable() {
		poll = p.readyPoll
	}
	if deadline, ok := idleDeadline(conv, u); ok {
		busy, _ := busyUntil(now, conv)
		return sooner(poll, now, max(deadline, busy-1))
	}
	return poll, true
}
