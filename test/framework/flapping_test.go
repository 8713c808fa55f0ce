package framework_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// stepped gives a rig's program a clock that moves only when told.
func stepped(o rigOptions) (rigOptions, *frameworktest.Clock) {
	clock := frameworktest.NewClock()
	o.manager = func(m *framework.ManagerOptions) { m.Clock = clock }
	return o, clock
}

// flapper is a rig whose reconciler writes in circles to the widget w until
// it is calm.
type flapper struct {
	*rig
	clock *frameworktest.Clock
	calm  atomic.Bool
	// target is the resource that is written again and again.
	target string
}

// flaps make a standard script write in circles, each in its own way. The
// fields are the path that the condition names and the resource.
var flaps = map[string]struct {
	path, target string
	script       func(*flapper, *script)
}{
	"a status that toggles": {"Widget w: status.note", "widgets/status", func(f *flapper, s *script) {
		s.plan = func(time.Time, *widget.Widget, world) framework.Plan[action] { return framework.Plan[action]{} }
		status := s.status
		s.status = func(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
			if f.settles(w) {
				return status(now, w, seen, done)
			}
			out := w.DeepCopy()
			out.Status.Note = toggled(w.Status.Note)
			return out
		}
	}},
	"a child's field that toggles": {"ConfigMap w: data.color", "configmaps", func(f *flapper, s *script) {
		f.applies(s, func(w *widget.Widget) *coreapply.ConfigMapApplyConfiguration {
			child, _ := f.configMaps.Get(w.Namespace, w.Name)
			if child == nil {
				return colored(w)
			}
			return colored(w).WithData(map[string]string{"color": toggled(child.Data["color"])})
		})
	}},
	"a label that comes and goes": {"ConfigMap w: metadata.", "configmaps", func(f *flapper, s *script) {
		f.applies(s, func(w *widget.Widget) *coreapply.ConfigMapApplyConfiguration {
			child, _ := f.configMaps.Get(w.Namespace, w.Name)
			if child == nil || child.Labels["now"] == "there" {
				return colored(w)
			}
			return colored(w).WithLabels(map[string]string{"now": "there"})
		})
	}},
	"a child that is deleted and made again": {"ConfigMap w: deleted", "configmaps", func(f *flapper, s *script) {
		plan := s.plan
		s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
			if seen.child == nil || f.settles(w) {
				return plan(now, w, seen)
			}
			return framework.Plan[action]{Actions: []action{deleteChild}}
		}
		s.status = func(_ time.Time, w *widget.Widget, _ world, _ []framework.Done[action]) *widget.Widget { return w }
	}},
}

func toggled(value string) string {
	if value == "yin" {
		return "yang"
	}
	return "yin"
}

// settles reports whether a widget is one whose reconciler is in its right
// mind.
func (f *flapper) settles(w *widget.Widget) bool { return w.Name != "w" || f.calm.Load() }

// applies makes a script apply another wish in each pass.
func (f *flapper) applies(s *script, wish func(*widget.Widget) *coreapply.ConfigMapApplyConfiguration) {
	plan, apply := s.plan, s.acts[apply]
	s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
		if f.settles(w) {
			return plan(now, w, seen)
		}
		return framework.Plan[action]{Actions: []action{"apply"}}
	}
	s.acts["apply"] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		if f.settles(w) {
			return apply(ctx, w)
		}
		_, _, err := f.configMaps.Apply(ctx, ownerFor(w), wish(w))
		return framework.Result{}, err
	}
	status := s.status
	s.status = func(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
		if f.settles(w) {
			return status(now, w, seen, done)
		}
		return w
	}
}

func newFlapper(t *testing.T, target string, flap func(*flapper, *script)) *flapper {
	t.Helper()
	f := &flapper{target: target}
	options, clock := stepped(rigOptions{script: func(r *rig) *script {
		f.rig = r
		s := standard(r)
		flap(f, s)
		return s
	}})
	f.clock = clock
	f.rig = newRig(t, options)
	f.run()
	return f
}

// writes counts those to the object that is written in circles.
func (f *flapper) writes() int {
	return f.faults.Count(frameworktest.Writes, frameworktest.Named("w"), frameworktest.On(f.target))
}

// stopped waits until the guard has stopped the flapping, and returns how
// often the object was written since there were so many writes.
func (f *flapper) stopped(before int) int {
	f.t.Helper()
	f.eventually(func() error {
		if got := f.writes() - before; got < 10 {
			return fmt.Errorf("want ten writes, got %d", got)
		}
		return nil
	})
	f.condition("w", framework.ConditionHotLoop, metav1.ConditionTrue, framework.ReasonFlapping)
	return f.still() - before
}

// still has a stopped widget looked at again and again, and checks that
// nothing is written.
func (f *flapper) still() int {
	f.t.Helper()
	f.idle()
	before := f.faults.Count(frameworktest.Writes, frameworktest.Named("w"))
	writes := f.writes()
	for range 20 {
		f.wake("w")
		f.idle()
	}
	if got := f.faults.Count(frameworktest.Writes, frameworktest.Named("w")) - before; got != 0 {
		f.t.Errorf("want nothing written while it is held, got %d writes", got)
	}
	return writes
}

