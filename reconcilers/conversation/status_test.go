package conversation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// did is what acting came to.
func did(actions ...framework.Done[Action]) []framework.Done[Action] { return actions }

func well(kind ActionKind, learned any) framework.Done[Action] {
	return framework.Done[Action]{Action: Action{Kind: kind}, Result: framework.Result{Learned: learned}}
}

func badly(kind ActionKind, err error) framework.Done[Action] {
	return framework.Done[Action]{Action: Action{Kind: kind}, Err: err}
}

var (
	createdNew = Learned{Made: execution.Made{Created: true, Generation: newGeneration}}
	foundOld   = Learned{Made: execution.Made{Generation: oldGeneration}}
	deferral   = Learned{Deferred: true}
)

// says is what a status comes to, without times and messages.
type says struct {
	Fields     polychromev1alpha1.ConversationStatus
	Reason     polychromev1alpha1.Reason
	Conditions string
}

// saysOf reads a status: the conditions are spelled R P D S for those that
// are True.
func saysOf(conv *polychromev1alpha1.Conversation) says {
	out := says{Fields: conv.Status}
	out.Fields.Conditions = nil
	for _, c := range conv.Status.Conditions {
		out.Reason = polychromev1alpha1.Reason(c.Reason)
		if c.Status == metav1.ConditionTrue {
			out.Conditions += c.Type[:1]
		}
	}
	return out
}

type statusCase struct {
	name  string
	rules rules
	conv  *polychromev1alpha1.Conversation
	unit  execution.Unit
	done  []framework.Done[Action]
	want  says
	// wantSame asks for the very object, unchanged.
	wantSame bool
}

