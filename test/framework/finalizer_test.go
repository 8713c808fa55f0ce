package framework_test

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

func finalizers(names ...string) map[string]any {
	return map[string]any{"metadata": map[string]any{"finalizers": names}}
}

// gone waits until a widget does not exist any more.
func (r *rig) gone(name string) {
	r.t.Helper()
	r.eventually(func() error {
		_, err := r.user.Get(r.t.Context(), name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("%s is still there", name)
	})
}

func TestForeignFinalizersAreKept(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: func(r *rig) *script {
		meddle := once(func() { r.change("w", finalizers("other.test/b", "other.test/a")) })
		return standard(r).before(finalize, func(*widget.Widget) { meddle() })
	}})
	r.faults.LagWatches(300 * time.Millisecond)
	r.run()
	r.create("red", "w")
	r.ready("w")
	r.same("finalizers", []string{"other.test/b", "other.test/a", finalizer}, r.get("w").Finalizers)

	r.delete("w")
	r.eventually(func() error {
		if got := r.get("w").Finalizers; len(got) != 2 {
			return fmt.Errorf("finalizers: %v", got)
		}
		return nil
	})
	r.same("finalizers after ours", []string{"other.test/b", "other.test/a"}, r.get("w").Finalizers)
	r.idle()
	r.change("w", finalizers())
	r.gone("w")
	if got := r.failures("") - r.failures(framework.ClassConflict); got != 0 {
		t.Errorf("want no failure but conflicts, got %v", got)
	}
}

func TestUnrelatedWritesDoNotDisturbFinalizers(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: func(r *rig) *script {
		meddle := func(w *widget.Widget) {
			r.change("w", map[string]any{"metadata": map[string]any{"labels": map[string]any{"at": w.ResourceVersion}}})
		}
		return standard(r).before(finalize, meddle).before(release, meddle)
	}})
	r.run()
	r.create("red", "w")
	r.ready("w")
	r.delete("w")
	r.gone("w")
	r.idle()
	for _, request := range r.faults.Requests(frameworktest.By("patch"), frameworktest.On("widgets")) {
		if request.Code != 200 {
			t.Errorf("a write of finalizers was answered with %d", request.Code)
		}
	}
	if got := r.faults.Count(frameworktest.By("patch"), frameworktest.On("widgets")); got != 2 {
		t.Errorf("want two writes of finalizers, got %d", got)
	}
}

// TestTwoControllersAddOneFinalizer runs two programs, without an election,
// over the same widgets: the worst that can happen in a change of leaders.
func TestTwoControllersAddOneFinalizer(t *testing.T) {
	t.Parallel()
	one := newRig(t, rigOptions{})
	two := newRig(t, rigOptions{namespace: one.namespace})
	for _, r := range []*rig{one, two} {
		r.faults.LagWatches(200 * time.Millisecond)
		r.run()
	}
	fleet := fleetOf(20)
	one.create("red", fleet...)
	one.ready(fleet...)
	one.idle()
	two.idle()
	for _, name := range fleet {
		one.same("finalizers of "+name, []string{finalizer}, one.get(name).Finalizers)
	}
	one.each(fleet, func(name string) error { one.delete(name); return nil })
	for _, name := range fleet {
		one.gone(name)
	}
}

// TestNoFinalizerIsAddedWhileDeleting deletes a widget between the look at
// the cache and the addition.
func TestNoFinalizerIsAddedWhileDeleting(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: func(r *rig) *script {
		end := once(func() { r.delete("w") })
		return standard(r).before(finalize, func(*widget.Widget) { end() })
	}})
	w := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "w", Finalizers: []string{"other.test/a"}}, Spec: widget.Spec{Color: "red"}}
	w.APIVersion, w.Kind = widget.GroupVersion.String(), widget.Kind
	if _, err := r.user.Create(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	r.faults.LagWatches(300 * time.Millisecond)
	r.run()
	r.condition("w", framework.ConditionReady, metav1.ConditionFalse, "Deleting")
	r.idle()
	r.same("finalizers", []string{"other.test/a"}, r.get("w").Finalizers)
	if got := r.failures("") - r.failures(framework.ClassConflict); got != 0 {
		t.Errorf("want no failure but conflicts, got %v", got)
	}
	if child, found := r.configMaps.Get(r.namespace, "w"); found {
		t.Errorf("a child was made for a widget that is being deleted: %v", child)
	}
}
