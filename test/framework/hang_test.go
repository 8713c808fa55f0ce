package framework_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// TestAPanicInAnyBeatHoldsUpNobodyElse has one widget break the reconciler in
// each pass, for one worker.
func TestAPanicInAnyBeatHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	bug := func(w *widget.Widget) {
		if w.Name == "bad" {
			panic("a bug")
		}
	}
	for beat, breaks := range map[string]func(*script){
		"observe": func(s *script) {
			observe := s.observe
			s.observe = func(ctx context.Context, w *widget.Widget) (world, error) { bug(w); return observe(ctx, w) }
		},
		"plan": func(s *script) {
			plan := s.plan
			s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
				bug(w)
				return plan(now, w, seen)
			}
		},
		"act": func(s *script) { s.before(apply, bug) },
		"status": func(s *script) {
			status := s.status
			s.status = func(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
				bug(w)
				return status(now, w, seen, done)
			}
		},
	} {
		t.Run(beat, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{workers: 1, script: func(r *rig) *script {
				s := standard(r)
				breaks(s)
				return s
			}})
			r.create("red", "bad")
			r.run()
			r.eventually(func() error {
				if r.failures(framework.ClassPanic) < 2 {
					return errors.New("want a second try")
				}
				return nil
			})
			r.create("red", "good")
			r.ready("good")
			why := r.why("bad", "backing off")
			if last := why.Decisions[len(why.Decisions)-1]; last.Class != framework.ClassPanic || !strings.Contains(last.Error, "a bug") {
				t.Errorf("want the panic among the decisions, got %+v", last)
			}
			if got := r.failures("") - r.failures(framework.ClassPanic); got != 0 {
				t.Errorf("want no other failure, got %v", got)
			}
		})
	}
}

// TestAPassThatHangsIsEndedAndHoldsUpNobody has one of two workers hang, in
// an action of its own and in a request.
func TestAPassThatHangsIsEndedAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	for name, hang := range map[string]func(*rig, *script){
		"in an action": func(_ *rig, s *script) {
			act := s.acts[apply]
			s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
				if w.Name == "bad" {
					<-ctx.Done()
					return framework.Result{}, context.Cause(ctx)
				}
				return act(ctx, w)
			}
		},
		"in a request": func(r *rig, _ *script) {
			r.faults.Inject(frameworktest.Fault{Verb: "apply", Name: "bad", Hold: never, Times: -1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, rigOptions{workers: 2, passTimeout: 3 * time.Second, script: func(r *rig) *script {
				s := standard(r)
				hang(r, s)
				return s
			}})
			r.create("red", "bad")
			r.eventually(func() error {
				if _, err := r.kube.CoreV1().ConfigMaps(r.namespace).Get(t.Context(), "bad", getOptions); err == nil {
					return errors.New("the child is there")
				}
				if len(r.get("bad").Finalizers) == 0 {
					return errors.New("the pass has not begun")
				}
				return nil
			})
			fleet := fleetOf(20)
			r.create("red", fleet...)
			r.ready(fleet...)
			r.eventually(func() error {
				if r.failures(framework.ClassTransient) < 2 {
					return fmt.Errorf("want the pass ended and tried again, got %v failures", r.failures(""))
				}
				return nil
			})
			mine := r.why("bad", "backing off").Decisions
			mine = slices.DeleteFunc(mine, func(d framework.Decision) bool { return d.Outcome != "retry" })
			if len(mine) == 0 || mine[0].Took < 2*time.Second || mine[0].Took > 20*time.Second {
				t.Errorf("want a pass of three seconds that failed, got %+v", mine)
			}
		})
	}
}
