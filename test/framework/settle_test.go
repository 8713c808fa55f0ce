package framework_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/metadata"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// byClock is a rig whose program lives by a clock of the test.
func byClock(t *testing.T, o rigOptions) (*rig, *frameworktest.Clock) {
	t.Helper()
	clock := frameworktest.NewClock()
	o.manager = func(o *framework.ManagerOptions) { o.Clock = clock }
	return newRig(t, o), clock
}

func (r *rig) settle(ctx context.Context, clock *frameworktest.Clock) error {
	return frameworktest.Settle(ctx, r.program, clock, must(metadata.NewForConfig(r.config)))
}

// TestASettledProgramHasDoneAllThereWasToDo asks for no more than Settle.
func TestASettledProgramHasDoneAllThereWasToDo(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*rig){
		"nothing in the way": func(*rig) {},
		"watches lag":        func(r *rig) { r.faults.LagWatches(150 * time.Millisecond) },
		"writes fail at first": func(r *rig) {
			r.faults.Inject(frameworktest.Fault{Verb: "apply", Status: http.StatusInternalServerError, Times: 3})
			r.faults.Inject(frameworktest.Fault{Resource: "widgets/status", Reset: true, Forward: true})
		},
	}
	for name, trouble := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, clock := byClock(t, rigOptions{})
			trouble(r)
			r.run()
			for _, color := range []string{"red", "blue"} {
				if color == "red" {
					r.create(color, "w")
				} else {
					r.recolor(color, "w")
				}
				if err := r.settle(t.Context(), clock); err != nil {
					t.Fatal(err)
				}
				if err := notReady(r.get("w")); err != nil {
					t.Error(err)
				}
				r.same("the child's color", color, r.configMap("w").Data["color"])
			}
		})
	}
}

func TestAProgramThatDoesNotSettleSaysWhy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		trouble func(*rig)
		want    string
	}{
		"a write that always fails": {func(r *rig) {
			r.faults.Inject(frameworktest.Fault{Verb: "apply", Status: http.StatusInternalServerError, Times: -1})
		}, "1 objects are backing off"},
		"a request without an answer": {func(r *rig) {
			hold := make(chan struct{})
			r.t.Cleanup(func() { close(hold) })
			r.faults.Inject(frameworktest.Fault{Verb: "apply", Hold: hold, Times: -1})
		}, "a controller is at work"},
		"a cache without news": {func(r *rig) { r.faults.FreezeAllWatches() }, "the cache of widgets.example.test differs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, clock := byClock(t, rigOptions{})
			r.run()
			if err := r.settle(t.Context(), clock); err != nil {
				t.Fatal(err)
			}
			test.trouble(r)
			r.create("red", "w")
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			err := r.settle(ctx, clock)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want %q, got %v", test.want, err)
			}
		})
	}
}

// TestSettlingDoesNotWaitForATime has a widget that ripens an hour after it
// was made.
func TestSettlingDoesNotWaitForATime(t *testing.T) {
	t.Parallel()
	r, clock := byClock(t, rigOptions{script: func(r *rig) *script {
		s := standard(r)
		s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
			plan := standardPlan(now, w, seen)
			plan.Wait = max(0, w.CreationTimestamp.Add(time.Hour).Sub(now))
			return plan
		}
		s.status = func(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
			return noting(func(*widget.Widget, world, []framework.Done[action]) string {
				if now.Before(w.CreationTimestamp.Add(time.Hour)) {
					return "green"
				}
				return "ripe"
			})(now, w, seen, done)
		}
		return s
	}})
	r.run()
	r.create("red", "w")
	for _, want := range []string{"green", "ripe"} {
		if err := r.settle(t.Context(), clock); err != nil {
			t.Fatal(err)
		}
		r.same("note", want, r.get("w").Status.Note)
		clock.StepTo(r.get("w").CreationTimestamp.Add(time.Hour))
	}
}
