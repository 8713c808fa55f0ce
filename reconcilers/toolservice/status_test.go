package toolservice

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// said is what people see first of a status.
type said struct {
	Phase                     polychromev1alpha1.ToolServicePhase
	Ready, Reachable, Stalled string
	Message                   string
	Observed                  int64
	Tools                     []string
	ToolCount                 int32
}

func saidBy(ts *polychromev1alpha1.ToolService) said {
	s := said{
		Phase: ts.Status.Phase, Message: ts.Status.Message, Observed: ts.Status.ObservedGeneration, ToolCount: ts.Status.ToolCount,
		Ready:     condition(ts, polychromev1alpha1.ConditionReady),
		Reachable: condition(ts, polychromev1alpha1.ConditionReachable),
		Stalled:   condition(ts, polychromev1alpha1.ConditionStalled),
	}
	for _, t := range ts.Status.Tools {
		s.Tools = append(s.Tools, t.Name)
	}
	return s
}

var well = said{
	Phase: polychromev1alpha1.ToolServiceReady, Ready: "True CatalogListed: as listed", Reachable: "True ServerResponds: the server answers",
	Observed: 1, Tools: []string{"alerts", "forecast"}, ToolCount: 2,
}

func TestStatusTells(t *testing.T) {
	const (
		ok      = polychromev1alpha1.ReasonCatalogListed
		timeout = polychromev1alpha1.ReasonTimeout
	)
	unwell := func(change func(*said)) said {
		s := well
		s.Phase, s.Message = polychromev1alpha1.ToolServiceUnreachable, "it failed"
		s.Ready, s.Reachable = "False Timeout: it failed", "False Timeout: it failed"
		change(&s)
		return s
	}
	listless := func(s *said) { s.Tools, s.ToolCount = nil, 0 }
	of := func(o *Outcome, generation int64) *Outcome {
		o.Generation = generation
		return o
	}
	cases := map[string]struct {
		ts     *polychromev1alpha1.ToolService
		memory Memory
		want   said
	}{
		"the first good probe decides": {held(), after(listed(two...)), well},
		"the first bad probe decides":  {held(), after(failed(timeout, 1)), unwell(listless)},
		"the first bad probe of a new spec decides, and the last good list stays": {
			told(ok, generation(2)), after(of(failed(timeout, 1), 2)), unwell(func(s *said) { s.Observed = 2 }),
		},
		"the third bad probe decides":     {told(ok), after(failed(timeout, 3)), unwell(func(*said) {})},
		"one good probe is enough":        {told(timeout), after(listed(two...)), well},
		"another failure is told at once": {told(polychromev1alpha1.ReasonDNSFailed), after(failed(timeout, 1)), unwell(listless)},
		"401 is reachable": {
			held(), after(failed(polychromev1alpha1.ReasonAuthRequired, 1)),
			said{
				Phase: polychromev1alpha1.ToolServiceDegraded, Message: "it failed", Observed: 1,
				Ready: "False AuthRequired: it failed", Reachable: "True AuthRequired: it failed",
			},
		},
		"a missing Secret says nothing of the server": {
			held(), after(failed(polychromev1alpha1.ReasonSecretNotFound, 1)),
			said{
				Phase: polychromev1alpha1.ToolServiceDegraded, Message: "it failed", Observed: 1,
				Ready: "False SecretNotFound: it failed", Reachable: "Unknown SecretNotFound: it failed",
			},
		},
		"what is blocked when dialled is told at once": {
			told(ok), after(failed(polychromev1alpha1.ReasonURLBlocked, 1)),
			unwell(func(s *said) {
				s.Phase = polychromev1alpha1.ToolServiceInvalid
				s.Ready, s.Reachable, s.Stalled = "False URLBlocked: it failed", "False URLBlocked: it failed", "True URLBlocked: it failed"
			}),
		},
		"a spec that has become valid is not Stalled any more": {
			told(polychromev1alpha1.ReasonNoRemote, generation(2)), after(of(listed(two...), 2)),
			said{
				Phase: well.Phase, Ready: well.Ready, Reachable: well.Reachable, Observed: 2, Tools: well.Tools, ToolCount: 2,
			},
		},
		"a probe due again does not take back what the last one found": {held(annotated("again")), after(listed(two...)), well},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			before := test.ts.DeepCopy()
			got := (&Reconciler{}).Status(now, test.ts, World{Memory: test.memory}, nil)
			if diff := cmp.Diff(test.want, saidBy(got)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if got.Status.Ready != meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
				t.Errorf("ready is %t", got.Status.Ready)
			}
			if diff := cmp.Diff(before, test.ts); diff != "" {
				t.Errorf("the object was changed (-want +got):\n%s", diff)
			}
			if again := (&Reconciler{}).Status(now.Add(time.Minute), got, World{Memory: test.memory}, nil); again != got {
				t.Errorf("it is written again: %s", cmp.Diff(got, again))
			}
		})
	}
}

