package framework_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// TestTheCrashRunnerSeesFaults plants in the widget reconciler, one at a time,
// the mistakes that people make. Each must be seen.
func TestTheCrashRunnerSeesFaults(t *testing.T) {
	t.Parallel()
	made := func(u user) []frameworktest.Step { return []frameworktest.Step{u.makes("red")} }
	edited := func(u user) []frameworktest.Step { return []frameworktest.Step{u.makes("red"), u.recolors("blue")} }
	tests := map[string]struct {
		script func(*rig) *script
		steps  func(user) []frameworktest.Step
		// want is a part of some failure.
		want string
	}{
		"the finalizer comes after the first effect": {lateFinalizer, made, "before w has the finalizer"},
		"the status is written before the child":     {earlyStatus, made, `-     "color": "red"`},
		"a child has a made-up name":                 {twins, made, "+ configmaps/w-<made up>"},
		"a delete is without a UID": {deleteByName, func(u user) []frameworktest.Step {
			return []frameworktest.Step{u.makes("red"), u.deletes()}
		}, "without a precondition on its UID"},
		"a field no longer wanted stays": {patches, edited, `+     "red": "yes"`},
		"a baseline is older than the last write": {oldBaseline, func(u user) []frameworktest.Step {
			return []frameworktest.Step{u.makes("red"), u.recolors("blue"), u.recolors("none")}
		}, `-     "note": "blue"`},
		"a count is kept in the status": {counts, edited, `-     "note": "2"`},
		"a wait is asked for only once": {forgetsToWait, func(u user) []frameworktest.Step {
			return []frameworktest.Step{u.makes("red"), u.waits(time.Minute)}
		}, `+     "note": "green"`},
		"a name is noted only when it is learnt": {forgetsName, made, `-     "note": "w"`},
		"a converged object is written to":       {restless, made, "a fresh program on the settled state does patch widgets"},
		"a write is repeated":                    {repeats, made, "writes instead of"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := crash(t, test.script, test.steps)
			c.Points, c.Parallel, c.Log = []frameworktest.Point{frameworktest.AfterCommit}, 3, t.Logf
			report, err := c.Everywhere(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			seen := slices.ContainsFunc(report.Failures, func(f frameworktest.Failure) bool {
				return strings.Contains(f.String(), test.want)
			})
			if !seen {
				t.Errorf("want %q among the failures of %d runs, got %v", test.want, report.Runs, report.Failures)
			}
		})
	}
}

func lateFinalizer(r *rig) *script {
	s := standard(r)
	s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
		plan := standardPlan(now, w, seen)
		slices.Reverse(plan.Actions)
		return plan
	}
	return s
}

// earlyStatus believes a status that was written before it was true.
func earlyStatus(r *rig) *script {
	const say action = "say"
	s := standard(r)
	s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
		plan := standardPlan(now, w, seen)
		switch at := slices.Index(plan.Actions, apply); {
		case at < 0:
		case w.Status.Note == w.Spec.Color:
			plan.Actions = slices.Delete(plan.Actions, at, at+1)
		default:
			plan.Actions = slices.Insert(plan.Actions, at, say)
		}
		return plan
	}
	s.acts[say] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		return framework.Result{}, r.saysItself(ctx, w, w.Spec.Color)
	}
	s.status = noting(func(w *widget.Widget, _ world, _ []framework.Done[action]) string { return w.Spec.Color })
	return s
}

// saysItself writes a note past the framework.
func (r *rig) saysItself(ctx context.Context, w *widget.Widget, note string) error {
	_, err := r.parents.Client.Patch(ctx, w.Name, types.MergePatchType,
		must(json.Marshal(map[string]any{"status": map[string]any{"note": note}})), metav1.PatchOptions{}, "status")
	return err
}

// noting is the standard status with another note.
func noting(note func(*widget.Widget, world, []framework.Done[action]) string) func(time.Time, *widget.Widget, world, []framework.Done[action]) *widget.Widget {
	return func(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
		out := standardStatus(now, w, seen, done)
		out.Status.Note = note(w, seen, done)
		return out
	}
}

func learntChild(done []framework.Done[action]) *corev1.ConfigMap {
	for _, d := range done {
		if child, ok := d.Result.Learned.(*corev1.ConfigMap); ok && child != nil {
			return child
		}
	}
	return nil
}

