package framework_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// once makes a hook that does its work in the first call only.
func once(do func()) func() {
	var first sync.Once
	return func() { first.Do(do) }
}

// before has something happen just before an action, unseen by the caches.
func (s *script) before(a action, hook func(w *widget.Widget)) *script {
	act := s.acts[a]
	s.acts[a] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		hook(w)
		return act(ctx, w)
	}
	return s
}

// other is what somebody else says of a widget.
var other = map[string]any{"status": map[string]any{
	"foreign": "theirs",
	"conditions": []any{map[string]any{
		"type": "Other", "status": "True", "reason": "Theirs", "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z",
	}},
}}

func TestForeignStatusSurvives(t *testing.T) {
	t.Parallel()
	for _, at := range []action{finalize, apply} {
		t.Run("written before "+string(at), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{script: func(r *rig) *script {
				meddle := once(func() { r.change("w", other, "status") })
				return standard(r).before(at, func(*widget.Widget) { meddle() })
			}})
			r.faults.LagWatches(500 * time.Millisecond)
			r.run()
			r.create("red", "w")
			r.ready("w")
			w := r.get("w")
			if w.Status.Foreign != "theirs" || !meta.IsStatusConditionTrue(w.Status.Conditions, "Other") {
				t.Errorf("what another writer said was lost: %+v", w.Status)
			}
		})
	}
}

func TestABaselineIsNeverStale(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var saw []string
	wanted := "A"
	r := newRig(t, rigOptions{script: func(r *rig) *script {
		s := standard(r)
		s.plan = func(time.Time, *widget.Widget, world) framework.Plan[action] { return framework.Plan[action]{} }
		s.status = func(_ time.Time, w *widget.Widget, _ world, _ []framework.Done[action]) *widget.Widget {
			mu.Lock()
			defer mu.Unlock()
			saw = append(saw, w.Status.Note)
			out := w.DeepCopy()
			out.Status.Note = wanted
			return out
		}
		return s
	}})
	r.faults.LagWatches(700 * time.Millisecond)
	r.run()
	r.create("red", "w")
	note := func(note string) func() error {
		return func() error {
			if w := r.get("w"); w.Status.Note != note {
				return fmt.Errorf("want the note %q, got %q", note, w.Status.Note)
			}
			return nil
		}
	}
	r.eventually(note("A"))
	r.idle()
	want := func(note string) {
		mu.Lock()
		wanted = note
		mu.Unlock()
		r.wake("w")
	}
	want("B")
	r.eventually(note("B"))
	// The cache still shows A, which is what is wanted now.
	want("A")
	r.eventually(note("A"))
	r.idle()
	mu.Lock()
	defer mu.Unlock()
	if wrote := r.faults.Count(frameworktest.Writes); wrote != 3 {
		t.Errorf("want three writes, A, B and A, got %d", wrote)
	}
	// Equal baselines in a row are passes that wrote nothing.
	r.same("what the passes were judged on", []string{"", "A", "B", "A"}, slices.Compact(saw))
}

// TestANamesakeNeverGetsTheStatusOfTheDead deletes and recreates a widget in
// the middle of a pass.
func TestANamesakeNeverGetsTheStatusOfTheDead(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: func(r *rig) *script {
		s := standard(r)
		replace := once(func() {
			r.delete("w")
			r.create("blue", "w")
		})
		s.plan = func(time.Time, *widget.Widget, world) framework.Plan[action] { return framework.Plan[action]{} }
		s.status = func(_ time.Time, w *widget.Widget, _ world, _ []framework.Done[action]) *widget.Widget {
			replace()
			out := w.DeepCopy()
			out.Status.Note = string(w.UID)
			return out
		}
		return s
	}})
	seen := r.history()
	r.faults.LagWatches(300 * time.Millisecond)
	r.run()
	r.create("red", "w")
	r.eventually(func() error {
		w, err := r.user.Get(t.Context(), "w", metav1.GetOptions{})
		if err == nil && w.Status.Note != string(w.UID) {
			err = fmt.Errorf("want the note %s, got %q", w.UID, w.Status.Note)
		}
		return err
	})
	for _, w := range seen() {
		if w.Status.Note != "" && w.Status.Note != string(w.UID) {
			t.Errorf("the widget %s got the status of %s", w.UID, w.Status.Note)
		}
	}
}

// history watches the widgets as the user and returns all versions so far.
func (r *rig) history() func() []*widget.Widget {
	r.t.Helper()
	var mu sync.Mutex
	var all []*widget.Widget
	list, err := r.user.List(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	events, err := r.user.REST.Get().Namespace(r.namespace).Resource(r.widgets.Resource).
		VersionedParams(&metav1.ListOptions{Watch: true, ResourceVersion: list.ResourceVersion}, metav1.ParameterCodec).Watch(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(events.Stop)
	go func() {
		for e := range events.ResultChan() {
			if w, ok := e.Object.(*widget.Widget); ok && e.Type != watch.Bookmark {
				mu.Lock()
				all = append(all, w)
				mu.Unlock()
			}
		}
	}()
	return func() []*widget.Widget {
		mu.Lock()
		defer mu.Unlock()
		return append([]*widget.Widget(nil), all...)
	}
}
