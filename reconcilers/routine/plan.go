package routine

import (
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// The decisions.
const (
	noop          = "Noop"
	reportInvalid = "ReportInvalid"
	apply         = "Apply"
)

// Plan finds the row and what it takes.
func (r *Reconciler) Plan(now time.Time, routine *polychromev1alpha1.Routine, w World) framework.Plan[Action] {
	if routine.DeletionTimestamp != nil {
		return framework.Plan[Action]{Decision: noop}
	}
	says := judge(now, routine)
	if says.phase == polychromev1alpha1.RoutineInvalid {
		return framework.Plan[Action]{Decision: reportInvalid}
	}
	next := lookAfter(now, routine.UID, says)
	return framework.Plan[Action]{
		Decision: apply,
		Actions:  removals(routine, w),
		Wait:     next.after,
		WaitFor:  next.what,
		Spread:   next.spread,
	}
}

// removals take away the leftovers that are the routine's own and not going
// already.
func removals(routine *polychromev1alpha1.Routine, w World) []Action {
	var all []Action
	for _, found := range w.Leftovers {
		if found.Object.DeletionTimestamp == nil && ownedBy(routine, found.Object) {
			all = append(all, removal(found.Kind, found.Object))
		}
	}
	return all
}
