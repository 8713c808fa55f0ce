package framework_test

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// create makes widgets of a color, several at a time.
func (r *rig) create(color string, named ...string) {
	r.t.Helper()
	r.each(named, func(name string) error {
		w := &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: widget.Spec{Color: color}}
		w.APIVersion, w.Kind = widget.GroupVersion.String(), r.parents.Kind
		_, err := r.user.Create(r.t.Context(), w)
		return err
	})
}

// recolor gives widgets another color.
func (r *rig) recolor(color string, named ...string) {
	r.t.Helper()
	r.each(named, func(name string) error {
		return r.patch(name, map[string]any{"spec": map[string]any{"color": color}})
	})
}

// each does something for every name, eight at a time.
func (r *rig) each(named []string, do func(name string) error) {
	r.t.Helper()
	work := make(chan string)
	var workers sync.WaitGroup
	for range min(8, len(named)) {
		workers.Go(func() {
			for name := range work {
				if err := do(name); err != nil {
					r.t.Errorf("the user's change of %s: %v", name, err)
				}
			}
		})
	}
	for _, name := range named {
		work <- name
	}
	close(work)
	workers.Wait()
	if r.t.Failed() {
		r.t.FailNow()
	}
}

// patch merges a change into a widget, or one of its subresources. The answer
// need not be one that the type can hold.
func (r *rig) patch(name string, change map[string]any, subresources ...string) error {
	return r.user.REST.Patch(types.MergePatchType).Namespace(r.namespace).Resource(r.widgets.Resource).Name(name).
		SubResource(subresources...).Body(must(json.Marshal(change))).Do(r.t.Context()).Error()
}

// change is a patch that must work.
func (r *rig) change(name string, change map[string]any, subresources ...string) {
	r.t.Helper()
	if err := r.patch(name, change, subresources...); err != nil {
		r.t.Fatalf("the user's change of %s: %v", name, err)
	}
}

func (r *rig) get(name string) *widget.Widget {
	r.t.Helper()
	w, err := r.user.Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatalf("reading the widget %s: %v", name, err)
	}
	return w
}

func (r *rig) delete(name string) {
	r.t.Helper()
	if err := r.user.Delete(r.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		r.t.Fatalf("deleting the widget %s: %v", name, err)
	}
}

func (r *rig) configMap(name string) *corev1.ConfigMap {
	r.t.Helper()
	child, err := r.kube.CoreV1().ConfigMaps(r.namespace).Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatalf("reading the ConfigMap %s: %v", name, err)
	}
	return child
}

// eventually waits for something to hold.
func (r *rig) eventually(check func() error) {
	r.t.Helper()
	cluster.Eventually(r.t, patience, check)
}

// ready waits until every named widget says that it is, in its own color. It
// asks for one at a time, so that a fleet is not read over and over.
func (r *rig) ready(named ...string) {
	r.t.Helper()
	for _, name := range named {
		r.eventually(func() error {
			w, err := r.user.Get(r.t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			return notReady(w)
		})
	}
}

func notReady(w *widget.Widget) error {
	if w.Status.ObservedGeneration != w.Generation || w.Status.Note != w.Spec.Color ||
		!meta.IsStatusConditionTrue(w.Status.Conditions, framework.ConditionReady) {
		return fmt.Errorf("want a ready %s widget of generation %d, got the status %+v", w.Spec.Color, w.Generation, w.Status)
	}
	return nil
}

// condition waits until a widget has a condition with a status and reason,
// and returns it.
func (r *rig) condition(name, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	r.t.Helper()
	var found metav1.Condition
	r.eventually(func() error {
		w, err := r.user.Get(r.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(w.Status.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != reason {
			return fmt.Errorf("want %s=%s for %s, got %+v", kind, status, reason, w.Status.Conditions)
		}
		found = *c
		return nil
	})
	return found
}

// idle waits until the controller has nothing to do.
func (r *rig) idle() {
	r.t.Helper()
	r.eventually(func() error {
		if !r.controller.Idle() {
			return fmt.Errorf("the controller is not idle")
		}
		return nil
	})
}

// metric sums the samples of a metric that have these labels.
func (r *rig) metric(name string, wanted map[string]string) float64 {
	r.t.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		r.t.Fatalf("gathering metrics: %v", err)
	}
	var sum float64
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, sample := range family.GetMetric() {
			if hasLabels(sample, wanted) {
				sum += sample.GetCounter().GetValue() + sample.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func hasLabels(sample *dto.Metric, wanted map[string]string) bool {
	have := map[string]string{}
	for _, pair := range sample.GetLabel() {
		have[pair.GetName()] = pair.GetValue()
	}
	for name, value := range wanted {
		if have[name] != value {
			return false
		}
	}
	return true
}

// errors is how many passes failed, of a class or of all.
func (r *rig) failures(class framework.Class) float64 {
	r.t.Helper()
	wanted := map[string]string{}
	if class != "" {
		wanted["class"] = string(class)
	}
	return r.metric("fw_reconcile_errors_total", wanted)
}

// same fails the test when two objects differ.
func (r *rig) same(what string, want, got any) {
	r.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// unseen does something that no cache shows until seenAfter.
func (r *rig) unseen(do func()) {
	r.faults.FreezeAllWatches()
	do()
}

// seenAfter waits for a request, then lets the caches see what was unseen.
func (r *rig) seenAfter(filters ...func(frameworktest.Request) bool) {
	r.t.Helper()
	defer r.faults.ThawWatches()
	r.eventually(func() error {
		for _, request := range r.faults.Requests(filters...) {
			if request.Code != 0 {
				return nil
			}
		}
		return fmt.Errorf("the request has not been answered")
	})
}

// wake asks for a pass of a widget.
func (r *rig) wake(name string) {
	r.trigger.Fire(framework.Key{Namespace: r.namespace, Name: name})
}