func TestAReconcilerThatWritesInCirclesIsStopped(t *testing.T) {
	t.Parallel()
	for name, flap := range flaps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlapper(t, flap.target, flap.script)
			f.create("red", "w")
			if got := f.stopped(0); got > 12 {
				t.Errorf("want about eleven writes in the first minute, got %d", got)
			}
			said := f.condition("w", framework.ConditionHotLoop, metav1.ConditionTrue, framework.ReasonFlapping)
			if !strings.Contains(said.Message, flap.path) {
				t.Errorf("want the message to name %q, got %q", flap.path, said.Message)
			}
			if why := f.why("w", "hot loop"); why.Until == nil || why.Until.Sub(f.clock.Now()) < 4*time.Minute {
				t.Errorf("want it told until when it is held, got %+v", why)
			}
			before := f.writes()
			f.clock.Step(4*time.Minute + 59*time.Second)
			if got := f.still() - before; got != 0 {
				t.Errorf("want nothing written for five minutes, got %d writes", got)
			}
			// Its own phase comes on top of the five minutes.
			f.clock.Step(31 * time.Second)
			f.eventually(func() error {
				if got := f.writes() - before; got != 1 {
					return fmt.Errorf("want one more write after five minutes, got %d", got)
				}
				return nil
			})
			if got := f.still() - before; got != 1 {
				t.Errorf("want one write in five minutes, got %d", got)
			}
			f.condition("w", framework.ConditionHotLoop, metav1.ConditionTrue, framework.ReasonFlapping)
			// A pass that is held and still writes, were it to mend, is no
			// sign that it is over; the next one is.
			f.calm.Store(true)
			f.eventually(func() error {
				f.clock.Step(time.Minute)
				return f.isCool("w")
			})
			f.still()
		})
	}
}

func (r *rig) isCool(name string) error {
	if c := meta.FindStatusCondition(r.get(name).Status.Conditions, framework.ConditionHotLoop); c != nil {
		return fmt.Errorf("want no HotLoop, got %+v", c)
	}
	return nil
}

// TestNewsLetsAHeldReconcilerGoOn changes something for a widget that was
// stopped: the reconciler may have cause to write now.
func TestNewsLetsAHeldReconcilerGoOn(t *testing.T) {
	t.Parallel()
	flap := flaps["a child's field that toggles"]
	for name, news := range map[string]func(*flapper){
		"a new generation": func(f *flapper) { f.recolor("blue", "w") },
		"a foreign change of the child": func(f *flapper) {
			must(f.kube.CoreV1().ConfigMaps(f.namespace).Patch(f.t.Context(), "w", types.MergePatchType,
				[]byte(`{"metadata":{"labels":{"their":"label"}}}`), metav1.PatchOptions{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlapper(t, flap.target, flap.script)
			f.create("red", "w")
			f.stopped(0)
			before := f.writes()
			news(f)
			if got := f.stopped(before); got > 12 {
				t.Errorf("want it stopped again after about eleven writes, got %d", got)
			}
		})
	}
}

// TestAHeldReconcilerHearsOfForeignChangesForAsLongAsItIsHeld has other
// widgets written for minutes before the change.
func TestAHeldReconcilerHearsOfForeignChangesForAsLongAsItIsHeld(t *testing.T) {
	t.Parallel()
	flap := flaps["a child's field that toggles"]
	f := newFlapper(t, flap.target, flap.script)
	f.create("red", "w", "other")
	f.ready("other")
	f.stopped(0)
	for _, color := range []string{"blue", "green", "yellow"} {
		f.clock.Step(61 * time.Second)
		f.recolor(color, "other")
		f.ready("other")
	}
	before := f.writes()
	must(f.kube.CoreV1().ConfigMaps(f.namespace).Patch(t.Context(), "w", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"their":"label"}}}`), metav1.PatchOptions{}))
	f.stopped(before)
}

// TestManyChildrenInOnePassAreNoCircle writes twenty objects at once, one
// time each.
func TestManyChildrenInOnePassAreNoCircle(t *testing.T) {
	t.Parallel()
	options, _ := stepped(rigOptions{script: func(r *rig) *script {
		s := standard(r)
		s.plan = func(time.Time, *widget.Widget, world) framework.Plan[action] {
			return framework.Plan[action]{Actions: []action{apply}}
		}
		s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
			var last framework.Result
			for i := range 20 {
				config := coreapply.ConfigMap(fmt.Sprintf("%s-%d", w.Name, i), w.Namespace).
					WithData(map[string]string{"color": w.Spec.Color})
				child, _, err := r.configMaps.Apply(ctx, ownerFor(w), config)
				if err != nil {
					return framework.Result{}, err
				}
				last.Learned = child
			}
			return last, nil
		}
		return s
	}})
	r := start(t, options)
	r.create("red", "w")
	r.ready("w")
	r.idle()
	if err := r.isCool("w"); err != nil || r.failures("") != 0 {
		t.Errorf("want no failure, got %v: %v", r.failures(""), err)
	}
	if got := r.faults.Count(frameworktest.By("apply")); got != 20 {
		t.Errorf("want twenty applies, got %d", got)
	}
}

// TestAFastForeignWriterIsNoCircle has somebody turn the child's color thirty
// times in a minute.
func TestAFastForeignWriterIsNoCircle(t *testing.T) {
	t.Parallel()
	options, _ := stepped(rigOptions{})
	r := start(t, options)
	r.create("red", "w")
	r.ready("w")
	for i := range 30 {
		must(r.kube.CoreV1().ConfigMaps(r.namespace).Patch(t.Context(), "w", types.MergePatchType,
			fmt.Appendf(nil, `{"data":{"color":"theirs-%d"}}`, i), metav1.PatchOptions{}))
		r.eventually(func() error {
			if got := r.configMap("w").Data["color"]; got != "red" {
				return fmt.Errorf("want the %dth change undone, got %s", i, got)
			}
			return nil
		})
	}
	r.idle()
	if err := r.isCool("w"); err != nil || r.failures(framework.ClassHotLoop) != 0 {
		t.Errorf("want no failure, got %v: %v", r.failures(""), err)
	}
	if got := r.faults.Count(frameworktest.By("apply")); got != 31 {
		t.Errorf("want every change undone by one apply, got %d", got)
	}
}
