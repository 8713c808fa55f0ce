package workflow

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/conditions"
)

// obliging is a controller of ServiceDefinitions that calls every one ready.
type obliging struct{}

type sd = polychromev1alpha1.ServiceDefinition

func (obliging) Observe(context.Context, *sd) (struct{}, error) { return struct{}{}, nil }

func (obliging) Plan(time.Time, *sd, struct{}) framework.Plan[string] {
	return framework.Plan[string]{Decision: "Settled"}
}

func (obliging) Act(context.Context, *sd, string) (framework.Result, error) {
	return framework.Result{}, nil
}

func (obliging) Status(now time.Time, obj *sd, _ struct{}, _ []framework.Done[string]) *sd {
	if obj.Status.ObservedGeneration == obj.Generation {
		return obj
	}
	out := obj.DeepCopy()
	out.Status.ObservedGeneration, out.Status.Ready = obj.Generation, true
	out.Status.Conditions = conditions.Set(out.Status.Conditions, now, obj.Generation, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: string(polychromev1alpha1.ReasonRolloutComplete),
	})
	return out
}

// One resource serves two controllers: to one it is what it reconciles, to
// the other what it watches and writes.
func TestTwoControllersShareTheServiceDefinitions(t *testing.T) {
	s := newScene(t)
	l := s.start(func(m *framework.Manager, shared *framework.Resource[*sd]) {
		framework.New(m, framework.Options[*sd]{
			Name: "servicedefinition", Resource: shared,
			Conditions: func(obj *sd) *[]metav1.Condition { return &obj.Status.Conditions },
		}, obliging{})
	})
	l.plays(s.makes("one", stage("c", "b"), stage("b", "a"), stage("a")))
	ready := []string{"workflow one Ready StagesReady", "- c Ready", "- b Ready", "- a Ready", "one-a a:1 of one", "one-b b:1 of one", "one-c c:1 of one"}
	s.finds(ready...)
	l.plays(s.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages[0].Port = 9000 }))
	s.finds(ready...)
	if child := s.child("one-c"); child.Spec.Port != 9000 || child.Status.ObservedGeneration != 2 {
		t.Errorf("want the new port looked at, got %+v", child)
	}
	l.costs(nil, s.waits(20*time.Minute))
	l.plays(s.stages("one", stage("a")))
	s.finds("workflow one Ready StagesReady", "- a Ready", "one-a a:1 of one")
	watches := 0
	for _, r := range l.faults.Requests() {
		if r.Verb == "list" && r.Resource == "servicedefinitions" {
			watches++
		}
	}
	if watches > 1 {
		t.Errorf("want one cache, got %d lists", watches)
	}
}
