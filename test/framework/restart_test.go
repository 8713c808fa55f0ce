package framework_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// settle makes a fleet and has a program of the first rig bring it to rest.
func settle(t *testing.T, size int) (*rig, []string) {
	t.Helper()
	r := start(t, rigOptions{})
	fleet := fleetOf(size)
	r.create("red", fleet...)
	r.ready(fleet...)
	r.idle()
	r.stop()
	<-r.ended
	return r, fleet
}

// TestARestartOverASettledFleetWritesNothing starts a program over what
// another one left, and has its informers hand on everything every second.
func TestARestartOverASettledFleetWritesNothing(t *testing.T) {
	t.Parallel()
	size := 300
	if testing.Short() {
		size = 60
	}
	before, fleet := settle(t, size)
	r := start(t, rigOptions{namespace: before.namespace, resync: time.Second})
	r.eventually(func() error {
		if got := r.metric("fw_reconcile_total", nil); got < float64(4*len(fleet)) {
			return fmt.Errorf("want every widget looked at by start and three resyncs, got %v passes", got)
		}
		return nil
	})
	if got := r.faults.Requests(frameworktest.Writes); len(got) != 0 {
		t.Errorf("want nothing written, got %d requests, first %+v", len(got), got[0])
	}
	for _, d := range r.program.Decisions() {
		if d.Outcome != "done" || len(d.Actions) != 0 || d.Writes != 0 {
			t.Errorf("want nothing planned, got %+v", d)
			break
		}
	}
	if got := r.faults.Count(frameworktest.By("get"), frameworktest.On("widgets")); got != 0 {
		t.Errorf("want no widget asked for, got %d questions", got)
	}
}

// labelled has a script want one more label on every child.
func labelled(r *rig) *script {
	s := standard(r)
	config := func(w *widget.Widget) *coreapply.ConfigMapApplyConfiguration {
		return colored(w).WithLabels(map[string]string{"upgraded": "yes"})
	}
	s.observe = func(ctx context.Context, w *widget.Widget) (world, error) {
		seen, err := r.observe(ctx, w)
		if err == nil && seen.child != nil {
			var child framework.Child[*corev1.ConfigMap]
			child, err = r.configMaps.Look(ownerFor(w), config(w))
			seen.drift = child.Drift
		}
		return seen, err
	}
	s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		child, _, err := r.configMaps.Apply(ctx, ownerFor(w), config(w))
		return framework.Result{Learned: child}, err
	}
	return s
}

// TestAnUpgradeRewritesTheFleetAtAPace steps the clock through the turns of a
// fleet whose children all want another label.
func TestAnUpgradeRewritesTheFleetAtAPace(t *testing.T) {
	t.Parallel()
	before, fleet := settle(t, 60)
	options, clock := stepped(rigOptions{namespace: before.namespace, script: labelled})
	r := start(t, options)
	applies := func() int { return r.faults.Count(frameworktest.By("apply")) }
	rewritten := func(want int) {
		t.Helper()
		r.eventually(func() error {
			if got := applies(); got != want || !r.controller.Idle() {
				return fmt.Errorf("want %d rewrites, got %d", want, got)
			}
			return nil
		})
	}
	rewritten(1)
	if got := r.program.BackingOff(); got != len(fleet)-1 {
		t.Errorf("want all others wait for their turn, got %d", got)
	}
	for step := range 20 {
		clock.Step(20 * time.Millisecond)
		rewritten(step + 2)
	}
	var left []string
	for _, name := range fleet {
		if r.configMap(name).Labels["upgraded"] == "" {
			left = append(left, name)
		}
	}
	r.create("red", "new")
	r.ready("new")
	r.recolor("blue", left[len(left)-1])
	r.ready(left[len(left)-1])
	rewritten(23)
	clock.Step(time.Minute)
	r.eventually(func() error {
		if got := applies(); got != len(fleet)+1 || r.program.BackingOff() != 0 {
			return fmt.Errorf("want all rewritten, got %d", got)
		}
		return nil
	})
	r.idle()
	if got := r.metric("fw_reconcile_total", map[string]string{"outcome": "paced"}); got < float64(len(fleet)-1) {
		t.Errorf("want passes that waited for their turn counted, got %v", got)
	}
}

// TestANewWidgetDoesNotWaitForAHerd has the periodic looks of a fleet fall due
// at once, for one worker that is held up by the first of them.
func TestANewWidgetDoesNotWaitForAHerd(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var order []string
	hold := make(chan struct{})
	blocked := make(chan struct{})
	block := once(func() { close(blocked); <-hold })
	watching := false
	options, clock := stepped(rigOptions{workers: 1, script: func(r *rig) *script {
		s := standard(r)
		plan := s.plan
		s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
			p := plan(now, w, seen)
			p.Wait, p.WaitFor = time.Hour, "another look"
			mu.Lock()
			seenBefore := watching
			if watching {
				order = append(order, w.Name)
			}
			mu.Unlock()
			if seenBefore {
				block()
			}
			return p
		}
		return s
	}})
	r := start(t, options)
	fleet := fleetOf(40)
	r.create("red", fleet...)
	r.ready(fleet...)
	r.idle()
	mu.Lock()
	watching = true
	mu.Unlock()
	clock.Step(2 * time.Hour)
	<-blocked
	r.eventually(func() error {
		if got := r.metric("fw_queue_depth", nil); got != 39 {
			return fmt.Errorf("want the herd due, got %v", got)
		}
		return nil
	})
	r.create("red", "new")
	r.eventually(func() error {
		if got := r.metric("fw_queue_depth", nil); got != 40 {
			return errors.New("the new widget is not due yet")
		}
		return nil
	})
	close(hold)
	r.ready("new")
	r.eventually(func() error {
		mu.Lock()
		defer mu.Unlock()
		if len(order) < 41 {
			return fmt.Errorf("want everybody's turn, got %d", len(order))
		}
		return nil
	})
	mu.Lock()
	defer mu.Unlock()
	if order[1] != "new" {
		t.Errorf("want the new widget next, got %v", order)
	}
}