// twins knows its child by the status alone.
func twins(r *rig) *script {
	s := standard(r)
	s.observe = func(_ context.Context, w *widget.Widget) (world, error) {
		child, found := r.configMaps.Get(w.Namespace, w.Status.Note)
		if !found {
			return world{drift: []string{""}}, nil
		}
		return world{child: child}, nil
	}
	s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		child, _, err := r.configMaps.Apply(ctx, ownerFor(w), colored(w).WithName("w-"+rand.String(5)))
		return framework.Result{Learned: child}, err
	}
	s.status = noting(func(w *widget.Widget, _ world, done []framework.Done[action]) string {
		if child := learntChild(done); child != nil {
			return child.Name
		}
		return w.Status.Note
	})
	return s
}

func deleteByName(r *rig) *script {
	s := standard(r)
	s.acts[deleteChild] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		err := r.configMaps.Client.Delete(ctx, w.Name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return framework.Result{}, err
	}
	return s
}

// patches gives the child one key per color, and remembers only in memory
// which one to take away.
func patches(r *rig) *script {
	s := standard(r)
	var mu sync.Mutex
	var last string
	s.observe = func(_ context.Context, w *widget.Widget) (world, error) {
		child, found := r.configMaps.Get(w.Namespace, w.Name)
		switch {
		case !found:
			return world{drift: []string{""}}, nil
		case child.Data[w.Spec.Color] == "":
			return world{child: child, drift: []string{"data"}}, nil
		}
		return world{child: child}, nil
	}
	s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		data := map[string]any{w.Spec.Color: "yes"}
		if last != "" && last != w.Spec.Color {
			data[last] = nil
		}
		var err error
		if _, found := r.configMaps.Get(w.Namespace, w.Name); found {
			_, err = r.configMaps.Client.Patch(ctx, w.Name, types.MergePatchType, must(json.Marshal(map[string]any{"data": data})), metav1.PatchOptions{})
		} else {
			_, _, err = r.configMaps.Apply(ctx, ownerFor(w), colored(w).WithData(map[string]string{w.Spec.Color: "yes"}))
		}
		if err == nil {
			last = w.Spec.Color
		}
		return framework.Result{}, err
	}
	return s
}

// oldBaseline takes what it saw of a widget first for what is stored.
func oldBaseline(r *rig) *script {
	s := standard(r)
	var baseline sync.Map
	s.status = noting(func(w *widget.Widget, _ world, _ []framework.Done[action]) string {
		want := strings.TrimPrefix(w.Spec.Color, "none")
		if stored, _ := baseline.LoadOrStore(w.UID, w.Status.Note); stored == want {
			return w.Status.Note
		}
		return want
	})
	return s
}

func counts(r *rig) *script {
	s := standard(r)
	s.status = noting(func(w *widget.Widget, _ world, done []framework.Done[action]) string {
		before, _ := strconv.Atoi(w.Status.Note)
		if learntChild(done) != nil {
			return strconv.Itoa(before + 1)
		}
		return w.Status.Note
	})
	return s
}

// forgetsToWait asks for a later look only in the pass that makes the child.
func forgetsToWait(r *rig) *script {
	const ripening = 10 * time.Second
	s := standard(r)
	simply := s.acts[apply]
	s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		result, err := simply(ctx, w)
		result.Wait = ripening
		return result, err
	}
	s.status = func(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
		return noting(func(_ *widget.Widget, seen world, _ []framework.Done[action]) string {
			if seen.child != nil && now.Sub(seen.child.CreationTimestamp.Time) >= ripening {
				return "ripe"
			}
			return "green"
		})(now, w, seen, done)
	}
	return s
}

func forgetsName(r *rig) *script {
	s := standard(r)
	s.status = noting(func(w *widget.Widget, _ world, done []framework.Done[action]) string {
		if child := learntChild(done); child != nil {
			return child.Name
		}
		return w.Status.Note
	})
	return s
}

// restless writes a line into each widget in every life.
func restless(r *rig) *script {
	s := standard(r)
	life := rand.String(5)
	s.status = noting(func(*widget.Widget, world, []framework.Done[action]) string { return "w-" + life })
	return s
}

// repeats sends a write again and again when it begins anew.
func repeats(r *rig) *script {
	s := standard(r)
	simply := s.acts[apply]
	s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		for i := range len(w.Finalizers) * 5 {
			if err := r.saysItself(ctx, w, fmt.Sprint(i)); err != nil {
				return framework.Result{}, err
			}
		}
		return simply(ctx, w)
	}
	return s
}
