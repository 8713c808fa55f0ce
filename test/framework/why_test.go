package framework_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// why asks the program about a widget until it answers with a state.
func (r *rig) why(name, state string) framework.Why {
	r.t.Helper()
	var found framework.Why
	r.eventually(func() error {
		why, err := r.program.Why(r.widgets.Resource, framework.Key{Namespace: r.namespace, Name: name})
		if err == nil && why.State != state {
			err = fmt.Errorf("want %s to be %s, got %q: %s", name, state, why.State, why.Detail)
		}
		found = why
		return err
	})
	return found
}

// moody is a script that follows the colors: an ugly widget is refused, a
// slow one waits for tea.
func moody(r *rig) *script {
	s := standard(r)
	act, plan := s.acts[apply], s.plan
	s.plan = func(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
		p := plan(now, w, seen)
		if w.Spec.Color == "slow" {
			p.Wait, p.WaitFor = time.Hour, "tea"
		}
		return p
	}
	s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
		if w.Spec.Color == "ugly" {
			return framework.Result{}, framework.Terminal("Ugly", "no such color")
		}
		return act(ctx, w)
	}
	return s
}

func TestWhyNothingHappensIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: moody})
	r.faults.Inject(frameworktest.Fault{Verb: "apply", Name: "failing", Status: http.StatusInternalServerError, Times: -1})
	r.run()
	r.create("red", "settled", "failing", "paused")
	r.create("ugly", "terminal")
	r.create("slow", "waiting")
	r.ready("settled", "paused")

	for name, state := range map[string]string{"settled": "settled", "terminal": "terminal", "absent": "absent"} {
		if why := r.why(name, state); why.Detail == "" || why.Until != nil {
			t.Errorf("%s: want a reason that no time ends, got %+v", name, why)
		}
	}
	why := r.why("failing", "backing off")
	if why.Until == nil || !strings.Contains(why.Detail, "failures in a row") {
		t.Errorf("want it told how often it has failed, and until when it waits, got %+v", why)
	}
	last := why.Decisions[len(why.Decisions)-1]
	if last.Outcome != "retry" || last.Class != framework.ClassTransient || !strings.Contains(last.Error, "injected status 500") || last.NextFor != "retry" {
		t.Errorf("want the failure among the decisions, got %+v", last)
	}
	why = r.why("waiting", "waiting")
	if why.Until == nil || !strings.Contains(why.Detail, "tea") {
		t.Fatalf("want it told what is waited for, got %+v", why)
	}
	if left := time.Until(*why.Until); left < 55*time.Minute || left > time.Hour {
		t.Errorf("want an hour left, got %s", left)
	}
	r.pause("paused", "true")
	if why := r.why("paused", "paused"); !strings.Contains(why.Detail, "example.test/paused") {
		t.Errorf("want the annotation named, got %q", why.Detail)
	}
	if _, err := r.program.Why("gadgets", framework.Key{}); err == nil || !strings.Contains(err.Error(), "widgets") {
		t.Errorf("want an error that names the controllers there are, got %v", err)
	}
}

// TestWhyAWidgetIsParkedIsTold freezes what the caches show.
func TestWhyAWidgetIsParkedIsTold(t *testing.T) {
	t.Parallel()
	n := newNoted("one")
	r := start(t, rigOptions{script: n.script})
	r.create("red", "w")
	r.says("w", "one")
	r.idle()
	r.faults.FreezeAllWatches()
	n.note.Store("two")
	r.wake("w")
	r.says("w", "two")
	r.wake("w")
	if why := r.why("w", "parked"); !strings.Contains(why.Detail, "widgets.example.test") || why.Until != nil {
		t.Errorf("want the cache named, got %+v", why)
	}
	if got := r.program.BackingOff(); got != 0 {
		t.Errorf("want a parked widget not to back off, got %d", got)
	}
	r.faults.ThawWatches()
	r.why("w", "settled")
	r.same("failed passes and retries", []float64{0, 0}, []float64{r.failures(""), r.metric("fw_retries_total", nil)})
}

func TestWhyNobodyWorksIsTold(t *testing.T) {
	t.Parallel()
	config := cluster.Shared(t)
	define(t, config)
	namespace := cluster.Namespace(t, config)
	access, grant := limited(t, config, namespace)
	grant("widgets", "widgets/status")
	asleep := start(t, rigOptions{config: config, access: access, namespace: namespace})
	asleep.create("red", "w")
	asleep.eventually(func() error {
		why, err := asleep.program.Why("widgets", framework.Key{Namespace: namespace, Name: "w"})
		if err == nil && (why.State != "dormant" || !strings.Contains(why.Detail, "configmaps") || !strings.Contains(why.Detail, "forbidden")) {
			err = fmt.Errorf("want it dormant for want of a right, got %+v", why)
		}
		return err
	})
	grant("configmaps")
	asleep.ready("w")
	asleep.why("w", "settled")
	watcher := start(t, rigOptions{config: config, namespace: namespace, manager: func(o *framework.ManagerOptions) { o.ReadOnly = true }})
	watcher.why("w", "not leading")
}

