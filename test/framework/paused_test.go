package framework_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// pause sets or, with nil, removes the annotation that stops all writes.
func (r *rig) pause(name string, value any) {
	r.t.Helper()
	r.change(name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.test/paused": value}}})
}

// writes returns what was sent to change something, in order.
func (r *rig) writes(filters ...func(frameworktest.Request) bool) []string {
	var sent []string
	for _, request := range r.faults.Requests(append(filters, frameworktest.Writes)...) {
		sent = append(sent, request.Verb+" "+request.Resource)
	}
	return sent
}

// decided waits until the newest decision on a widget is one that has what is
// wanted.
func (r *rig) decided(name, what string, wanted func(framework.Decision) bool) framework.Decision {
	r.t.Helper()
	var found framework.Decision
	r.eventually(func() error {
		var newest framework.Decision
		for _, d := range r.program.Decisions() {
			if d.Name == name && d.Namespace == r.namespace {
				newest = d
			}
		}
		if !wanted(newest) {
			return fmt.Errorf("want %s as the newest decision on %s, got %+v", what, name, newest)
		}
		found = newest
		return nil
	})
	return found
}

func TestAPausedWidgetIsOnlyTold(t *testing.T) {
	t.Parallel()
	r := start(t, rigOptions{})
	r.create("red", "w", "other")
	r.ready("w", "other")
	r.idle()
	r.faults.Forget()

	r.pause("w", "true")
	said := r.condition("w", framework.ConditionPaused, metav1.ConditionTrue, framework.ReasonPausedByAnnotation)
	if !strings.Contains(said.Message, "example.test/paused") {
		t.Errorf("want the annotation named, got %q", said.Message)
	}
	r.recolor("blue", "w", "other")
	r.ready("other")
	d := r.decided("w", "the plan", func(d framework.Decision) bool { return d.Outcome == "paused" && len(d.Actions) > 0 })
	if !slices.Equal(d.Actions, []string{string(apply)}) || d.Tried != 0 || d.Writes != 0 {
		t.Errorf("want an apply planned and nothing tried, got %+v", d)
	}
	must(r.kube.CoreV1().ConfigMaps(r.namespace).Patch(t.Context(), "w", types.MergePatchType,
		[]byte(`{"data":{"color":"theirs"}}`), metav1.PatchOptions{}))
	for range 20 {
		r.wake("w")
		r.idle()
	}
	// The condition, and the condition again for the new generation.
	r.same("writes while it is paused", []string{"patch widgets/status", "patch widgets/status"}, r.writes(frameworktest.Named("w")))
	if got := r.configMap("w").Data["color"]; got != "theirs" {
		t.Errorf("want the child left alone, got %s", got)
	}

	r.pause("w", nil)
	r.ready("w")
	r.idle()
	r.same("writes once it goes on", []string{"apply configmaps", "patch widgets/status"}, r.writes(frameworktest.Named("w"))[2:])
	if c := meta.FindStatusCondition(r.get("w").Status.Conditions, framework.ConditionPaused); c != nil {
		t.Errorf("want the condition gone, got %+v", c)
	}
}

func TestOnlyTheWordTruePauses(t *testing.T) {
	t.Parallel()
	r := start(t, rigOptions{})
	r.create("red", "w")
	r.ready("w")
	r.pause("w", "false")
	r.recolor("blue", "w")
	r.ready("w")
}

func TestAPausedDeletionSaysThatTheFinalizerIsHeld(t *testing.T) {
	t.Parallel()
	r := start(t, rigOptions{})
	r.create("red", "w")
	r.ready("w")
	r.pause("w", "true")
	before := r.condition("w", framework.ConditionPaused, metav1.ConditionTrue, framework.ReasonPausedByAnnotation)
	if strings.Contains(before.Message, "finalizer") {
		t.Errorf("want no word of a finalizer before the deletion, got %q", before.Message)
	}
	r.delete("w")
	r.eventually(func() error {
		c := meta.FindStatusCondition(r.get("w").Status.Conditions, framework.ConditionPaused)
		if c == nil || !strings.Contains(c.Message, "the finalizer stays on") {
			return fmt.Errorf("want it said that the deletion is held up, got %+v", c)
		}
		return nil
	})
	r.idle()
	r.same("finalizers", []string{finalizer}, r.get("w").Finalizers)
	r.configMap("w")
	r.pause("w", nil)
	r.gone("w")
}

// TestAPausedNewWidgetGetsNothing pauses a widget from its birth on.
func TestAPausedNewWidgetGetsNothing(t *testing.T) {
	t.Parallel()
	r := start(t, rigOptions{script: func(r *rig) *script {
		s := standard(r)
		s.acts[apply] = func(context.Context, *widget.Widget) (framework.Result, error) {
			panic("an action of a paused widget")
		}
		return s
	}})
	w := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "w", Annotations: map[string]string{"example.test/paused": "true"}}, Spec: widget.Spec{Color: "red"}}
	w.APIVersion, w.Kind = widget.GroupVersion.String(), widget.Kind
	must(r.user.Create(t.Context(), w))
	r.condition("w", framework.ConditionPaused, metav1.ConditionTrue, framework.ReasonPausedByAnnotation)
	r.idle()
	r.same("writes", []string{"patch widgets/status"}, r.writes())
	if got := r.get("w"); len(got.Finalizers) != 0 || len(got.Status.Conditions) != 1 || r.failures("") != 0 {
		t.Errorf("want nothing but the condition, got %+v", got)
	}
}