func runStatusCases(t *testing.T, cases []statusCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := c.conv.DeepCopy()
			got := c.rules.reconciler().Status(time.Unix(now, 0), c.conv, World{Unit: c.unit}, c.done)
			if diff := cmp.Diff(before, c.conv); diff != "" {
				t.Fatalf("the cached object was changed:\n%s", diff)
			}
			if c.wantSame {
				if got != c.conv {
					t.Errorf("want the very object, got a copy (-want +got):\n%s", cmp.Diff(c.conv, got))
				}
				return
			}
			if diff := cmp.Diff(c.want, saysOf(got), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusOfABoot(t *testing.T) {
	creating := recorded(status(func(s *polychromev1alpha1.ConversationStatus) {
		s.ObservedGeneration, s.Phase = 1, polychromev1alpha1.ConversationPending
		s.Conditions = triadOf(false, true, false, polychromev1alpha1.ReasonCreatingExecutionUnit)
	}))
	base := polychromev1alpha1.ConversationStatus{ObservedGeneration: 1, Phase: polychromev1alpha1.ConversationPending}
	recordedAs := func(generation string) polychromev1alpha1.ConversationStatus {
		s := base
		s.SandboxClaimName, s.HarnessImageGeneration = "c1", generation
		return s
	}
	ready := recordedAs("")
	ready.Phase, ready.PodIP, ready.HarnessReady = polychromev1alpha1.ConversationReady, "10.4.2.7", true
	paused := ready
	paused.Phase, paused.IdleReclaimed = polychromev1alpha1.ConversationPaused, true
	reopened := shut(closedAt(now - 500))
	reopened.Status.Closed = false
	runStatusCases(t, []statusCase{
		{name: "the finalizer is no news", conv: bare(), unit: noUnit, done: did(well(AddFinalizer, nil)), wantSame: true},
		{name: "a claim that was made is recorded with the generation desired", rules: on, conv: held(), unit: noUnit,
			done: did(well(EnsureUnit, createdNew)), want: says{recordedAs(newGeneration), polychromev1alpha1.ReasonCreatingExecutionUnit, "P"}},
		{name: "a claim found while making it is recorded with its own", rules: on, conv: held(), unit: noUnit,
			done: did(well(EnsureUnit, foundOld)), want: says{recordedAs(oldGeneration), polychromev1alpha1.ReasonCreatingExecutionUnit, "P"}},
		{name: "a claim found is recorded with its own generation", rules: on, conv: held(), unit: made(bootingUnit, oldGeneration),
			want: says{recordedAs(oldGeneration), polychromev1alpha1.ReasonCreatingExecutionUnit, "P"}},
		{name: "a claim found without a generation is recorded without one", rules: on, conv: held(ofGeneration(oldGeneration)), unit: bootingUnit,
			want: says{recordedAs(""), polychromev1alpha1.ReasonCreatingExecutionUnit, "P"}},
		{name: "a claim that could not be made is not recorded", conv: held(), unit: noUnit, done: did(badly(EnsureUnit, errServer)), wantSame: true},
		{name: "while the old claim is going nothing is recorded", conv: held(), unit: goingUnit,
			want: says{base, polychromev1alpha1.ReasonExecutionUnitTerminating, "P"}},
		{name: "while the name is taken nothing is recorded", conv: held(), unit: othersUnit,
			want: says{base, polychromev1alpha1.ReasonNameConflict, "DS"}},
		{name: "while the backend is not there nothing is recorded", conv: held(), unit: noBackend,
			want: says{base, polychromev1alpha1.ReasonBackendUnavailable, "PD"}},
		{name: "a reopened conversation loses the stamp of its closing", conv: reopened, unit: noUnit,
			done: did(well(EnsureUnit, Learned{Made: execution.Made{Created: true}})),
			want: says{recordedAs(""), polychromev1alpha1.ReasonCreatingExecutionUnit, "P"}},
		{name: "from creating to waiting is no change", conv: creating, unit: bootingUnit, wantSame: true},
		{name: "ready is", conv: creating, unit: readyUnit, want: says{ready, polychromev1alpha1.ReasonHarnessReady, "R"}},
		{name: "idleReclaimed shows as paused", conv: recorded(status(func(s *polychromev1alpha1.ConversationStatus) { s.IdleReclaimed = true })),
			unit: readyUnit, want: says{paused, polychromev1alpha1.ReasonIdleReclaimed, ""}},
		{name: "a settled conversation is left as it is", conv: healthy(), unit: readyUnit, wantSame: true},
	})
}

func TestStatusMirrorsTheUnit(t *testing.T) {
	pending := polychromev1alpha1.ConversationStatus{ObservedGeneration: 1, SandboxClaimName: "c1", Phase: polychromev1alpha1.ConversationPending}
	addressed := pending
	addressed.PodIP = "10.4.2.7"
	vanished := polychromev1alpha1.ConversationStatus{ObservedGeneration: 1, Phase: polychromev1alpha1.ConversationPending, UnitRecreations: lost(1, 0, 0)}
	vanishedNew := vanished
	vanishedNew.HarnessImageGeneration = newGeneration
	moved := healthy().Status
	moved.PodIP, moved.Conditions = "10.4.2.8", nil
	blockedUnit := with(bootingUnit, func(u *execution.Unit) { u.BlockedBy, u.BlockedText = "TemplateNotFound", "no such template" })
	runStatusCases(t, []statusCase{
		{name: "a restarting pod is not gone", conv: healthy(), unit: bootingUnit, want: says{pending, polychromev1alpha1.ReasonWaitingForHarness, "P"}},
		{name: "ready without an address is not ready", conv: healthy(), unit: with(readyUnit, func(u *execution.Unit) { u.Address = "" }),
			want: says{pending, polychromev1alpha1.ReasonWaitingForHarness, "P"}},
		{name: "an address without ready is shown and not ready", conv: healthy(), unit: with(readyUnit, func(u *execution.Unit) { u.Ready = false }),
			want: says{addressed, polychromev1alpha1.ReasonWaitingForHarness, "P"}},
		{name: "another address is mirrored", conv: healthy(), unit: with(readyUnit, func(u *execution.Unit) { u.Address = "10.4.2.8" }),
			want: says{moved, polychromev1alpha1.ReasonHarnessReady, "R"}},
		{name: "a going unit is not ready, and its address stays as the sign that it was healthy", conv: healthy(), unit: goingUnit,
			want: says{addressed, polychromev1alpha1.ReasonExecutionUnitTerminating, "P"}},
		{name: "a unit that was ready and is absent has vanished", conv: healthy(), unit: noUnit,
			want: says{vanished, polychromev1alpha1.ReasonExecutionUnitVanished, "PD"}},
		{name: "the phase is sign enough", conv: recorded(status(func(s *polychromev1alpha1.ConversationStatus) { s.Phase = polychromev1alpha1.ConversationReady })), unit: noUnit,
			want: says{vanished, polychromev1alpha1.ReasonExecutionUnitVanished, "PD"}},
		{name: "an address is sign enough", conv: recorded(status(func(s *polychromev1alpha1.ConversationStatus) { s.PodIP = "10.4.2.7" })), unit: noUnit,
			want: says{vanished, polychromev1alpha1.ReasonExecutionUnitVanished, "PD"}},
		{name: "an endpoint is sign enough", conv: recorded(status(func(s *polychromev1alpha1.ConversationStatus) { s.HarnessEndpoint = "http://router/c1" })), unit: noUnit,
			want: says{vanished, polychromev1alpha1.ReasonExecutionUnitVanished, "PD"}},
		{name: "without a sign it is still on its way", conv: recorded(), unit: noUnit, done: did(badly(EnsureUnit, errServer)),
			want: says{pending, polychromev1alpha1.ReasonWaitingForHarness, "P"}},
		{name: "a vanished unit of another generation loses it", rules: on, conv: healthy(ofGeneration(oldGeneration)), unit: noUnit,
			want: says{vanished, polychromev1alpha1.ReasonExecutionUnitVanished, "PD"}},
		{name: "a vanished unit of the desired generation keeps it", rules: on, conv: healthy(ofGeneration(newGeneration)), unit: noUnit,
			want: says{vanishedNew, polychromev1alpha1.ReasonExecutionUnitVanished, "PD"}},
		{name: "to us a foreign claim is none, and its address is not ours", conv: healthy(), unit: othersUnit,
			want: says{vanished, polychromev1alpha1.ReasonNameConflict, "DS"}},
		{name: "without a backend the unit is gone", conv: healthy(), unit: noBackend,
			want: says{vanished, polychromev1alpha1.ReasonBackendUnavailable, "PD"}},
		{name: "a blocking reason of the claim is passed on", conv: recorded(), unit: blockedUnit,
			want: says{pending, "TemplateNotFound", "PD"}},
		{name: "a failed mending does not blind", conv: healthy(), unit: drifted(with(readyUnit, func(u *execution.Unit) { u.Address = "10.4.2.8" })),
			done: did(badly(EnsureUnit, errForbidden)), want: says{moved, polychromev1alpha1.ReasonHarnessReady, "R"}},
	})
}

func TestStatusOfRolls(t *testing.T) {
	at := now
	rolled := polychromev1alpha1.ConversationStatus{
		ObservedGeneration: 1, Phase: polychromev1alpha1.ConversationRollingHarness, RollingHarness: true, RollStartedAt: &at,
	}
	old := healthy(ofGeneration(oldGeneration))
	inRoll := func(conv *polychromev1alpha1.Conversation) *polychromev1alpha1.Conversation {
		began := now - 60
		conv.Status.RollingHarness, conv.Status.RollStartedAt = true, &began
		return conv
	}
	adopted := healthy(ofGeneration(newGeneration)).Status
	adopted.Conditions = nil
	adoptedOld := adopted
	adoptedOld.HarnessImageGeneration = oldGeneration
	plain := healthy().Status
	plain.Conditions = nil
	remade := polychromev1alpha1.ConversationStatus{
		ObservedGeneration: 1, SandboxClaimName: "c1", Phase: polychromev1alpha1.ConversationPending, HarnessImageGeneration: newGeneration,
	}
	unadopted := remade
	remade.UnitRecreations = lost(1, 0, 0)
	unadopted.HarnessImageGeneration = ""
	waiting := inRoll(held(status(func(s *polychromev1alpha1.ConversationStatus) {
		s.ObservedGeneration, s.Phase = 1, polychromev1alpha1.ConversationRollingHarness
		s.Conditions = triadOf(false, true, false, polychromev1alpha1.ReasonRollingHarnessImage)
	})))
	wantWaiting := waiting.Status
	wantWaiting.Conditions = nil
	runStatusCases(t, []statusCase{
		{name: "a roll clears what was of the old unit", rules: on, conv: old, unit: readyUnit, done: did(well(RollUnit, nil)),
			want: says{rolled, polychromev1alpha1.ReasonRollingHarnessImage, "P"}},
		{name: "a roll that must wait changes nothing", rules: on, conv: old, unit: readyUnit, done: did(well(RollUnit, deferral)), wantSame: true},
		{name: "a roll that failed changes nothing", rules: on, conv: old, unit: readyUnit, done: did(badly(RollUnit, errServer)), wantSame: true},
		{name: "waiting for a slot does not blind", rules: on, conv: old, unit: with(readyUnit, func(u *execution.Unit) { u.Ready = false }),
			done: did(well(RollUnit, deferral)), want: says{func() polychromev1alpha1.ConversationStatus {
				s := old.Status
				s.Conditions, s.HarnessReady, s.Phase = nil, false, polychromev1alpha1.ConversationPending
				return s
			}(), polychromev1alpha1.ReasonWaitingForHarness, "P"}},
		{name: "a generation that was never recorded is adopted though nothing else changed", rules: on, conv: healthy(), unit: readyUnit,
			want: says{adopted, polychromev1alpha1.ReasonHarnessReady, "R"}},
		{name: "a claim that says its generation is adopted with that", rules: on, conv: healthy(), unit: made(readyUnit, oldGeneration),
			want: says{adoptedOld, polychromev1alpha1.ReasonHarnessReady, "R"}},
		{name: "a claim knows better than a status that was lost", rules: on, conv: healthy(ofGeneration(oldGeneration)), unit: made(readyUnit, newGeneration),
			want: says{adopted, polychromev1alpha1.ReasonHarnessReady, "R"}},
		{name: "or that was written too early", rules: on, conv: healthy(ofGeneration(newGeneration)), unit: made(readyUnit, oldGeneration),
			want: says{adoptedOld, polychromev1alpha1.ReasonHarnessReady, "R"}},
		{name: "where no unit is, no generation is adopted", rules: on, conv: recorded(), unit: noUnit, done: did(badly(EnsureUnit, errServer)),
			want: says{unadopted, polychromev1alpha1.ReasonWaitingForHarness, "P"}},
		{name: "a unit made in row 10 gets the generation it was made with", rules: on, conv: recorded(ofGeneration(oldGeneration)), unit: noUnit,
			done: did(well(EnsureUnit, createdNew)), want: says{remade, polychromev1alpha1.ReasonWaitingForHarness, "P"}},
		{name: "while the rolled unit is going the roll shows", rules: on, conv: waiting, unit: goingUnit,
			want: says{wantWaiting, polychromev1alpha1.ReasonExecutionUnitTerminating, "P"}},
		{name: "the roll is over once ready", rules: on, conv: inRoll(recorded(ofGeneration(newGeneration))), unit: readyUnit,
			want: says{adopted, polychromev1alpha1.ReasonHarnessReady, "R"}},
		{name: "the roll is not over before", rules: on, conv: inRoll(recorded(ofGeneration(newGeneration))), unit: bootingUnit,
			want: says{inRoll(recorded(ofGeneration(newGeneration), status(func(s *polychromev1alpha1.ConversationStatus) {
				s.ObservedGeneration, s.Phase = 1, polychromev1alpha1.ConversationPending
			}))).Status, polychromev1alpha1.ReasonWaitingForHarness, "P"}},
		{name: "with no generation desired the traces of a roll are cleared", rules: off, conv: inRoll(healthy()), unit: readyUnit,
			want: says{plain, polychromev1alpha1.ReasonHarnessReady, "R"}},
		{name: "and the generation is kept", rules: off, conv: old, unit: readyUnit, wantSame: true},
	})
}

func TestStatusOfClosing(t *testing.T) {
	at, before := now, now-20
	closed := polychromev1alpha1.ConversationStatus{ObservedGeneration: 1, Closed: true, Phase: polychromev1alpha1.ConversationClosing}
	closedNow, closedBefore := closed, closed
	closedNow.ClosedAt, closedBefore.ClosedAt = &at, &before
	idleNow := healthy(activeAt(0)).Status
	idleNow.Conditions, idleNow.Closed, idleNow.Phase = nil, true, polychromev1alpha1.ConversationClosing
	deleted := healthy(deletedFor(0)).Status
	deleted.Conditions, deleted.Phase = nil, polychromev1alpha1.ConversationClosing
	deleted.SandboxClaimName, deleted.PodIP, deleted.HarnessReady = "", "", false
	full := func(options ...option) *polychromev1alpha1.Conversation {
		return healthy(append([]option{status(func(s *polychromev1alpha1.ConversationStatus) {
			began := now - 60
			s.Closed, s.HarnessEndpoint, s.RollingHarness, s.RollStartedAt = true, "http://router/c1", true, &began
		})}, options...)...)
	}
	runStatusCases(t, []statusCase{
		{name: "an idle conversation is closed and its unit stays for now", conv: healthy(activeAt(0)), unit: readyUnit,
			want: says{idleNow, polychromev1alpha1.ReasonClosingIdleConversation, "P"}},
		{name: "a cleanup clears the address, or a resumed conversation would advertise a dead pod", rules: on, conv: full(), unit: readyUnit,
			done: did(well(TeardownUnit, nil)), want: says{closedNow, polychromev1alpha1.ReasonTearingDown, "P"}},
		{name: "a cleanup stamps the closing though retention is off", rules: off, conv: full(), unit: readyUnit,
			done: did(well(TeardownUnit, nil)), want: says{closedNow, polychromev1alpha1.ReasonTearingDown, "P"}},
		{name: "a cleanup that failed changes nothing", conv: full(), unit: readyUnit, done: did(badly(TeardownUnit, errServer)), wantSame: true},
		{name: "a cleanup of a claim that is going already says so", conv: full(), unit: goingUnit,
			want: says{closedNow, polychromev1alpha1.ReasonExecutionUnitTerminating, "P"}},
		{name: "settling stamps a missing closing", rules: on, conv: shut(), unit: noUnit, want: says{closedNow, polychromev1alpha1.ReasonClosed, ""}},
		{name: "settling keeps a stamp", rules: on, conv: shut(closedAt(before), status(func(s *polychromev1alpha1.ConversationStatus) { s.PodIP = "10.4.2.7" })),
			unit: noUnit, want: says{closedBefore, polychromev1alpha1.ReasonClosed, ""}},
		{name: "settling stamps nothing while retention is off", rules: off, conv: shut(status(func(s *polychromev1alpha1.ConversationStatus) { s.RollingHarness = true })),
			unit: noUnit, want: says{closed, polychromev1alpha1.ReasonClosed, ""}},
		{name: "settling needs no backend", rules: off, conv: shut(status(func(s *polychromev1alpha1.ConversationStatus) { s.HarnessReady = true })),
			unit: noBackend, want: says{closed, polychromev1alpha1.ReasonClosed, ""}},
		{name: "settling does not mind a foreign claim", rules: off, conv: shut(status(func(s *polychromev1alpha1.ConversationStatus) { s.HarnessReady = true })),
			unit: othersUnit, want: says{closed, polychromev1alpha1.ReasonClosed, ""}},
		{name: "settled is left as it is", rules: on, conv: shut(closedAt(before)), unit: noUnit, wantSame: true},
		{name: "a closed conversation about to be deleted is left as it is", rules: on, conv: shut(closedAt(0)), unit: noUnit,
			done: did(well(DeleteConversation, nil)), wantSame: true},
		{name: "a deleted conversation that somebody else holds advertises nothing", conv: healthy(deletedFor(0)), unit: readyUnit,
			done: did(well(TeardownUnit, nil), well(RemoveFinalizer, nil)), want: says{deleted, polychromev1alpha1.ReasonTearingDown, "P"}},
		{name: "a deletion that is held up changes nothing", conv: healthy(deletedFor(0)), unit: readyUnit,
			done: did(badly(TeardownUnit, errServer)), wantSame: true},
		{name: "an edit of a closed conversation is taken note of", rules: off, conv: shut(func(c *polychromev1alpha1.Conversation) { c.Generation = 2 }), unit: noUnit,
			want: says{func() polychromev1alpha1.ConversationStatus { s := closed; s.ObservedGeneration = 2; return s }(), polychromev1alpha1.ReasonClosed, ""}},
	})
}