// TestAlikePassesAreOneDecision looks at a settled widget again and again.
func TestAlikePassesAreOneDecision(t *testing.T) {
	t.Parallel()
	metrics := must(net.Listen("tcp", "127.0.0.1:0"))
	r := start(t, rigOptions{manager: func(o *framework.ManagerOptions) { o.Metrics = metrics }})
	r.create("red", "w", "other")
	r.ready("w", "other")
	r.idle()
	before := len(r.why("w", "settled").Decisions)
	for range 20 {
		r.wake("w")
		r.idle()
		r.wake("other")
		r.idle()
	}
	r.recolor("blue", "other")
	r.ready("other")
	decisions := r.why("w", "settled").Decisions
	if len(decisions) != before+1 {
		t.Fatalf("want twenty passes in one decision, got %d more: %+v", len(decisions)-before, decisions)
	}
	last := decisions[before]
	if last.Count != 20 || !slices.Equal(last.Causes, []string{"trigger"}) || last.Outcome != "done" || last.Decision != "keep" || !last.First.Before(last.Last) {
		t.Errorf("want twenty passes that a trigger caused, got %+v", last)
	}
	acted := slices.IndexFunc(decisions, func(d framework.Decision) bool { return d.Writes > 0 })
	if acted < 0 || !slices.Equal(decisions[acted].Actions, []string{"finalize", "apply"}) || decisions[acted].Tried != 2 || decisions[acted].Writes != 3 {
		t.Errorf("want the pass that did it all told, got %+v", decisions)
	}

	_, body := fetch(t, metrics, "/debug/decisions")
	var all struct{ Decisions []framework.Decision }
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatalf("reading the decisions: %v in %s", err, body)
	}
	if !slices.ContainsFunc(all.Decisions, func(d framework.Decision) bool { return d.Name == "w" && d.Count == 20 }) ||
		!slices.ContainsFunc(all.Decisions, func(d framework.Decision) bool { return d.Name == "other" }) {
		t.Errorf("want the decisions on both widgets served, got %s", body)
	}
	query := url.Values{"controller": {"widgets"}, "namespace": {r.namespace}, "name": {"w"}}
	_, body = fetch(t, metrics, "/debug/decisions?"+query.Encode())
	var why framework.Why
	if err := json.Unmarshal([]byte(body), &why); err != nil || why.State != "settled" || len(why.Decisions) != before+1 {
		t.Errorf("want why the widget is as it is, got %v: %s", err, body)
	}
	query.Set("controller", "gadgets")
	if code, body := fetch(t, metrics, "/debug/decisions?"+query.Encode()); code != http.StatusNotFound {
		t.Errorf("want no such controller, got %d: %s", code, body)
	}
}

// TestAPreviewTellsAndWritesNothing looks at widgets that another program
// left in different states.
func TestAPreviewTellsAndWritesNothing(t *testing.T) {
	t.Parallel()
	before := start(t, rigOptions{})
	names := []string{"drifted", "paused", "settled", "stale"}
	before.create("red", names...)
	before.ready(names...)
	before.idle()
	before.stop()
	<-before.ended
	before.recolor("blue", "drifted", "paused")
	before.pause("paused", "true")
	before.change("stale", map[string]any{"status": map[string]any{"note": "theirs"}}, "status")
	before.create("red", "new")

	r := start(t, rigOptions{namespace: before.namespace, manager: func(o *framework.ManagerOptions) { o.ReadOnly = true }})
	if !r.program.Warm(t.Context()) {
		t.Fatal("the caches did not fill")
	}
	type change struct {
		Actions []string
		Status  any
		Paused  bool
		Changes bool
	}
	got := map[string]change{}
	for _, p := range r.program.Previews(t.Context(), func(controller string, key framework.Key) bool {
		return controller == "widgets" && key.Name != "skipped"
	}) {
		if p.Error != "" {
			t.Errorf("%s: want no error, got %s", p.Name, p.Error)
		}
		got[p.Name] = change{p.Actions, p.Status["note"], p.Paused, p.Changes()}
	}
	r.same("previews", map[string]change{
		"drifted": {Actions: []string{"apply"}, Changes: true},
		"paused":  {Actions: []string{"apply"}, Paused: true},
		"settled": {},
		"stale":   {Status: "red", Changes: true},
		"new":     {Actions: []string{"finalize", "apply"}, Changes: true},
	}, got)

	r.wake("drifted")
	if err := r.parents.AddFinalizer(t.Context(), r.get("new"), finalizer); err == nil {
		t.Error("want a write refused")
	}
	if got := r.writes(); got != nil {
		t.Errorf("want nothing written, got %v", got)
	}
	if r.program.Leading() || len(r.program.Decisions()) != 0 {
		t.Errorf("want no pass, got %+v", r.program.Decisions())
	}
}

// TestAPreviewOfWhatCannotBeReadDecidesNothing has no right to the children:
// they are not gone, they are only not seen.
func TestAPreviewOfWhatCannotBeReadDecidesNothing(t *testing.T) {
	t.Parallel()
	config := cluster.Shared(t)
	define(t, config)
	namespace := cluster.Namespace(t, config)
	access, grant := limited(t, config, namespace)
	grant("widgets", "widgets/status")
	r := start(t, rigOptions{config: config, access: access, namespace: namespace, manager: func(o *framework.ManagerOptions) { o.ReadOnly = true }})
	r.create("red", "w")
	r.eventually(func() error {
		if len(r.parents.List()) != 1 || !r.program.Warm(t.Context()) {
			return errors.New("the cache is not filled")
		}
		return nil
	})
	for _, p := range r.program.Previews(t.Context(), func(string, framework.Key) bool { return true }) {
		if p.Changes() {
			t.Errorf("want no change told on what cannot be seen, got %+v", p)
		}
	}
}
