package framework_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// only sends the requests for one resource through another transport.
type only struct {
	resource     string
	through, all http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (o only) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/"+o.resource) {
		return o.through.RoundTrip(req)
	}
	return o.all.RoundTrip(req)
}

// WrappedRoundTripper lets client-go look behind this one.
func (o only) WrappedRoundTripper() http.RoundTripper { return o.all }

// lateOn makes an access whose watches of one resource are late.
func lateOn(t *testing.T, resource string, lag time.Duration) *rest.Config {
	t.Helper()
	config := cluster.Shared(t)
	define(t, config)
	late := frameworktest.NewTransport()
	late.LagWatches(lag)
	access := rest.CopyConfig(config)
	access.Wrap(func(next http.RoundTripper) http.RoundTripper { return only{resource, late.Wrap(next), next} })
	return access
}

// passes counts those that wrote and those that did not, by their decisions.
func (r *rig) passes(name string) (acting, idle int) {
	for _, d := range r.program.Decisions() {
		switch {
		case d.Name != name || d.Namespace != r.namespace:
		case d.Writes > 0:
			acting += d.Count
		default:
			idle += d.Count
		}
	}
	return acting, idle
}

// TestALateWatchCostsNoWriteAndNoFailure has the watch of the children, or of
// the widgets, come late, not both: each has passes of its own to go wrong.
func TestALateWatchCostsNoWriteAndNoFailure(t *testing.T) {
	t.Parallel()
	for _, late := range []string{"configmaps", "widgets"} {
		for _, lag := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, time.Second} {
			t.Run(fmt.Sprintf("%s by %s", late, lag), func(t *testing.T) {
				t.Parallel()
				r := start(t, rigOptions{access: lateOn(t, late, lag)})
				fleet := fleetOf(10)
				r.create("red", fleet...)
				r.ready(fleet...)
				r.recolor("blue", fleet...)
				r.ready(fleet...)
				r.idle()
				r.writesPerWidget(fleet, map[string]int{"patch widgets": 1, "apply configmaps": 2, "patch widgets/status": 2})
				for _, name := range fleet {
					// One pass does all that a change calls for. Each of the
					// two changes is looked at a few times more: an echo for
					// each write, at most.
					if acting, idle := r.passes(name); acting != 2 || idle > 6 {
						t.Errorf("%s: want two passes that write and a few that do not, got %d and %d", name, acting, idle)
					}
				}
				r.same("failures, retries, vain waits and parked ones", []float64{0, 0, 0, 0}, []float64{
					r.failures(""), r.metric("fw_retries_total", nil), r.metric("fw_parked_in_vain_total", nil), r.metric("fw_parked_objects", nil)})
				if got := r.program.BackingOff(); got != 0 {
					t.Errorf("want nobody to back off, got %d", got)
				}
			})
		}
	}
}

// TestAWriteThatNoCacheWillShowIsNotWaitedFor makes a child that the cache of
// children does not select.
func TestAWriteThatNoCacheWillShowIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	r := start(t, rigOptions{selector: "shown", script: func(r *rig) *script {
		s := standard(r)
		s.plan = func(_ time.Time, w *widget.Widget, _ world) framework.Plan[action] {
			if w.Status.Note == w.Spec.Color {
				return framework.Plan[action]{}
			}
			return framework.Plan[action]{Actions: []action{apply}}
		}
		s.status = func(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
			if len(done) == 0 {
				return w
			}
			return standardStatus(now, w, seen, done)
		}
		return s
	}})
	r.create("red", "w")
	r.ready("w")
	r.recolor("blue", "w")
	r.ready("w")
	r.idle()
	r.same("failures and vain waits", []float64{0, 0}, []float64{r.failures(""), r.metric("fw_parked_in_vain_total", nil)})
	if got := r.configMap("w").Data["color"]; got != "blue" {
		t.Errorf("want the child blue, got %s", got)
	}
}