func TestStatusStays(t *testing.T) {
	const ok = polychromev1alpha1.ReasonCatalogListed
	cases := map[string]struct {
		ts     *polychromev1alpha1.ToolService
		memory Memory
	}{
		"before the first probe":                         {held(), Memory{Since: now}},
		"while a probe is under way":                     {held(), Memory{Since: now, Flight: &Ask{Generation: 1}}},
		"after one bad probe":                            {told(ok), after(failed(polychromev1alpha1.ReasonTimeout, 1))},
		"after two":                                      {told(ok), after(failed(polychromev1alpha1.ReasonAuthRequired, 2))},
		"after a probe that could not be made":           {told(ok), after(&Outcome{Ask: Ask{Generation: 1}, Tries: 9})},
		"after the first probe, which could not be made": {held(), after(&Outcome{Ask: Ask{Generation: 1}, Tries: 1})},
		"after a probe of an older spec":                 {held(generation(2)), after(listed(two...))},
		"while an invalid spec is held":                  {bare(remotes()), Memory{}},
		"while it is let go":                             {held(deleting), after(listed(two...))},
		"while somebody else holds it":                   {bare(deleting), after(listed(two...))},
		"after a restart":                                {told(ok), Memory{Since: now, First: Ask{Generation: 1}}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (&Reconciler{}).Status(now, test.ts, World{Memory: test.memory}, nil); got != test.ts {
				t.Errorf("want no change, got (-have +got):\n%s", cmp.Diff(test.ts, got))
			}
		})
	}
}

func TestAnInvalidSpecIsTold(t *testing.T) {
	ts := told(polychromev1alpha1.ReasonCatalogListed, remotes(), generation(2))
	got := (&Reconciler{}).Status(now, ts, World{}, nil)
	why := "spec.remotes has no remote of type streamable-http, the only one that can be probed; add one"
	want := said{
		Phase: polychromev1alpha1.ToolServiceInvalid, Message: why, Observed: 2, Tools: well.Tools, ToolCount: 2,
		Ready: "False NoRemote: " + why, Reachable: "False NoRemote: " + why, Stalled: "True NoRemote: " + why,
	}
	if diff := cmp.Diff(want, saidBy(got)); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestStatusKeepsWhatIsNotItsOwn(t *testing.T) {
	got := (&Reconciler{}).Status(now, held(foreign), World{Memory: after(listed(two...))}, nil)
	if condition(got, "Elsewhere") != "True Theirs: " {
		t.Errorf("the condition of somebody else is gone: %+v", got.Status.Conditions)
	}
}

func TestTextsOfAServerAreBounded(t *testing.T) {
	last := listed(two...)
	long := strings.Repeat("ö", 2000)
	last.Server = probe.ServerInfo{Name: long, Version: long, ProtocolVersion: long}
	s := (&Reconciler{}).Status(now, held(), World{Memory: after(last)}, nil).Status
	bad := failed(polychromev1alpha1.ReasonRPCError, 1)
	bad.Message = long
	told := (&Reconciler{}).Status(now, held(), World{Memory: after(bad)}, nil)
	for limit, texts := range map[int][]string{
		253:  {s.ServerInfo.Name, s.ServerInfo.Version, s.ServerInfo.ProtocolVersion},
		1024: {told.Status.Message, meta.FindStatusCondition(told.Status.Conditions, "Ready").Message},
	} {
		for _, text := range texts {
			if len(text) > limit || len(text) < limit-8 || !utf8.ValidString(text) {
				t.Errorf("want just under %d bytes, got %d", limit, len(text))
			}
		}
	}
}

func TestAStoredListThatShowsTheSameStays(t *testing.T) {
	ts := told(polychromev1alpha1.ReasonCatalogListed)
	ts.Status.Tools[0].InputSchema.Raw = []byte(`{ "type" : "object" }`)
	ts.Status.Conditions[0].Message = "as listed"
	got := (&Reconciler{}).Status(now, ts, World{Memory: after(listed(two...))}, nil)
	if got != ts {
		t.Errorf("want no change, got (-have +got):\n%s", cmp.Diff(ts, got))
	}
	ts.Status.Tools[0].Description = "overwritten"
	got = (&Reconciler{}).Status(now, ts, World{Memory: after(listed(two...))}, nil)
	if got.Status.Tools[0].Description != "does alerts" {
		t.Errorf("want what was overwritten mended, got %+v", got.Status.Tools[0])
	}
}

func TestMemoryCountsInARow(t *testing.T) {
	type counts struct{ Failures, Tries, Count int }
	ofGeneration := func(generation int64, reason polychromev1alpha1.Reason) Outcome {
		return Outcome{Ask: Ask{Generation: generation}, Reason: reason}
	}
	const bad, ok = polychromev1alpha1.ReasonTimeout, polychromev1alpha1.ReasonCatalogListed
	var m Memory
	for i, step := range []struct {
		outcome Outcome
		want    counts
	}{
		{ofGeneration(1, bad), counts{1, 1, 1}},
		{ofGeneration(1, bad), counts{2, 2, 2}},
		{ofGeneration(1, ""), counts{2, 3, 3}},
		{ofGeneration(1, bad), counts{3, 4, 4}},
		{ofGeneration(1, ok), counts{0, 0, 5}},
		{ofGeneration(1, bad), counts{1, 1, 6}},
		{ofGeneration(2, bad), counts{1, 1, 7}},
	} {
		m.Flight = &step.outcome.Ask
		m = m.ended(step.outcome)
		if got := (counts{m.Last.Failures, m.Last.Tries, m.Last.Count}); got != step.want || m.Flight != nil {
			t.Errorf("step %d: want %+v, got %+v, flight %v", i, step.want, got, m.Flight)
		}
	}
}
