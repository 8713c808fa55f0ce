package conversation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

const worlds = 4_000

func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

// anyStamp is a time that anybody may have written.
func anyStamp(r *rand.Rand) *int64 {
	return pick(r, nil, nil, new(now), new(now-20), new(now-61), new(now-301), new(now-580), new(now+500), new(int64(0)),
		new(int64(-1)), new(int64(math.MinInt64)), new(int64(math.MaxInt64)))
}

func anyConditions(r *rand.Rand) []metav1.Condition {
	list := pick(r, nil,
		triadOf(true, false, false, polychromev1alpha1.ReasonHarnessReady),
		triadOf(false, true, false, polychromev1alpha1.ReasonCreatingExecutionUnit),
		triadOf(false, false, false, polychromev1alpha1.ReasonClosed),
		triadOf(false, true, true, polychromev1alpha1.ReasonExecutionUnitVanished),
		[]metav1.Condition{{Type: "Ready", Status: "False", Reason: "Pending"}})
	list = append(list, metav1.Condition{Type: "MissedFire", Status: "True", Reason: "Elsewhere", LastTransitionTime: aged})
	if r.IntN(4) == 0 {
		list = append(list, metav1.Condition{Type: "Stalled", Status: "True", Reason: pick(r, "NameConflict", "SchemaSkew")})
	}
	return list
}

func anyConversation(r *rand.Rand) *polychromev1alpha1.Conversation {
	conv := bare()
	conv.Generation = pick(r, int64(1), 2)
	conv.Finalizers = pick(r, nil, []string{"example.com/other"}, []string{polychromev1alpha1.ConversationFinalizer},
		[]string{"example.com/other", polychromev1alpha1.ConversationFinalizer}, []string{polychromev1alpha1.ConversationFinalizer})
	conv.Spec.IdleTimeoutSeconds = pick(r, int64(0), 300, 300, 4294967295)
	conv.Annotations = pick(r, nil, nil, map[string]string{polychromev1alpha1.BusyUntilAnnotation: pick(r,
		"2027-01-15T08:01:00Z", "2027-01-15T07:00:00Z", "9999-12-31T23:59:59Z", "nonsense")})
	if r.IntN(5) == 0 {
		at := metav1.NewTime(time.Unix(pick(r, now, now-700, now+700), 0))
		conv.DeletionTimestamp = &at
	}
	conv.Status = polychromev1alpha1.ConversationStatus{
		ObservedGeneration:     pick(r, int64(0), 1, 2),
		SandboxClaimName:       pick(r, "", "c1", "c1"),
		Phase:                  pick(r, "", polychromev1alpha1.ConversationPending, polychromev1alpha1.ConversationReady, polychromev1alpha1.ConversationPaused, polychromev1alpha1.ConversationRollingHarness, polychromev1alpha1.ConversationClosing),
		PodIP:                  pick(r, "", "10.4.2.7", "10.9.9.9"),
		HarnessEndpoint:        pick(r, "", "", "http://router/c1"),
		HarnessReady:           r.IntN(2) == 0,
		Closed:                 r.IntN(3) == 0,
		ClosedAt:               anyStamp(r),
		LastActivityUnix:       anyStamp(r),
		IdleReclaimed:          r.IntN(6) == 0,
		HarnessImageGeneration: pick(r, "", oldGeneration, newGeneration),
		RollingHarness:         r.IntN(3) == 0,
		RollStartedAt:          anyStamp(r),
		UnitRecreations: pick(r, nil, nil, lost(1, 20, 20), lost(3, 100, 5), lost(6, 1800, 30), lost(6, 4000, 3000), lost(-2, 0, 0),
			lost(9, -500, -500), &polychromev1alpha1.UnitRecreations{Count: math.MaxInt32, WindowStart: math.MinInt64, LastAt: math.MaxInt64}),
		Conditions: anyConditions(r),
	}
	return conv
}