// TestAForeignChangeNextToOurOwnIsNotLost has somebody change what we write in
// the moment before, or after, we do.
func TestAForeignChangeNextToOurOwnIsNotLost(t *testing.T) {
	t.Parallel()
	child := func(r *rig, change string) {
		must(r.kube.CoreV1().ConfigMaps(r.namespace).Patch(r.t.Context(), "w", types.MergePatchType, []byte(change), metav1.PatchOptions{}))
	}
	changes := map[string]func(*rig){
		"the child's color":    func(r *rig) { child(r, `{"data":{"color":"theirs"}}`) },
		"the child's label":    func(r *rig) { child(r, `{"metadata":{"labels":{"widget":null}}}`) },
		"what we remember":     func(r *rig) { child(r, `{"metadata":{"annotations":{"example.test/applied-hash":"theirs"}}}`) },
		"the color to be":      func(r *rig) { r.recolor("green", "w") },
		"the status we wrote":  func(r *rig) { r.change("w", map[string]any{"status": map[string]any{"note": "theirs"}}, "status") },
		"the list of ours":     func(r *rig) { r.change("w", finalizers("other.test/a")) },
		"a field of their own": func(r *rig) { child(r, `{"data":{"their":"own"}}`) },
	}
	for name, change := range changes {
		for _, when := range []string{"before", "after"} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				r := start(t, rigOptions{script: func(r *rig) *script {
					meddle := once(func() { change(r) })
					s := standard(r)
					act := s.acts[apply]
					s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
						if w.Spec.Color != "red" && when == "before" {
							meddle()
						}
						result, err := act(ctx, w)
						if w.Spec.Color != "red" && when == "after" {
							meddle()
						}
						return result, err
					}
					return s
				}})
				r.create("red", "w")
				r.ready("w")
				r.recolor("blue", "w")
				r.eventually(func() error { return r.healed("w") })
				r.idle()
				if err := r.healed("w"); err != nil {
					t.Errorf("it did not stay healed: %v", err)
				}
				if got := r.failures("") - r.failures(framework.ClassConflict); got != 0 {
					t.Errorf("want no failure but conflicts, got %v", got)
				}
			})
		}
	}
}

// healed reports whether a widget, its child and its status agree.
func (r *rig) healed(name string) error {
	w, c := r.get(name), r.configMap(name)
	if err := notReady(w); err != nil {
		return err
	}
	hash := c.Annotations["example.test/applied-hash"]
	if c.Data["color"] != w.Spec.Color || c.Labels["widget"] != name || hash == "theirs" || hash == "" {
		return fmt.Errorf("want a %s child, got %v, %v, %v", w.Spec.Color, c.Data, c.Labels, c.Annotations)
	}
	for _, f := range w.Finalizers {
		if f == finalizer {
			return nil
		}
	}
	return fmt.Errorf("want our finalizer, got %v", w.Finalizers)
}

// TestADeletedChildIsNotRevived deletes a child for a widget that wants none,
// and then wants one again while the cache still shows the old one.
func TestADeletedChildIsNotRevived(t *testing.T) {
	t.Parallel()
	var applied atomic.Int64
	// Only the children come late: the echo of a status must not pass for that
	// of the deletion before it.
	r := start(t, rigOptions{access: lateOn(t, "configmaps", time.Second), script: func(r *rig) *script {
		s := standard(r)
		plan := s.plan
		s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
			switch {
			case w.Spec.Color == "none" && seen.child != nil:
				return framework.Plan[action]{Actions: []action{deleteChild}}
			case w.Spec.Color == "none":
				return framework.Plan[action]{}
			}
			return plan(now, w, seen)
		}
		s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
			applied.Add(1)
			config := coreapply.ConfigMap(w.Name, w.Namespace).
				WithLabels(map[string]string{"widget": w.Name}).WithData(map[string]string{"color": w.Spec.Color})
			child, _, err := r.configMaps.Apply(ctx, ownerFor(w), config)
			return framework.Result{Learned: child}, err
		}
		return s
	}})
	r.create("red", "w")
	r.ready("w")
	r.idle()
	must(r.kube.CoreV1().ConfigMaps(r.namespace).Patch(t.Context(), "w", types.MergePatchType,
		[]byte(`{"data":{"their":"own"}}`), metav1.PatchOptions{}))
	old := r.configMap("w")
	r.eventually(func() error {
		if c, _ := r.configMaps.Get(r.namespace, "w"); c == nil || c.ResourceVersion != old.ResourceVersion {
			return fmt.Errorf("the cache has not seen %s", old.ResourceVersion)
		}
		return nil
	})
	r.recolor("none", "w")
	r.eventually(func() error {
		if w := r.get("w"); w.Status.ObservedGeneration != w.Generation || r.faults.Count(frameworktest.By("delete")) != 1 {
			return fmt.Errorf("the child was not deleted")
		}
		return nil
	})
	r.recolor("green", "w")
	for range 20 {
		r.wake("w")
	}
	r.ready("w")
	r.idle()
	got := r.configMap("w")
	if got.UID == old.UID || got.Data["their"] != "" || got.Data["color"] != "green" {
		t.Errorf("want a child with nothing of the old one, got %+v", got)
	}
	// A status judged before the widget got its new color is one conflict.
	r.same("deletes, applies, failures but conflicts", []int{1, 2, 0}, []int{
		r.faults.Count(frameworktest.By("delete")), r.faults.Count(frameworktest.By("apply")),
		int(r.failures("") - r.failures(framework.ClassConflict))})
	if applied.Load() != 2 {
		t.Errorf("want an old child never taken for the new one, got %d tries to apply", applied.Load())
	}
}
