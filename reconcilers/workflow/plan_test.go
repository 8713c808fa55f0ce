package workflow

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/frameworktest"
)

// Neither plan nor text depends on the order of the spec.
func TestShuffledStagesAreTheSameWorkflow(t *testing.T) {
	stages := []workflowStage{stage("a"), stage("b", "a"), stage("c", "a"), stage("d", "b", "c"), stage("e"), stage("f", "e")}
	pass := func(wf *workflow) frameworktest.Pass[*workflow, Action] {
		old := with(stages[4], func(s *workflowStage) { s.Image = "example.com/old:1" })
		return newPlane(up(wantedFor(wf, stages[0])), down(wantedFor(wf, stages[1]), "CrashLoopBackOff"), wantedFor(wf, old)).simulate(wf).Pass()
	}
	one := pass(flow(stages...))
	for i := range stages {
		two := pass(flow(slices.Concat(stages[i:], stages[:i])...))
		if diff := cmp.Diff(one.Plan, two.Plan); diff != "" {
			t.Errorf("plan of another order (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(one.After.Status.Conditions[0].Message, two.After.Status.Conditions[0].Message); diff != "" {
			t.Errorf("text of another order (-want +got):\n%s", diff)
		}
		if got := two.After.Status.Stages[0].Name; got != stages[i].Name {
			t.Errorf("want the stages in the order of the spec, from %s on, got %s", stages[i].Name, got)
		}
	}
}

func TestWaits(t *testing.T) {
	wf := flow(stage("a"))
	settled := up(wantedFor(wf, stage("a")))
	leftover := going(wantedFor(wf, stage("b")))
	broken := flow(stage("a", "a"))
	deleted := flow(stage("a"))
	deleted.DeletionTimestamp = &metav1.Time{Time: now}
	for name, c := range map[string]struct {
		wf           *workflow
		objects      []*serviceDefinition
		wantDecision string
		wantWait     time.Duration
	}{
		"ready":                 {wf, []*serviceDefinition{settled}, "Settled", 5 * time.Minute},
		"ready, with leftovers": {wf, []*serviceDefinition{settled, leftover}, "Wait", 15 * time.Second},
		"to be removed":         {wf, []*serviceDefinition{settled, wantedFor(wf, stage("b"))}, "Remove", 15 * time.Second},
		"starting":              {wf, nil, "Start", 15 * time.Second},
		"not ready":             {wf, []*serviceDefinition{wantedFor(wf, stage("a"))}, "Wait", 15 * time.Second},
		"going, as it was":      {wf, []*serviceDefinition{going(wantedFor(wf, with(stage("a"), func(s *workflowStage) { s.Image = "old" })))}, "Wait", 15 * time.Second},
		"invalid":               {broken, nil, "Invalid", 0},
		"deleting":              {deleted, []*serviceDefinition{settled}, "Deleting", 0},
	} {
		t.Run(name, func(t *testing.T) {
			plan := newPlane(c.objects...).simulate(c.wf).Pass().Plan
			if plan.Decision != c.wantDecision || plan.Wait != c.wantWait || plan.Spread != (c.wantWait > 0) {
				t.Errorf("want %s and %s, got %s and %s", c.wantDecision, c.wantWait, plan.Decision, plan.Wait)
			}
		})
	}
}

func BenchmarkSettledPass(b *testing.B) {
	wf := flow(dense(64, false)...)
	p := newPlane()
	for _, s := range wf.Spec.Stages {
		p.put(up(p.apply(wf, s)))
	}
	s := p.simulate(wf)
	s.Pass()
	b.ReportAllocs()
	for b.Loop() {
		if pass := s.Pass(); pass.Busy() {
			b.Fatal("the pass is not settled")
		}
	}
}
