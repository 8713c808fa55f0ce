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

// look is when to look again if nothing happens, and what for; spread marks a
// periodic look that may be stretched.
type look struct {
	after  time.Duration
	spread bool
	what   string
}

func (p rules) look(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit, chosen row) look {
	switch chosen {
	case rowCleanupClosed, rowCloseIdle:
		return look{after: afterClosing, what: "the end of the unit"}
	case rowAddFinalizer:
		return look{after: afterFinalizer, what: "the finalizer to be seen"}
	case rowSettleClosed, rowNoopClosed:
		if expiry, ok := p.expiry(conv); ok {
			return lookBy(settledPoll, "a look at what is closed", now, expiry, "the end of the retention")
		}
		return look{after: settledPoll, spread: true, what: "a look at what is closed"}
	case rowCreateSandboxClaim:
		return look{after: execution.TightPoll, spread: true, what: "the unit to get ready"}
	case rowRollHarness, rowSyncStatus:
		// A roll that has to wait leaves the conversation as it is.
		return p.lookOpen(now, conv, u)
	}
	return look{}
}

func (p rules) lookOpen(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit) look {
	if gone(conv, u) {
		return look{after: afterVanishing, what: "the unit to be made again"}
	}
	poll, what := execution.TightPoll, "the unit to get ready"
	if u.Dialable() {
		poll, what = p.readyPoll, "a look at the ready unit"
	}
	if deadline, ok := idleDeadline(conv, u); ok {
		busy, _ := busyUntil(now, conv)
		return lookBy(poll, what, now, max(deadline, busy-1), "the idle deadline")
	}
	return look{after: poll, spread: true, what: what}
}

// lookBy is a periodic look, or one at a deadline that comes sooner.
func lookBy(poll time.Duration, what string, now, deadline int64, deadlineFor string) look {
	after, spread := sooner(poll, now, deadline)
	if !spread {
		what = deadlineFor
	}
	return look{after: after, spread: spread, what: what}
}