func anyUnit(r *rand.Rand) execution.Unit {
	u := pick(r, noUnit, noBackend, othersUnit, bootingUnit, readyUnit, readyUnit, goingUnit)
	if !u.Present() {
		return u
	}
	u.Generation = pick(r, "", oldGeneration, newGeneration)
	u.Address = pick(r, u.Address, u.Address, "")
	u.CreatedAt = pick(r, u.CreatedAt, now-575, 0, math.MaxInt64, math.MinInt64)
	if r.IntN(4) == 0 {
		u.Drift = []string{"spec"}
	}
	if r.IntN(6) == 0 {
		u.Ready, u.BlockedBy, u.BlockedText = false, "TemplateNotFound", "no such template"
	}
	if r.IntN(6) == 0 {
		u.Ready, u.EndedBy, u.EndedText = false, "PodSucceeded", "it is done"
	}
	return u
}

func anySimulation(seed uint64) *simulation {
	r := rand.New(rand.NewPCG(seed, 11))
	return &simulation{
		Reconciler: rules{
			generation: pick(r, "", newGeneration),
			retention:  pick(r, int64(0), 60, math.MaxInt64),
			readyPoll:  5 * time.Minute,
		}.reconciler(),
		now: now, conv: anyConversation(r), unit: anyUnit(r),
		holders: pick(r, nil, []string{"example.com/hold"}),
		rolls:   pick(r, slots.Standing{}, slots.Standing{}, slots.Standing{Halted: true, Failed: 3}),
	}
}

// eachWorld runs a test for many random worlds.
func eachWorld(t *testing.T, check func(t *testing.T, seed uint64, s *simulation)) {
	t.Helper()
	for seed := range uint64(worlds) {
		check(t, seed, anySimulation(seed))
		if t.Failed() {
			return
		}
	}
}

func TestEveryWorldSettlesAndNoActionRepeats(t *testing.T) {
	eachWorld(t, func(t *testing.T, seed uint64, s *simulation) {
		if err := s.settle(6); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		slices.Sort(s.done)
		if distinct := slices.Compact(slices.Clone(s.done)); len(distinct) != len(s.done) {
			t.Errorf("seed %d: an action was repeated: %v", seed, s.done)
		}
	})
}

func TestWaitingForASlotSettlesToo(t *testing.T) {
	eachWorld(t, func(t *testing.T, seed uint64, s *simulation) {
		s.full = true
		for range 6 {
			if _, err := s.round(); err != nil || s.gone {
				return
			}
		}
		before := s.writes
		if _, err := s.round(); err != nil || s.writes != before {
			t.Errorf("seed %d: a conversation that waits still writes: %v, %v", seed, s.done, err)
		}
	})
}

func TestAWorldThatSettledTellsTheTruth(t *testing.T) {
	eachWorld(t, func(t *testing.T, seed uint64, s *simulation) {
		foreign := othersUnit
		wasForeign := s.unit.Standing == execution.Foreign
		if err := s.settle(8); err != nil || s.gone || s.conv.DeletionTimestamp != nil {
			return
		}
		if wasForeign && !cmp.Equal(foreign, s.unit) {
			t.Errorf("seed %d: a foreign unit was touched: %+v", seed, s.unit)
		}
		st := s.conv.Status
		if st.HarnessReady && !s.unit.Dialable() {
			t.Errorf("seed %d: ready although the unit is not: %+v", seed, s.unit)
		}
		if st.PodIP != "" && (!s.unit.Present() || st.PodIP != s.unit.Address) {
			t.Errorf("seed %d: address %s is not the unit's: %+v", seed, st.PodIP, s.unit)
		}
		if st.Closed && s.unit.Live() {
			t.Errorf("seed %d: closed with a live unit", seed)
		}
		if !st.Closed && st.ClosedAt != nil {
			t.Errorf("seed %d: open with a stamp of its closing", seed)
		}
		if s.generation == "" && (st.RollingHarness || st.RollStartedAt != nil) {
			t.Errorf("seed %d: a roll shows although none is desired", seed)
		}
		checkConditions(t, seed, s)
	})
}

