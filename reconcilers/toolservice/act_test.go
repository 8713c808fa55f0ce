package toolservice

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// What the framework provides must fit what is asked for here.
var _ ToolServices = (*framework.Resource[*polychromev1alpha1.ToolService])(nil)

func TestFinalizersComeAndGo(t *testing.T) {
	h := newHouse(t, func(context.Context, probe.Target) probe.Result { return good() })
	ts := held(deleting)
	h.services.shows(ts)
	h.r.prober.known[keyOf(ts)].memory = after(listed(two...))
	for _, kind := range []ActionKind{AddFinalizer, RemoveFinalizer} {
		if _, err := h.r.Act(t.Context(), ts, Action{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"add polychrome.dev/toolservice-cleanup to weather", "remove polychrome.dev/toolservice-cleanup from weather",
	}
	if diff := cmp.Diff(want, h.services.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if m := h.r.prober.look(ts); m.Last != nil {
		t.Errorf("the catalogue is still remembered: %+v", m.Last)
	}
}

func TestFailedWritesAreReported(t *testing.T) {
	h := newHouse(t, nil)
	h.services.err = errors.New("refused")
	for _, kind := range []ActionKind{AddFinalizer, RemoveFinalizer, "Nonsense"} {
		if _, err := h.r.Act(t.Context(), held(), Action{Kind: kind}); err == nil {
			t.Errorf("%s: want an error", kind)
		}
	}
}

func TestLettingGoGivesUpTheProbeUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		h := newHouse(t, func(ctx context.Context, _ probe.Target) probe.Result {
			<-ctx.Done()
			ended = true
			return good(two...)
		})
		h.has(held())
		h.run(1)
		ts := held(deleting)
		h.has(ts)
		h.run(1)
		synctest.Wait()
		if m := h.r.prober.look(ts); !ended || m.Last != nil || m.Flight != nil || h.r.Probes().Busy() {
			t.Errorf("want it given up and forgotten, got ended %t, %+v", ended, m)
		}
	})
}

func TestAnInvalidSpecIsNotProbed(t *testing.T) {
	h := newHouse(t, nil)
	ts := held(remotes())
	h.services.shows(ts)
	if _, err := h.r.Act(t.Context(), ts, Action{Kind: Probe}); err == nil || h.r.Probes().Busy() {
		t.Errorf("want an error and no probe, got %v", err)
	}
}
