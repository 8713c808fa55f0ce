package toolservice

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

type planCase struct {
	ts           *polychromev1alpha1.ToolService
	memory       Memory
	wantDecision string
	wantActions  []Action
	// wantWait is whether anything is waited for.
	wantWait bool
}

var planCases = map[string]planCase{
	"one that is deleted and held is let go": {
		ts: held(deleting), wantDecision: "RemoveFinalizer", wantActions: []Action{{Kind: RemoveFinalizer}},
	},
	"one that is deleted while a probe is under way is let go": {
		ts: held(deleting), memory: Memory{Flight: &Ask{Generation: 1}},
		wantDecision: "RemoveFinalizer", wantActions: []Action{{Kind: RemoveFinalizer}},
	},
	"one that is deleted and not held by us is left alone": {ts: bare(deleting), wantDecision: "Noop"},
	"a new one is held first": {
		ts: bare(), wantDecision: "AddFinalizer", wantActions: []Action{{Kind: AddFinalizer}},
	},
	"an invalid one is held too": {
		ts: bare(remotes()), wantDecision: "AddFinalizer", wantActions: []Action{{Kind: AddFinalizer}},
	},
	"an invalid one waits for another spec": {ts: held(remotes()), wantDecision: "ReportInvalid"},
	"a reserved Secret is invalid":          {ts: held(bearer("polychrome-wallet-key-7", "")), wantDecision: "ReportInvalid"},
	"one that was never probed is probed": {
		ts: held(), memory: Memory{Since: now}, wantDecision: "Probe", wantActions: []Action{{Kind: Probe}},
	},
	"one whose spec has changed is probed": {
		ts: told(polychromev1alpha1.ReasonCatalogListed, generation(2)), memory: after(listed(two...)),
		wantDecision: "Probe", wantActions: []Action{{Kind: Probe}},
	},
	"one whose spec had changed before the start is probed": {
		ts: told(polychromev1alpha1.ReasonCatalogListed, generation(2)), memory: Memory{Since: now, First: Ask{Generation: 2}},
		wantDecision: "Probe", wantActions: []Action{{Kind: Probe}},
	},
	"one whose annotation has changed is probed": {
		ts: told(polychromev1alpha1.ReasonCatalogListed, annotated("again")), memory: after(listed(two...)),
		wantDecision: "Probe", wantActions: []Action{{Kind: Probe}},
	},
	"one whose annotation has changed since the start is probed": {
		ts: told(polychromev1alpha1.ReasonCatalogListed, annotated("again")), memory: Memory{Since: now},
		wantDecision: "Probe", wantActions: []Action{{Kind: Probe}},
	},
	"one whose interval is over is probed": {
		ts:           told(polychromev1alpha1.ReasonCatalogListed),
		memory:       after(&Outcome{Ask: Ask{Generation: 1}, At: now.Add(-70 * time.Second), Reason: polychromev1alpha1.ReasonCatalogListed}),
		wantDecision: "Probe", wantActions: []Action{{Kind: Probe}},
	},
	"one that was just probed waits": {
		ts: told(polychromev1alpha1.ReasonCatalogListed), memory: after(listed(two...)), wantDecision: "Wait", wantWait: true,
	},
	"one that an earlier process has probed waits for its moment": {
		ts: told(polychromev1alpha1.ReasonCatalogListed), memory: Memory{Since: now, First: Ask{Generation: 1}},
		wantDecision: "Wait", wantWait: true,
	},
	"a probe under way brings the next pass": {
		ts: held(), memory: Memory{Since: now, Flight: &Ask{Generation: 1}}, wantDecision: "Probing",
	},
	"a probe of an older spec is overtaken": {
		ts: held(generation(2)), memory: Memory{Since: now, Flight: &Ask{Generation: 1}},
		wantDecision: "Probe", wantActions: []Action{{Kind: Probe}},
	},
	"a probe before the annotation changed is overtaken": {
		ts: held(annotated("again")), memory: Memory{Since: now, Flight: &Ask{Generation: 1}},
		wantDecision: "Probe", wantActions: []Action{{Kind: Probe}},
	},
}

func TestPlan(t *testing.T) {
	for name, test := range planCases {
		t.Run(name, func(t *testing.T) {
			plan := (&Reconciler{}).Plan(now, test.ts, World{Memory: test.memory})
			if plan.Decision != test.wantDecision {
				t.Errorf("want the decision %s, got %s", test.wantDecision, plan.Decision)
			}
			if diff := cmp.Diff(test.wantActions, plan.Actions); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if waits := plan.Wait > 0; waits != test.wantWait || plan.Spread || waits && plan.WaitFor == "" {
				t.Errorf("want a wait %t, got %s for %q, spread %t", test.wantWait, plan.Wait, plan.WaitFor, plan.Spread)
			}
			if probes := plan.Decision == "Probe"; plan.Unpaced != probes {
				t.Errorf("want probes alone unpaced, got %t", plan.Unpaced)
			}
		})
	}
}

func TestAWaitEndsExactlyWhenTheProbeIsDue(t *testing.T) {
	ts, w := told(polychromev1alpha1.ReasonCatalogListed), World{Memory: after(listed(two...))}
	wait := (&Reconciler{}).Plan(now, ts, w).Wait
	if got := (&Reconciler{}).Plan(now.Add(wait-1), ts, w); got.Decision != "Wait" || got.Wait != 1 {
		t.Errorf("a moment before: want a wait of that moment, got %s and %s", got.Decision, got.Wait)
	}
	if got := (&Reconciler{}).Plan(now.Add(wait), ts, w); got.Decision != "Probe" {
		t.Errorf("want a probe, got %s", got.Decision)
	}
}

func TestPlanTellsOfAChangedCatalogue(t *testing.T) {
	changed := tool("alerts")
	changed.DestructiveHint = new(true)
	cases := map[string]struct {
		ts     *polychromev1alpha1.ToolService
		memory Memory
		want   []framework.Event
	}{
		"the first list is no change":             {ts: held(), memory: after(listed(two...))},
		"the same list is no change":              {ts: told(polychromev1alpha1.ReasonCatalogListed), memory: after(listed(two...))},
		"a failure says nothing of the list":      {ts: told(polychromev1alpha1.ReasonCatalogListed), memory: after(failed(polychromev1alpha1.ReasonTimeout, 9))},
		"a list of another spec is not looked at": {ts: told(polychromev1alpha1.ReasonCatalogListed, generation(2)), memory: after(listed(tool("a")))},
		"what is new, gone and other is named": {
			ts: told(polychromev1alpha1.ReasonCatalogListed), memory: after(listed(tool("radar"), changed)),
			want: []framework.Event{{
				Warning: true, Reason: "ToolsChanged",
				Message: `at 08:00:00Z, 2 in all: now destructive "alerts"; added "radar"; removed "forecast"; changed "alerts"`,
			}},
		},
		"no Warning without a destructive hint": {
			ts: told(polychromev1alpha1.ReasonCatalogListed), memory: after(listed(tool("alerts"))),
			want: []framework.Event{{Reason: "ToolsChanged", Message: `at 08:00:00Z, 1 in all: removed "forecast"`}},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := (&Reconciler{}).Plan(now, test.ts, World{Memory: test.memory}).Events
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
