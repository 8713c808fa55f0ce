package conversation

import (
	"slices"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// rules are the settings that decisions depend on.
type rules struct {
	// generation is the desired harness image generation, empty for off.
	generation string
	// retention is how long a closed conversation is kept, in seconds; zero
	// is for ever.
	retention int64
	// readyPoll is how often a ready unit is looked at.
	readyPoll time.Duration
}

// row is a row of the decision table.
type row int

// The rows, in the order in which they are tried.
const (
	rowCleanupDeleting row = iota
	rowNoopDeleting
	rowCleanupClosed
	rowDeleteConversation
	rowSettleClosed
	rowNoopClosed
	rowAddFinalizer
	rowCloseIdle
	rowCreateSandboxClaim
	rowRollHarness
	rowSyncStatus
)

// String is the row's name for people; some rows share one.
func (r row) String() string {
	return [...]string{
		"Cleanup", "Noop", "Cleanup", "DeleteConversation", "SettleClosed", "Noop",
		"AddFinalizer", "CloseIdle", "CreateSandboxClaim", "RollHarness", "SyncStatus",
	}[r]
}

// open reports whether the row is one of an open conversation that is held.
func (r row) open() bool { return r >= rowCloseIdle }

// decide finds the row. The first that fits wins.
func (p rules) decide(now int64, conv *polychromev1alpha1.Conversation, w World) row {
	switch held := slices.Contains(conv.Finalizers, polychromev1alpha1.ConversationFinalizer); {
	case conv.DeletionTimestamp != nil && held:
		return rowCleanupDeleting
	case conv.DeletionTimestamp != nil:
		return rowNoopDeleting
	case conv.Status.Closed:
		return p.decideClosed(now, conv, w.Unit)
	case !held:
		return rowAddFinalizer
	case idle(now, conv, w.Unit):
		return rowCloseIdle
	case conv.Status.SandboxClaimName == "":
		return rowCreateSandboxClaim
	case p.rollDue(conv, w.Unit) && !w.Rolls.Halted:
		return rowRollHarness
	}
	return rowSyncStatus
}

// decideClosed asks for a live unit, not for a present one: a claim that
// somebody's finalizer holds must not be torn down again and again.
func (p rules) decideClosed(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit) row {
	switch {
	case conv.Status.SandboxClaimName != "" || u.Live():
		return rowCleanupClosed
	case p.expired(now, conv):
		return rowDeleteConversation
	case !p.settled(now, conv, u):
		return rowSettleClosed
	}
	return rowNoopClosed
}

// rollDue asks for a recorded generation, without which there is nothing to
// roll from, and for a unit that lives: one that is gone or has ended comes
// back with the desired generation by itself, and must not wait for a slot to
// be missed. What the unit says of itself counts for more than what was
// recorded, which may have been lost.
func (p rules) rollDue(conv *polychromev1alpha1.Conversation, u execution.Unit) bool {
	recorded := conv.Status.HarnessImageGeneration
	return p.generation != "" && recorded != "" && recorded != p.generation &&
		u.Live() && !u.Ended() && u.Generation != p.generation
}

// gone reports whether the recorded unit has disappeared. Without a sign that
// it was healthy once it may still be on its way.
func gone(s polychromev1alpha1.ConversationStatus, u execution.Unit) bool {
	return !u.Present() && (s.Phase == polychromev1alpha1.ConversationReady || s.PodIP != "" || s.HarnessEndpoint != "")
}

// Plan turns the row into actions and a wait.
func (r *Reconciler) Plan(now time.Time, conv *polychromev1alpha1.Conversation, w World) framework.Plan[Action] {
	at := now.Unix()
	chosen := r.decide(at, conv, w)
	next := r.look(at, conv, w, chosen)
	return framework.Plan[Action]{
		Decision: chosen.String(),
		Actions:  actions(at, conv, w, chosen),
		Wait:     next.after,
		WaitFor:  next.what,
		Spread:   next.spread,
		// Slots limit rolls, and keep an order that turns would upset; the
		// mending of a claim whose roll has to wait is a rewrite like others.
		Unpaced: chosen == rowRollHarness && len(w.Unit.Drift) == 0,
		Events:  r.events(at, conv, w, chosen),
	}
}

func actions(now int64, conv *polychromev1alpha1.Conversation, w World, chosen row) []Action {
	switch chosen {
	case rowCleanupDeleting:
		remove := Action{Kind: RemoveFinalizer}
		if w.Unread == nil && !w.Unit.Live() {
			return []Action{remove}
		}
		return []Action{{Kind: TeardownUnit, Unit: w.Unit.Ref(), LastChance: overdue(now, conv)}, remove}
	case rowCleanupClosed:
		if w.Unit.Live() {
			return []Action{{Kind: TeardownUnit, Unit: w.Unit.Ref()}}
		}
	case rowDeleteConversation:
		return []Action{{Kind: DeleteConversation}}
	case rowAddFinalizer:
		return []Action{{Kind: AddFinalizer}}
	case rowRollHarness:
		busy, _ := busyUntil(now, conv)
		return []Action{{Kind: RollUnit, Unit: w.Unit.Ref(), Busy: busy > now, Drift: w.Unit.Drift}}
	case rowCreateSandboxClaim, rowSyncStatus:
		return upkeep(now, conv, w.Unit, chosen)
	}
	return nil
}

// upkeep makes, mends or replaces the unit of an open conversation.
func upkeep(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit, chosen row) []Action {
	switch {
	case chosen == rowSyncStatus && u.Ended():
		return []Action{{Kind: TeardownUnit, Unit: u.Ref()}}
	case needsEnsuring(now, conv, u, chosen):
		return []Action{{Kind: EnsureUnit, Unit: u.Ref(), Drift: u.Drift}}
	}
	return nil
}

// needsEnsuring reports whether the unit is to be made or mended now. One
// that vanished is made by a later pass, after the status has said so.
func needsEnsuring(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit, chosen row) bool {
	switch {
	case u.Unserved || u.Standing == execution.Foreign || u.Terminating:
		return false
	case u.Present():
		return len(u.Drift) > 0
	case chosen == rowSyncStatus && gone(conv.Status, u):
		return false
	}
	return now >= recreateAt(now, conv, u)
}

// teardownGrace is how long a deletion may be held up by a failing teardown,
// in seconds.
const teardownGrace = 600

func overdue(now int64, conv *polychromev1alpha1.Conversation) bool {
	return since(now, conv.DeletionTimestamp.Unix()) >= teardownGrace
}

// events tells of what is passed over in silence otherwise.
func (p rules) events(now int64, conv *polychromev1alpha1.Conversation, w World, chosen row) []framework.Event {
	u := w.Unit
	var told []framework.Event
	if chosen.open() && p.halts(now, conv, w) {
		told = append(told, framework.Event{
			Warning: true, Reason: string(polychromev1alpha1.ConditionRollHalted), Message: p.haltedMessage(w),
		})
	}
	if _, problem := busyUntil(now, conv); problem != "" && chosen.open() {
		told = append(told, framework.Event{Warning: true, Reason: "BusyUntilIgnored", Message: problem})
	}
	recorded := conv.Status.SandboxClaimName != ""
	if (chosen == rowCleanupDeleting || chosen == rowCleanupClosed) && recorded && u.Standing == execution.Foreign {
		told = append(told, framework.Event{
			Warning: true, Reason: string(polychromev1alpha1.ReasonNameConflict),
			Message: "left " + u.Name + " alone: it belongs to somebody else",
		})
	}
	return told
}
