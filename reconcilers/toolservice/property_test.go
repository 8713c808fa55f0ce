package toolservice

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
)

const worlds = 2_000

type simulation = frameworktest.Simulation[*polychromev1alpha1.ToolService, World, Action]

func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

func anyReason(r *rand.Rand) polychromev1alpha1.Reason {
	return pick(r, "", polychromev1alpha1.ReasonCatalogListed, polychromev1alpha1.ReasonCatalogListed,
		polychromev1alpha1.ReasonTimeout, polychromev1alpha1.ReasonAuthRequired, polychromev1alpha1.ReasonServerError,
		polychromev1alpha1.ReasonSecretNotFound, polychromev1alpha1.ReasonReservedSecret, polychromev1alpha1.ReasonURLBlocked)
}

func anyAsk(r *rand.Rand) Ask {
	return Ask{Generation: pick(r, int64(1), 2), Annotation: pick(r, "", "", "again")}
}

func anyOutcome(r *rand.Rand) *Outcome {
	o := listed(pick(r, nil, two, many(3, nil))...)
	o.Ask, o.Reason = anyAsk(r), anyReason(r)
	o.At = now.Add(-pick(r, 0, time.Second, time.Minute, time.Hour, -time.Minute))
	o.RetryAfter = pick(r, 0, 0, time.Minute)
	o.Count, o.Failures, o.Tries = r.IntN(9), r.IntN(5), r.IntN(5)
	if !o.ok() {
		o.Catalog = Catalog{}
	}
	return o
}

func anyMemory(r *rand.Rand) Memory {
	m := Memory{Since: now.Add(-pick(r, 0, time.Second, time.Hour)), First: anyAsk(r)}
	if r.IntN(3) > 0 {
		m.Last = anyOutcome(r)
	}
	if r.IntN(4) == 0 {
		m.Flight = new(anyAsk(r))
	}
	return m
}

func anyToolService(r *rand.Rand) *polychromev1alpha1.ToolService {
	ts := bare(generation(pick(r, int64(1), 2)))
	ts.Finalizers = pick(r, nil, []string{"example.com/other"}, []string{polychromev1alpha1.ToolServiceFinalizer},
		[]string{polychromev1alpha1.ToolServiceFinalizer, "example.com/other"})
	for _, change := range []option{
		annotated("again"), deleting, remotes(), remotes(remote("sse", "http://a.example.com/"), remote("", "nonsense")),
		every(10), every(86_400), bearer("weather-token", ""), bearer("polychrome-wallet-key-1", ""), foreign,
	} {
		if r.IntN(6) == 0 {
			change(ts)
		}
	}
	if r.IntN(3) > 0 {
		list(&ts.Status, listed(pick(r, nil, two, many(3, nil))...))
		if reason := anyReason(r); reason != "" {
			tell(&ts.Status, pick(r, int64(0), 1, 2), now.Add(-time.Hour), verdict{reason, "as told"})
		}
	}
	return ts
}

// anySimulation is a world in which a probe ends, in one way or another, as
// soon as it is begun.
func anySimulation(r *rand.Rand) *simulation {
	rec := &Reconciler{}
	end := anyOutcome(r)
	return &simulation{
		Now: now, Object: anyToolService(r), World: World{Memory: anyMemory(r)}, Plan: rec.Plan, Status: rec.Status,
		Do: func(s *simulation, a Action) (framework.Result, error) {
			s.Object = s.Object.DeepCopy()
			switch a.Kind {
			case AddFinalizer:
				s.Object.Finalizers = append(s.Object.Finalizers, polychromev1alpha1.ToolServiceFinalizer)
			case RemoveFinalizer:
				s.Object.Finalizers = slices.DeleteFunc(s.Object.Finalizers, func(f string) bool { return f == polychromev1alpha1.ToolServiceFinalizer })
				if s.World.Memory = (Memory{}); len(s.Object.Finalizers) == 0 {
					s.Object = nil
				}
			case Probe:
				found := *end
				found.Ask, found.At = askOf(s.Object), s.Now
				s.World.Memory = s.World.Memory.ended(found)
			}
			return framework.Result{}, nil
		},
	}
}

func TestEveryWorldSettlesAndNoActionRepeats(t *testing.T) {
	frameworktest.PlanTwiceFrom(t, worlds, anySimulation)
}

func TestOwnWritesNeverCauseAProbe(t *testing.T) {
	for seed := range uint64(worlds) {
		s := anySimulation(rand.New(rand.NewPCG(seed, 1)))
		probes := 0
		for range 6 {
			for _, action := range s.Pass().Plan.Actions {
				if action.Kind == Probe {
					probes++
				}
			}
			if s.Gone() {
				break
			}
		}
		if probes > 1 {
			t.Fatalf("seed %d: %d probes at one moment", seed, probes)
		}
	}
}

func TestWhatHasSettledWaitsForSomething(t *testing.T) {
	for seed := range uint64(worlds) {
		s := anySimulation(rand.New(rand.NewPCG(seed, 2)))
		passes, err := s.Settle(frameworktest.Rounds)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		plan := passes[len(passes)-1].Plan
		if !s.Gone() && plan.Decision == "Wait" && (plan.Wait <= 0 || plan.Wait > 27*time.Hour) {
			t.Fatalf("seed %d: it waits for %s", seed, plan.Wait)
		}
		if m := s.World.Memory; plan.Decision == "Probing" && (m.Flight == nil || *m.Flight != askOf(s.Object)) {
			t.Fatalf("seed %d: it waits for a probe that is not under way", seed)
		}
	}
}
