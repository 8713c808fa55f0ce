package main

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// broken are the examples that are meant to fail, and the reasons they give.
var broken = map[string][]polychromev1alpha1.Reason{
	"conversation/taken":      {polychromev1alpha1.ReasonNameConflict},
	"servicedefinition/taken": {polychromev1alpha1.ReasonNameConflict},
	// After ten minutes, which a second run may be, the rollout has failed.
	"servicedefinition/unpullable": {polychromev1alpha1.ReasonImagePullBackOff, polychromev1alpha1.ReasonProgressDeadlineExceeded},
	"workflow/circular":            {polychromev1alpha1.ReasonDependencyCycle},
	"toolservice/unreachable":      {polychromev1alpha1.ReasonConnectionRefused},
	"routine/never":                {polychromev1alpha1.ReasonNeverFires},
}

// row is one object as the table shows it.
type row struct {
	id, phase, ready, reason, detail, age string
	// settled is set once nothing more will happen by itself.
	settled bool
	// message explains the reason.
	message string
}

// absent is the row of an object that is not there.
func absent(id string) row { return row{id: id, reason: "Absent"} }

// rowOf judges an object. Where a generation is desired, a unit of another
// one is still to be replaced.
func rowOf(i item, generation string, now time.Time) row {
	r := row{
		id: i.id, phase: i.phase, detail: i.detail,
		age: duration.HumanDuration(now.Sub(i.meta.CreationTimestamp.Time)),
	}
	ready := meta.FindStatusCondition(i.conditions, string(polychromev1alpha1.ConditionReady))
	if ready == nil {
		return r
	}
	r.ready, r.reason, r.message = string(ready.Status), ready.Reason, ready.Message
	rolled := generation == "" || i.rollsTo == "" || i.rollsTo == generation
	switch {
	case i.meta.DeletionTimestamp != nil || i.observed != i.meta.Generation:
	case ready.Status == metav1.ConditionTrue:
		r.settled = rolled
	default:
		// A run on kept state meets what a user closed in an earlier one.
		reason := polychromev1alpha1.Reason(ready.Reason)
		r.settled = slices.Contains(broken[i.id], reason) || reason == polychromev1alpha1.ReasonClosed
	}
	return r
}

// cells are what is shown, in the order of columns.
func (r row) cells() []string {
	return []string{r.id, cmp.Or(r.phase, "-"), cmp.Or(r.ready, "-"), cmp.Or(r.reason, "-"), cmp.Or(r.detail, "-"), cmp.Or(r.age, "-")}
}

var columns = []string{"OBJECT", "PHASE", "READY", "REASON", "DETAIL", "AGE"}

// same reports whether two rows tell a reader the same, apart from the age.
func (r row) same(other row) bool {
	return slices.Equal(r.cells()[:len(columns)-1], other.cells()[:len(columns)-1])
}
