package conversation

import (
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func newSimulation(conv *polychromev1alpha1.Conversation) *simulation {
	return &simulation{Reconciler: on.reconciler(), now: now, conv: conv, unit: noUnit}
}

// expect settles the simulation and compares what a user sees.
func (s *simulation) expect(t *testing.T, step string, phase polychromev1alpha1.ConversationPhase, reason polychromev1alpha1.Reason, writes int) {
	t.Helper()
	before := s.writes
	if err := s.settle(6); err != nil {
		t.Fatalf("%s: %v", step, err)
	}
	got := saysOf(s.conv)
	if got.Fields.Phase != phase || got.Reason != reason {
		t.Errorf("%s: want %s, %s; got %s, %s", step, phase, reason, got.Fields.Phase, got.Reason)
	}
	if s.writes-before != writes {
		t.Errorf("%s: want %d writes, got %d", step, writes, s.writes-before)
	}
}

func TestANormalBootIsFourWrites(t *testing.T) {
	s := newSimulation(bare())
	s.expect(t, "made", "Pending", polychromev1alpha1.ReasonCreatingExecutionUnit, 3)
	s.boot("10.4.2.7")
	s.expect(t, "booted", "Ready", polychromev1alpha1.ReasonHarnessReady, 1)
	if s.conv.Status.HarnessImageGeneration != newGeneration {
		t.Errorf("want generation %s, got %q", newGeneration, s.conv.Status.HarnessImageGeneration)
	}
}

func TestAVanishedUnitIsMadeAgain(t *testing.T) {
	s := newSimulation(healthy(ofGeneration(newGeneration)))
	s.expect(t, "vanished", "Pending", polychromev1alpha1.ReasonCreatingExecutionUnit, 3)
	s.boot("10.4.2.8")
	s.expect(t, "back", "Ready", polychromev1alpha1.ReasonHarnessReady, 1)
}

func TestAVanishedUnitThatWasDueToRollComesBackRolled(t *testing.T) {
	s := newSimulation(healthy(ofGeneration(oldGeneration)))
	s.full = true
	s.expect(t, "vanished", "Pending", polychromev1alpha1.ReasonCreatingExecutionUnit, 3)
	if s.conv.Status.HarnessImageGeneration != newGeneration {
		t.Errorf("want generation %s, got %q", newGeneration, s.conv.Status.HarnessImageGeneration)
	}
}

func TestARollWhoseOldUnitIsHeld(t *testing.T) {
	s := newSimulation(healthy(ofGeneration(oldGeneration)))
	s.unit, s.holders = made(readyUnit, oldGeneration), []string{"example.com/hold"}
	s.expect(t, "rolled", "RollingHarness", polychromev1alpha1.ReasonExecutionUnitTerminating, 3)
	s.unit = noUnit
	s.expect(t, "let go", "Pending", polychromev1alpha1.ReasonCreatingExecutionUnit, 2)
	s.boot("10.4.2.8")
	s.expect(t, "back", "Ready", polychromev1alpha1.ReasonHarnessReady, 1)
	if st := s.conv.Status; st.RollingHarness || st.RollStartedAt != nil || st.HarnessImageGeneration != newGeneration {
		t.Errorf("want the roll over, got %+v", st)
	}
}

func TestIdleClosedResumedAndCollected(t *testing.T) {
	s := newSimulation(healthy(ofGeneration(newGeneration), activeAt(now-301)))
	s.unit = made(readyUnit, newGeneration)
	// Close, tear down and say so, settle.
	s.expect(t, "idle", "Closing", polychromev1alpha1.ReasonClosed, 4)
	if s.unit.Present() || s.conv.Status.PodIP != "" || s.conv.Status.ClosedAt == nil {
		t.Fatalf("want no unit, no address and a stamp, got %+v and %+v", s.unit, s.conv.Status)
	}
	s.conv = s.conv.DeepCopy()
	s.conv.Status.Closed = false
	s.now += 50
	s.expect(t, "resumed", "Pending", polychromev1alpha1.ReasonCreatingExecutionUnit, 2)
	if s.conv.Status.ClosedAt != nil {
		t.Error("want the stamp of the closing gone once resumed")
	}
	s.boot("10.4.2.8")
	s.now += 250
	s.expect(t, "a full timeout after waking", "Ready", polychromev1alpha1.ReasonHarnessReady, 1)
	s.now += 51
	s.expect(t, "idle again", "Closing", polychromev1alpha1.ReasonClosed, 4)
	s.now += 60
	s.expect(t, "at the end of its retention", "Closing", polychromev1alpha1.ReasonClosed, 0)
	s.now++
	if err := s.settle(6); err != nil || !s.gone {
		t.Errorf("want it gone after its retention, got %v", err)
	}
}

func TestAForeignClaimIsWaitedFor(t *testing.T) {
	s := newSimulation(bare())
	s.unit = othersUnit
	s.expect(t, "taken", "Pending", polychromev1alpha1.ReasonNameConflict, 2)
	s.unit = noUnit
	s.expect(t, "free", "Pending", polychromev1alpha1.ReasonCreatingExecutionUnit, 2)
}

func TestABackendThatComesLate(t *testing.T) {
	s := newSimulation(bare())
	s.unit = noBackend
	s.expect(t, "not there", "Pending", polychromev1alpha1.ReasonBackendUnavailable, 2)
	s.unit = noUnit
	s.expect(t, "there", "Pending", polychromev1alpha1.ReasonCreatingExecutionUnit, 2)
}

func BenchmarkSettledPass(b *testing.B) {
	r := on.reconciler()
	conv, w, at := healthy(ofGeneration(newGeneration), activeAt(now-10)), World{Unit: made(readyUnit, newGeneration)}, time.Unix(now, 0)
	b.ReportAllocs()
	for b.Loop() {
		if plan := r.Plan(at, conv, w); len(plan.Actions) > 0 || r.Status(at, conv, w, nil) != conv {
			b.Fatal("the pass is not settled")
		}
	}
}
