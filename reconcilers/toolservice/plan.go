package toolservice

import (
	"slices"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// rules are the settings that decisions depend on.
type rules struct {
	// allowLoopback lets a server be on this very host.
	allowLoopback bool
}

// row is a row of the decision table.
type row int

// The rows, in the order in which they are tried.
const (
	rowRemoveFinalizer row = iota
	rowNoop
	rowAddFinalizer
	rowReportInvalid
	rowProbe
	rowProbing
	rowWait
)

// String is the row's name for people.
func (r row) String() string {
	return [...]string{"RemoveFinalizer", "Noop", "AddFinalizer", "ReportInvalid", "Probe", "Probing", "Wait"}[r]
}

// decide finds the row. The first that fits wins.
func (p rules) decide(now time.Time, ts *polychromev1alpha1.ToolService, m Memory) row {
	held := slices.Contains(ts.Finalizers, polychromev1alpha1.ToolServiceFinalizer)
	switch {
	case ts.DeletionTimestamp != nil && held:
		return rowRemoveFinalizer
	case ts.DeletionTimestamp != nil:
		return rowNoop
	case !held:
		return rowAddFinalizer
	}
	if _, wrong := p.target(&ts.Spec); wrong.reason != "" {
		return rowReportInvalid
	}
	switch {
	case m.Flight != nil && *m.Flight == askOf(ts):
		return rowProbing
	case due(now, ts, m).After(now):
		return rowWait
	}
	return rowProbe
}

// Plan turns the row into an action or a wait. A probe under way ends with a
// pass, so nothing is waited for then.
func (r *Reconciler) Plan(now time.Time, ts *polychromev1alpha1.ToolService, w World) framework.Plan[Action] {
	chosen := r.decide(now, ts, w.Memory)
	plan := framework.Plan[Action]{Decision: chosen.String(), Events: r.events(ts, w.Memory, chosen)}
	switch chosen {
	case rowRemoveFinalizer:
		plan.Actions = []Action{{Kind: RemoveFinalizer}}
	case rowAddFinalizer:
		plan.Actions = []Action{{Kind: AddFinalizer}}
	case rowProbe:
		// It writes nothing, and has a limit of its own.
		plan.Actions, plan.Unpaced = []Action{{Kind: Probe}}, true
	case rowWait:
		plan.Wait, plan.WaitFor = due(now, ts, w.Memory).Sub(now), "the next probe"
	}
	return plan
}

// events tell of a catalogue that is not the one in the status any more. The
// first one is no change.
func (p rules) events(ts *polychromev1alpha1.ToolService, m Memory, chosen row) []framework.Event {
	last, fresh := p.news(ts, m, chosen)
	if !fresh || !last.ok() || ts.Status.CatalogHash == "" || ts.Status.CatalogHash == last.Catalog.Hash {
		return nil
	}
	return []framework.Event{changesSince(&ts.Status, last.Catalog).event(len(last.Catalog.Names), last.At)}
}
