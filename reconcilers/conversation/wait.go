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

func (p rules) look(now int64, conv *polychromev1alpha1.Conversation, w World, chosen row) look {
	switch chosen {
	case rowCleanupClosed, rowCloseIdle:
		return look{after: afterClosing, what: "the end of the unit"}
	case rowAddFinalizer:
		return look{after: afterFinalizer, what: "the finalizer to be seen"}
	case rowSettleClosed, rowNoopClosed:
		if expiry, ok := p.expiry(conv); ok {
			return lookBy(settledPoll, "a look at what is closed", now, deadline{expiry, "the end of the retention"})
		}
		return lookBy(settledPoll, "a look at what is closed", now)
	case rowCreateSandboxClaim, rowRollHarness, rowSyncStatus:
		// A roll that has to wait leaves the conversation as it is.
		return p.lookOpen(now, conv, w, chosen)
	}
	return look{}
}

func (p rules) lookOpen(now int64, conv *polychromev1alpha1.Conversation, w World, chosen row) look {
	u := w.Unit
	if chosen != rowCreateSandboxClaim && (gone(conv.Status, u) || u.Ended()) {
		return look{after: afterVanishing, what: "the unit to be made again"}
	}
	poll, what := execution.TightPoll, "the unit to get ready"
	switch {
	case !u.Dialable():
	case w.Rolls.Halted && p.rollDue(conv, u):
		poll, what = p.readyPoll, "the end of the halt of rolls to "+p.generation
	default:
		poll, what = p.readyPoll, "a look at the ready unit"
	}
	return lookBy(poll, what, now, p.deadlines(now, conv, u)...)
}

// deadline is the last second of something, and what it is the end of.
type deadline struct {
	at   int64
	what string
}

// deadlines are the moments at which an open conversation changes although
// nothing happens.
func (p rules) deadlines(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit) []deadline {
	var all []deadline
	if at := recreateAt(now, conv, u); at > now {
		all = append(all, deadline{at - 1, "the unit to be made again"})
	}
	if at, ok := idleDeadline(conv, u); ok {
		busy, _ := busyUntil(now, conv)
		all = append(all, deadline{max(at, busy-1), "the idle deadline"})
	}
	if at, ok := pendingDeadline(conv, u); ok {
		all = append(all, deadline{at, "the unit to get ready in time"})
	}
	if at, ok := rollDeadline(conv.Status); ok {
		all = append(all, deadline{at, "the roll to succeed in time"})
	}
	return all
}

// lookBy is a periodic look, or one at the first deadline that comes sooner.
func lookBy(poll time.Duration, what string, now int64, deadlines ...deadline) look {
	next := look{after: poll, spread: true, what: what}
	for _, d := range deadlines {
		after, spread := sooner(poll, now, d.at)
		if !spread && (next.spread || after < next.after) {
			next = look{after: after, what: d.what}
		}
	}
	return next
}