func checkConditions(t *testing.T, seed uint64, s *simulation) {
	t.Helper()
	list := s.conv.Status.Conditions
	ready := meta.FindStatusCondition(list, "Ready")
	for _, kind := range []string{"Progressing", "Degraded"} {
		other := meta.FindStatusCondition(list, kind)
		if other == nil || other.Reason != ready.Reason || other.Message != ready.Message {
			t.Errorf("seed %d: %s does not go with Ready: %+v", seed, kind, list)
		}
	}
	if elsewhere := meta.FindStatusCondition(list, "MissedFire"); elsewhere == nil || elsewhere.Reason != "Elsewhere" {
		t.Errorf("seed %d: somebody else's condition was touched: %+v", seed, list)
	}
	if s.conv.Status.ObservedGeneration != s.conv.Generation {
		t.Errorf("seed %d: want observed generation %d, got %d", seed, s.conv.Generation, s.conv.Status.ObservedGeneration)
	}
}

func TestPlanAndStatusArePure(t *testing.T) {
	eachWorld(t, func(t *testing.T, seed uint64, s *simulation) {
		at, w := time.Unix(now, 0), s.world()
		before := s.conv.DeepCopy()
		plan, status := s.Plan(at, s.conv, w), s.Status(at, s.conv, w, nil)
		if diff := cmp.Diff(plan, s.Plan(at, s.conv, w)); diff != "" {
			t.Errorf("seed %d: two plans of one world:\n%s", seed, diff)
		}
		if diff := cmp.Diff(status, s.Status(at, s.conv, w, nil)); diff != "" {
			t.Errorf("seed %d: two statuses of one world:\n%s", seed, diff)
		}
		if diff := cmp.Diff(before, s.conv); diff != "" {
			t.Errorf("seed %d: the conversation was changed:\n%s", seed, diff)
		}
	})
}

func TestWaitsAreBounded(t *testing.T) {
	eachWorld(t, func(t *testing.T, seed uint64, s *simulation) {
		for _, at := range []int64{now, 0, -5, math.MaxInt64 / 2} {
			plan := s.Plan(time.Unix(at, 0), s.conv, s.world())
			ends := s.conv.DeletionTimestamp != nil || plan.Decision == "DeleteConversation"
			if plan.Wait < 0 || plan.Wait > 24*time.Hour || (plan.Wait == 0) != ends {
				t.Errorf("seed %d: %s waits %s", seed, plan.Decision, plan.Wait)
			}
		}
	})
}

func TestDeadlinesAreExact(t *testing.T) {
	met := map[string]int{}
	eachWorld(t, func(t *testing.T, seed uint64, s *simulation) {
		if s.settle(8) != nil || s.gone || s.conv.DeletionTimestamp != nil {
			return
		}
		plan := s.Plan(time.Unix(now, 0), s.conv, s.world())
		if plan.Spread {
			return
		}
		met[plan.WaitFor]++
		due := now + int64(plan.Wait/time.Second)
		if early, changed := s.at(due - 1); early != plan.Decision || changed {
			t.Errorf("seed %d: %s already a second before its deadline", seed, early)
		}
		// What is wrong for a graver reason says nothing of a lesser deadline.
		graver := meta.IsStatusConditionTrue(s.conv.Status.Conditions, "Degraded") || s.unit.Terminating
		if then, changed := s.at(due); !changed && !graver {
			t.Errorf("seed %d: still %s at the deadline for %s", seed, then, plan.WaitFor)
		}
	})
	if len(met) < 5 {
		t.Errorf("want five kinds of deadlines met, got %v", met)
	}
}

// at is what a pass would decide at another time, and whether it would change
// anything.
func (s *simulation) at(moment int64) (decision string, changes bool) {
	plan := s.Plan(time.Unix(moment, 0), s.conv, s.world())
	return plan.Decision, len(plan.Actions) > 0 || s.Status(time.Unix(moment, 0), s.conv, s.world(), nil) != s.conv
}
