package conversation

import (
	"cmp"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// outcome is what acting came to.
type outcome struct {
	// failed says that an action failed; nameTaken that it did so because
	// the unit's name belongs to somebody else.
	failed, nameTaken bool
	// ensured says that the unit was made or mended.
	ensured bool
	// rolled says that the unit was torn down to roll it, torn that it was
	// torn down for another reason.
	rolled, torn bool
	// learned is what was learnt.
	learned Learned
}

func outcomeOf(done []framework.Done[Action]) outcome {
	var o outcome
	for _, d := range done {
		if d.Err != nil {
			o.failed = true
			o.nameTaken = framework.IsNameConflict(d.Err)
			continue
		}
		if learned, ok := d.Result.Learned.(Learned); ok {
			o.learned = learned
		}
		o.ensured = o.ensured || d.Action.Kind == EnsureUnit
		o.torn = o.torn || d.Action.Kind == TeardownUnit
		o.rolled = o.rolled || (d.Action.Kind == RollUnit && !o.learned.Deferred)
	}
	return o
}

// Status is the conversation as it should be seen after this pass. The row
// is found again rather than handed over; a roll that was not carried out
// leaves what SyncStatus would say.
func (r *Reconciler) Status(
	now time.Time, conv *polychromev1alpha1.Conversation, w World, done []framework.Done[Action],
) *polychromev1alpha1.Conversation {
	at, o := now.Unix(), outcomeOf(done)
	chosen := r.decide(at, conv, w)
	if chosen == rowRollHarness && !o.rolled {
		chosen = rowSyncStatus
	}
	want, ok := r.desired(at, conv, w.Unit, chosen, o)
	if !ok {
		return conv
	}
	says := r.judge(scene{now: at, conv: conv, want: want, world: w, chosen: chosen, outcome: o})
	if sameFields(conv.Status, want) && saysSame(conv.Status.Conditions, says) {
		return conv
	}
	changed := conv.DeepCopy()
	want.DeepCopyInto(&changed.Status)
	changed.Status.Conditions = conditionsOf(changed, now, says)
	return changed
}

// desired is the whole desired status but for the conditions; false when the
// row has nothing to say.
func (p rules) desired(
	now int64, conv *polychromev1alpha1.Conversation, u execution.Unit, chosen row, o outcome,
) (polychromev1alpha1.ConversationStatus, bool) {
	s := conv.Status
	s.ObservedGeneration = conv.Generation
	switch chosen {
	case rowCleanupDeleting:
		// Seen only while somebody else's finalizer keeps the object.
		release(&s)
		return s, !o.failed
	case rowCleanupClosed:
		release(&s)
		s.ClosedAt = new(now)
		return s, !o.failed
	case rowSettleClosed, rowNoopClosed:
		return p.closed(now, s), true
	}
	if !chosen.open() {
		return s, false
	}
	p.keepOpen(&s, now)
	switch chosen {
	case rowCloseIdle:
		s.Closed, s.Phase = true, polychromev1alpha1.ConversationClosing
	case rowCreateSandboxClaim:
		return created(s, u, o), !o.failed || o.nameTaken
	case rowRollHarness:
		rolling(&s, now)
	case rowSyncStatus:
		p.sync(&s, now, u, o)
	}
	return s, true
}

// sync takes in how the recorded unit is; s still says how it was.
func (p rules) sync(s *polychromev1alpha1.ConversationStatus, now int64, u execution.Unit, o outcome) {
	if gone(*s, u) || (u.Ended() && o.torn) {
		p.lose(s, now)
		return
	}
	p.mirror(s, u, o)
	if o.learned.Created {
		countLoss(now, s)
	}
}

// keepOpen clears what an open conversation has not: the stamp of an earlier
// closing, which must not count, and the traces of a roll that is no more. A
// roll whose beginning nobody wrote down begins now, or it could never fail.
func (p rules) keepOpen(s *polychromev1alpha1.ConversationStatus, now int64) {
	s.ClosedAt = nil
	if p.generation == "" {
		s.RollingHarness = false
	}
	if !s.RollingHarness {
		s.RollStartedAt = nil
	} else if _, stamped := stamp(s.RollStartedAt); !stamped {
		s.RollStartedAt = new(now)
	}
}

// release lets go of the unit. A resumed conversation must not advertise the
// address of a pod that is gone. What was lost before counts no more: the next
// unit is made because somebody asked for it.
func release(s *polychromev1alpha1.ConversationStatus) {
	withdraw(s)
	s.SandboxClaimName = ""
	s.RollingHarness, s.RollStartedAt, s.UnitRecreations = false, nil, nil
	s.Phase = polychromev1alpha1.ConversationClosing
}

func withdraw(s *polychromev1alpha1.ConversationStatus) {
	s.PodIP, s.HarnessEndpoint, s.HarnessReady = "", "", false
}

// closed is the status of a conversation that is closed and settled.
func (p rules) closed(now int64, s polychromev1alpha1.ConversationStatus) polychromev1alpha1.ConversationStatus {
	release(&s)
	if p.needsClosedAt(s.ClosedAt) {
		s.ClosedAt = new(now)
	}
	return s
}

// settled reports whether a closed conversation says all that it should.
func (p rules) settled(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit) bool {
	want, _ := p.desired(now, conv, u, rowSettleClosed, outcome{})
	says := p.judge(scene{now: now, conv: conv, want: want, world: World{Unit: u}, chosen: rowSettleClosed})
	return sameFields(conv.Status, want) && saysSame(conv.Status.Conditions, says)
}

// created records the unit that was made or found. While the name is not to
// be had nothing is recorded.
func created(s polychromev1alpha1.ConversationStatus, u execution.Unit, o outcome) polychromev1alpha1.ConversationStatus {
	withdraw(&s)
	switch {
	case o.ensured:
		s.HarnessImageGeneration = o.learned.Generation
	case u.Live() && !o.failed:
		s.HarnessImageGeneration = u.Generation
	default:
		if !s.RollingHarness {
			s.Phase = polychromev1alpha1.ConversationPending
		}
		return s
	}
	s.SandboxClaimName = u.Name
	s.Phase = polychromev1alpha1.ConversationPending
	return s
}

// rolling lets go of a unit that comes back with the desired generation.
func rolling(s *polychromev1alpha1.ConversationStatus, now int64) {
	release(s)
	s.HarnessImageGeneration = ""
	s.Phase = polychromev1alpha1.ConversationRollingHarness
	s.RollingHarness, s.RollStartedAt = true, new(now)
}

// lose lets go of a unit that went, or had to go, without being asked to. The
// one made in its place is of the desired generation.
func (p rules) lose(s *polychromev1alpha1.ConversationStatus, now int64) {
	withdraw(s)
	s.SandboxClaimName = ""
	s.Phase = polychromev1alpha1.ConversationPending
	if s.HarnessImageGeneration != p.generation {
		s.HarnessImageGeneration = ""
	}
	countLoss(now, s)
}

// mirror shows the unit. While it is terminating its address stays: it is
// the sign that the unit was healthy, for when it is gone.
func (p rules) mirror(s *polychromev1alpha1.ConversationStatus, u execution.Unit, o outcome) {
	s.PodIP, s.HarnessEndpoint, s.HarnessReady = u.Address, "", u.Dialable()
	switch {
	case s.IdleReclaimed:
		s.Phase = polychromev1alpha1.ConversationPaused
	case s.HarnessReady:
		s.Phase = polychromev1alpha1.ConversationReady
	default:
		s.Phase = polychromev1alpha1.ConversationPending
	}
	switch {
	case o.learned.Created:
		s.HarnessImageGeneration = o.learned.Generation
	case p.generation != "" && u.Live():
		// The unit knows best, whatever status was lost or written over; one
		// that does not know has nothing to be rolled from.
		s.HarnessImageGeneration = cmp.Or(u.Generation, s.HarnessImageGeneration, p.generation)
	}
	if s.HarnessReady {
		s.RollingHarness, s.RollStartedAt = false, nil
	}
}

// sameFields compares the fields that this package writes.
func sameFields(a, b polychromev1alpha1.ConversationStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration &&
		a.SandboxClaimName == b.SandboxClaimName &&
		a.Phase == b.Phase &&
		a.PodIP == b.PodIP &&
		a.HarnessEndpoint == b.HarnessEndpoint &&
		a.HarnessReady == b.HarnessReady &&
		a.Closed == b.Closed &&
		same(a.ClosedAt, b.ClosedAt) &&
		a.HarnessImageGeneration == b.HarnessImageGeneration &&
		a.RollingHarness == b.RollingHarness &&
		same(a.RollStartedAt, b.RollStartedAt) &&
		same(a.UnitRecreations, b.UnitRecreations)
}

func same[V comparable](a, b *V) bool {
	return a == b || (a != nil && b != nil && *a == *b)
}
