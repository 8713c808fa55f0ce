package routine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
)

const worlds = 1_500

func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

func anyRoutine(r *rand.Rand) *polychromev1alpha1.Routine {
	zone := pick(r, "UTC", "Europe/London", "America/New_York", "Pacific/Apia", "Australia/Lord_Howe", "utc", "", "Local", "+08:00", "posix/UTC")
	routine := bare(
		on(pick(r,
			every(pick(r, "* * * * *", "*/5 * * * *", "0 9 * * 1-5", "0 0 29 2 *", "0 0 30 2 *", "0 9 13 * 5", "@daily", "@every 5m", "", "30 2 * * *"), zone),
			onceAt(pick(r, "2026-05-05T12:30:00Z", "2026-05-05T12:31:00Z", "2020-01-01T00:00:00Z", "2026-05-01T00:00:00+14:00", "9999-12-31T23:59:59Z", "soon"), zone),
			polychromev1alpha1.RoutineSchedule{},
		)),
		prompting(pick(r, "do it", "do it", "do it", " ")),
	)
	routine.Generation = pick(r, int64(1), 2)
	routine.Spec.Suspend = r.IntN(4) == 0
	routine.Spec.Owner = pick(r, "user:slack/U1", "user:slack/U1", "user:slack/U1", "")
	if r.IntN(6) == 0 {
		deleting(routine)
	}
	routine.Status = polychromev1alpha1.RoutineStatus{
		ObservedGeneration: pick(r, int64(0), 1, 2),
		Ready:              r.IntN(2) == 0,
		Phase:              pick(r, "", polychromev1alpha1.RoutineScheduled, polychromev1alpha1.RoutineSuspended, polychromev1alpha1.RoutineCompleted, polychromev1alpha1.RoutineInvalid),
		Message:            pick(r, "", "old"), Cadence: pick(r, "", "old"),
		NextFireTimes: pick(r, nil, []string{}, []string{"nonsense"}, []string{"2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"}),
	}
	if r.IntN(2) == 0 {
		routine.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Pending"}}
	}
	if r.IntN(4) == 0 {
		routine.Status.Conditions = append(routine.Status.Conditions, metav1.Condition{Type: "Stalled", Status: "True", Reason: pick(r, "NeverFires", "OnceInPast")})
	}
	missed(routine)
	return routine
}

func anyLeftover(r *rand.Rand, routine *polychromev1alpha1.Routine) *metav1.PartialObjectMetadata {
	theirs := ownerOf(bare(named("uid-theirs")))
	obj := pick(r, leftover(), leftover(theirs), leftover(ownerOf(routine)), leftover(ownerOf(routine)), leftover(ownerOf(routine), theirs))
	if r.IntN(5) == 0 {
		obj.DeletionTimestamp = new(metav1.NewTime(now))
	}
	return obj
}

type simulation = frameworktest.Simulation[*polychromev1alpha1.Routine, World, Action]

func anySimulation(r *rand.Rand) *simulation {
	reconciler, routine := newReconciler(), anyRoutine(r)
	var w World
	for _, kind := range leftovers {
		if r.IntN(2) == 0 {
			w.Leftovers = append(w.Leftovers, Found{kind, anyLeftover(r, routine)})
		}
	}
	return &simulation{
		Now:    pick(r, now, now.Add(-time.Hour), now.AddDate(1, 0, 0), now.Add(time.Duration(r.Int64N(int64(10_000*time.Hour)))), time.Unix(0, 0)),
		Object: routine, World: w, Plan: reconciler.Plan, Status: reconciler.Status,
		Do: func(s *simulation, a Action) (framework.Result, error) {
			s.World.Leftovers = slices.DeleteFunc(slices.Clone(s.World.Leftovers), func(f Found) bool { return f.Kind == a.Kind })
			return framework.Result{}, nil
		},
	}
}

func TestEveryWorldSettlesAndNoActionRepeats(t *testing.T) {
	frameworktest.PlanTwiceFrom(t, worlds, anySimulation)
}

func TestAWorldThatSettledTellsTheTruth(t *testing.T) {
	for seed := range uint64(worlds) {
		s := anySimulation(rand.New(rand.NewPCG(seed, 0)))
		before, spec, scheduler := s.World.Leftovers, s.Object.Spec.DeepCopy(), *conditionOf(s.Object, polychromev1alpha1.ConditionMissedFire)
		if _, err := s.Settle(frameworktest.Rounds); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, found := range before {
			left := slices.Contains(s.World.Leftovers, found)
			if !left && (!ownedBy(s.Object, found.Object) || s.Object.DeletionTimestamp != nil) {
				t.Errorf("seed %d: %s %+v was removed", seed, found.Kind, found.Object.OwnerReferences)
			}
		}
		if diff := cmp.Diff(*spec, s.Object.Spec); diff != "" {
			t.Errorf("seed %d: the spec was written:\n%s", seed, diff)
		}
		if diff := cmp.Diff(scheduler, *conditionOf(s.Object, polychromev1alpha1.ConditionMissedFire)); diff != "" {
			t.Errorf("seed %d: the scheduler's condition was written:\n%s", seed, diff)
		}
		if s.Object.DeletionTimestamp == nil {
			checkTruth(t, seed, s)
		}
		if t.Failed() {
			return
		}
	}
}

func checkTruth(t *testing.T, seed uint64, s *simulation) {
	t.Helper()
	st := s.Object.Status
	ready, stalled := conditionOf(s.Object, polychromev1alpha1.ConditionReady), conditionOf(s.Object, polychromev1alpha1.ConditionStalled)
	if (ready.Status == metav1.ConditionTrue) != st.Ready || (stalled != nil) == st.Ready || st.ObservedGeneration != s.Object.Generation {
		t.Errorf("seed %d: the parts of a status do not fit: %+v", seed, st)
	}
	if (len(st.NextFireTimes) > 0) != (st.Phase == polychromev1alpha1.RoutineScheduled) {
		t.Errorf("seed %d: %s with next fires %v", seed, st.Phase, st.NextFireTimes)
	}
	last := s.Now
	for _, text := range st.NextFireTimes {
		next, err := time.Parse(time.RFC3339, text)
		if err != nil || !next.After(last) {
			t.Errorf("seed %d: %s after %s: %v", seed, text, last, err)
		}
		last = next
	}
	checkWait(t, s.Now, s.Object)
}
