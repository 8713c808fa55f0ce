package conversation

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

func TestVerdictsByRank(t *testing.T) {
	blocked := func(u execution.Unit) execution.Unit {
		return with(u, func(u *execution.Unit) { u.BlockedBy, u.BlockedText = "ReconcilerError", "it broke" })
	}
	reclaimed := status(func(s *polychromev1alpha1.ConversationStatus) { s.IdleReclaimed = true })
	cases := []struct {
		name string
		conv *polychromev1alpha1.Conversation
		unit execution.Unit
		row  row
		o    outcome
		want polychromev1alpha1.Reason
	}{
		{"an absent backend comes before a vanished unit", healthy(), noBackend, rowSyncStatus, outcome{}, polychromev1alpha1.ReasonBackendUnavailable},
		{"a taken name comes before a vanished unit", healthy(), othersUnit, rowSyncStatus, outcome{}, polychromev1alpha1.ReasonNameConflict},
		{"a name found taken while making the unit", held(), noUnit, rowCreateSandboxClaim, outcome{failed: true, nameTaken: true}, polychromev1alpha1.ReasonNameConflict},
		{"going comes before a blocking reason", recorded(), blocked(goingUnit), rowSyncStatus, outcome{}, polychromev1alpha1.ReasonExecutionUnitTerminating},
		{"going comes before closing for idleness", healthy(), goingUnit, rowCloseIdle, outcome{}, polychromev1alpha1.ReasonExecutionUnitTerminating},
		{"vanished comes before reclaimed", healthy(reclaimed), noUnit, rowSyncStatus, outcome{}, polychromev1alpha1.ReasonExecutionUnitVanished},
		{"a blocking reason comes before reclaimed", recorded(reclaimed), blocked(bootingUnit), rowSyncStatus, outcome{}, polychromev1alpha1.ReasonReconcilerError},
		{"a blocking reason comes before creating", held(), blocked(bootingUnit), rowCreateSandboxClaim, outcome{}, polychromev1alpha1.ReasonReconcilerError},
		{"what a torn down unit said is history", recorded(), blocked(bootingUnit), rowRollHarness, outcome{rolled: true}, polychromev1alpha1.ReasonRollingHarnessImage},
		{"closing does not mind what blocks", recorded(), blocked(bootingUnit), rowCleanupClosed, outcome{}, polychromev1alpha1.ReasonTearingDown},
		{"closing does not mind an absent backend", recorded(), noBackend, rowCleanupClosed, outcome{}, polychromev1alpha1.ReasonTearingDown},
		{"closing for idleness does not mind a taken name", recorded(), othersUnit, rowCloseIdle, outcome{}, polychromev1alpha1.ReasonClosingIdleConversation},
		{"reclaimed comes before ready", recorded(reclaimed), readyUnit, rowSyncStatus, outcome{}, polychromev1alpha1.ReasonIdleReclaimed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := judged(c.conv, c.unit, c.row, c.o).reason; got != c.want {
				t.Errorf("want %s, got %s", c.want, got)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	long := with(bootingUnit, func(u *execution.Unit) { u.BlockedBy, u.BlockedText = "ReconcilerError", strings.Repeat("ä", 900) })
	text := judged(recorded(), long, rowSyncStatus, outcome{}).message
	if len(text) > maxPassedOn || len(text) < maxPassedOn-4 || !utf8.ValidString(text) {
		t.Errorf("want about %d bytes of valid text, got %d", maxPassedOn, len(text))
	}
	going := judged(recorded(), goingUnit, rowSyncStatus, outcome{}).message
	for _, finalizer := range goingUnit.HeldBy {
		if !strings.Contains(going, finalizer) {
			t.Errorf("want a message that names %s, got %q", finalizer, going)
		}
	}
	if taken := judged(recorded(), othersUnit, rowSyncStatus, outcome{}).message; !strings.Contains(taken, "c1") {
		t.Errorf("want a message that names the claim, got %q", taken)
	}
}

func TestConditionsGoTogetherAndKeepTheirTimes(t *testing.T) {
	later := time.Unix(now, 0)
	conv := recorded(func(c *polychromev1alpha1.Conversation) { c.Generation = 3 })
	conv.Status.Conditions = append(triadOf(false, true, false, polychromev1alpha1.ReasonWaitingForHarness),
		metav1.Condition{Type: "MissedFire", Status: metav1.ConditionTrue, Reason: "Whatever", LastTransitionTime: aged})
	says := judged(conv, readyUnit, rowSyncStatus, outcome{})
	want := []metav1.Condition{
		{Type: "Ready", Status: "True", LastTransitionTime: metav1.NewTime(later)},
		{Type: "Progressing", Status: "False", LastTransitionTime: metav1.NewTime(later)},
		{Type: "Degraded", Status: "False", LastTransitionTime: aged},
	}
	for i := range want {
		want[i].Reason, want[i].Message, want[i].ObservedGeneration = string(says.reason), says.message, 3
	}
	want = append(want, conv.Status.Conditions[3])
	if diff := cmp.Diff(want, conditionsOf(conv, later, says)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestStalledComesAndGoesWithTheNameConflict(t *testing.T) {
	later := time.Unix(now, 0)
	taken := held()
	taken.Status.Conditions = conditionsOf(taken, later, judged(taken, othersUnit, rowCreateSandboxClaim, outcome{}))
	stalled := meta.FindStatusCondition(taken.Status.Conditions, "Stalled")
	if stalled == nil || stalled.Status != metav1.ConditionTrue || stalled.Reason != "NameConflict" {
		t.Fatalf("want Stalled=True, reason NameConflict, got %+v", stalled)
	}
	free := conditionsOf(taken, later, judged(taken, noUnit, rowCreateSandboxClaim, outcome{}))
	if meta.FindStatusCondition(free, "Stalled") != nil {
		t.Errorf("want no Stalled once the name is free, got %+v", free)
	}
}

func TestStalledOfTheFrameworkStaysWhileActionsFail(t *testing.T) {
	conv := healthy()
	conv.Status.Conditions = append(conv.Status.Conditions,
		metav1.Condition{Type: "Stalled", Status: metav1.ConditionTrue, Reason: "TypedPatchRefused", LastTransitionTime: aged})
	r, at, w := off.reconciler(), time.Unix(now, 0), World{Unit: drifted(readyUnit)}
	if got := r.Status(at, conv, w, did(badly(EnsureUnit, errServer))); got != conv {
		t.Errorf("want the very object, got (-want +got):\n%s", cmp.Diff(conv, got))
	}
	healed := r.Status(at, conv, w, did(well(EnsureUnit, Learned{})))
	if stalled := meta.FindStatusCondition(healed.Status.Conditions, "Stalled"); stalled != nil {
		t.Errorf("want no Stalled once nothing fails, got %+v", stalled)
	}
}

func TestOurOwnStalledGoesAlsoWhileActionsFail(t *testing.T) {
	conv := healthy()
	conv.Status.Conditions = append(conv.Status.Conditions,
		metav1.Condition{Type: "Stalled", Status: metav1.ConditionTrue, Reason: "NameConflict", LastTransitionTime: aged})
	got := off.reconciler().Status(time.Unix(now, 0), conv, World{Unit: drifted(readyUnit)}, did(badly(EnsureUnit, errServer)))
	if stalled := meta.FindStatusCondition(got.Status.Conditions, "Stalled"); stalled != nil {
		t.Errorf("want no Stalled once the name is ours, got %+v", stalled)
	}
}

func TestSignificance(t *testing.T) {
	change := func(change func(*metav1.Condition)) *polychromev1alpha1.Conversation {
		conv := healthy()
		change(&conv.Status.Conditions[0])
		return conv
	}
	cases := []struct {
		name       string
		conv       *polychromev1alpha1.Conversation
		wantChange bool
	}{
		{"a message alone is no change", change(func(c *metav1.Condition) { c.Message = "another" }), false},
		{"a time alone is no change", change(func(c *metav1.Condition) { c.LastTransitionTime = metav1.Now() }), false},
		{"a condition's observed generation alone is no change", change(func(c *metav1.Condition) { c.ObservedGeneration = 0 }), false},
		{"a status is a change", change(func(c *metav1.Condition) { c.Status = metav1.ConditionFalse }), true},
		{"a reason is a change", change(func(c *metav1.Condition) { c.Reason = "Pending" }), true},
		{"a missing condition is a change", change(func(c *metav1.Condition) { c.Type = "Other" }), true},
		{"an edit is a change", healthy(func(c *polychromev1alpha1.Conversation) { c.Generation = 2 }), true},
		{"a stamp left over from a closing is a change", healthy(closedAt(0)), true},
		{"a stamp left over from a roll is a change", healthy(status(func(s *polychromev1alpha1.ConversationStatus) { s.RollStartedAt = new(now) })), true},
		{"what others write is none of ours", healthy(activeAt(now), status(func(s *polychromev1alpha1.ConversationStatus) {
			s.UnitRecreations = &polychromev1alpha1.UnitRecreations{Count: 1}
		})), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := off.reconciler().Status(time.Unix(now, 0), c.conv, World{Unit: readyUnit}, nil)
			if changed := got != c.conv; changed != c.wantChange {
				t.Errorf("changed: want %t, got %t", c.wantChange, changed)
			}
		})
	}
}

func TestAWriteRefreshesWhatAloneIsNoChange(t *testing.T) {
	conv := healthy(func(c *polychromev1alpha1.Conversation) { c.Generation = 2 })
	got := off.reconciler().Status(time.Unix(now, 0), conv, World{Unit: readyUnit}, nil)
	for _, c := range got.Status.Conditions {
		if c.ObservedGeneration != 2 || c.Message == "as it was" {
			t.Errorf("want %s refreshed, got %+v", c.Type, c)
		}
		if !c.LastTransitionTime.Equal(&aged) {
			t.Errorf("want the time of %s kept, got %s", c.Type, c.LastTransitionTime)
		}
	}
}

func TestTheDefaultedConditionIsStampedAnew(t *testing.T) {
	conv := held()
	conv.Status.Conditions = []metav1.Condition{{
		Type: "Ready", Status: metav1.ConditionFalse, Reason: "Pending", LastTransitionTime: metav1.NewTime(time.Unix(0, 0)),
	}}
	got := off.reconciler().Status(time.Unix(now, 0), conv, World{Unit: noBackend}, nil)
	ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
	if ready.LastTransitionTime.Unix() != now {
		t.Errorf("want the time of the pass, got %s", ready.LastTransitionTime)
	}
}
