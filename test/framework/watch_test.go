package framework_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// noted is a script whose status is a note, and that counts its passes.
type noted struct {
	note   atomic.Value
	passes atomic.Int64
	mu     sync.Mutex
	saw    []string
}

func (n *noted) script(r *rig) *script {
	s := standard(r)
	s.plan = func(time.Time, *widget.Widget, world) framework.Plan[action] { return framework.Plan[action]{} }
	s.status = func(_ time.Time, w *widget.Widget, _ world, _ []framework.Done[action]) *widget.Widget {
		n.passes.Add(1)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.saw = append(n.saw, w.Status.Note)
		out := w.DeepCopy()
		out.Status.Note = n.note.Load().(string)
		return out
	}
	return s
}

func newNoted(note string) *noted {
	n := &noted{}
	n.note.Store(note)
	return n
}

// says waits until a widget has a note.
func (r *rig) says(name, note string) {
	r.t.Helper()
	r.eventually(func() error {
		w, err := r.user.Get(r.t.Context(), name, getOptions)
		if err == nil && w.Status.Note != note {
			err = fmt.Errorf("want %s to say %q, got %q", name, note, w.Status.Note)
		}
		return err
	})
}

// TestAFrozenWatchIsStartedAnew has a watch go dumb: nothing is decided on
// what it does not show, nobody else is asked all the time, and it heals.
func TestAFrozenWatchIsStartedAnew(t *testing.T) {
	t.Parallel()
	n := newNoted("one")
	r := start(t, rigOptions{script: n.script})
	r.create("red", "w")
	r.says("w", "one")
	r.idle()
	r.faults.FreezeWatches()
	r.faults.Forget()
	frozen := time.Now()
	n.note.Store("two")
	r.wake("w")
	r.says("w", "two")
	n.note.Store("three")
	r.eventually(func() error {
		if r.wake("w"); r.metric("fw_parked_objects", nil) == 0 {
			return fmt.Errorf("want a widget whose cache is late parked")
		}
		return nil
	})
	r.eventually(func() error {
		if got := r.faults.Count(frameworktest.Watches, frameworktest.On("widgets")); got == 0 {
			return fmt.Errorf("the watch was not started anew")
		}
		return nil
	})
	if took := time.Since(frozen); took < 4*time.Second {
		t.Errorf("a watch was given up after %s", took)
	}
	r.says("w", "three")
	r.idle()
	n.mu.Lock()
	defer n.mu.Unlock()
	r.same("what the passes were judged on", []string{"", "one", "two", "three"}, slices.Compact(n.saw))
	if got := n.passes.Load(); got > 8 {
		t.Errorf("want a late cache to stop passes, got %d: %q", got, n.saw)
	}
	if got := r.faults.Count(frameworktest.By("get"), frameworktest.On("widgets")); got < 1 || got > 5 {
		t.Errorf("want a question now and then, got %d", got)
	}
	if got := r.metric("fw_parked_in_vain_total", nil); got != 0 {
		t.Errorf("want no note dropped, got %v", got)
	}
}

// TestTheServerDiesAndComesBack kills the API server under the program.
func TestTheServerDiesAndComesBack(t *testing.T) {
	t.Parallel()
	server := cluster.Start(t, cluster.Options{APIOnly: true})
	if err := widget.Define(t.Context(), server.Config()); err != nil {
		t.Fatal(err)
	}
	n := newNoted("one")
	r := start(t, rigOptions{config: server.Config(), script: n.script})
	fleet := fleetOf(50)
	r.create("red", fleet...)
	for _, name := range fleet {
		r.says(name, "one")
	}
	server.Kill()
	n.note.Store("two")
	for _, name := range fleet {
		r.wake(name)
	}
	r.eventually(func() error {
		if got := r.failures(framework.ClassTransient); got < 100 {
			return fmt.Errorf("want two failed passes each, got %v", got)
		}
		return nil
	})
	server.Restart()
	back := time.Now()
	for _, name := range fleet {
		r.says(name, "two")
	}
	n.note.Store("three")
	r.recolor("blue", fleet...)
	for _, name := range fleet {
		r.says(name, "three")
	}
	r.idle()
	t.Logf("all was well %s after the server was back", time.Since(back).Round(time.Millisecond))
	if got := r.failures("") / float64(len(fleet)); got > 8 {
		t.Errorf("want a few failed passes for each widget, got %v", got)
	}
	if got := r.failures("") - r.failures(framework.ClassTransient) - r.failures(framework.ClassConflict) - r.failures(framework.ClassThrottled); got != 0 {
		t.Errorf("want transient failures only, got %v others", got)
	}
}
