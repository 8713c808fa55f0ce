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

// broken are the examples that are meant to fail, and the reason they give.
var broken = map[string]string{"taken": string(polychromev1alpha1.ReasonNameConflict)}

// row is one Conversation as the table shows it.
type row struct {
	name, phase, ready, reason, address, age string
	// settled is set once nothing more will happen by itself.
	settled bool
	// message explains the reason.
	message string
}

// absent is the row of a Conversation that is not there.
func absent(name string) row { return row{name: name, reason: "Absent"} }

// rowOf judges a Conversation. Where a generation is desired, a unit of
// another one is still to be replaced.
func rowOf(conv *polychromev1alpha1.Conversation, generation string, now time.Time) row {
	r := row{
		name:    conv.Name,
		phase:   string(conv.Status.Phase),
		address: conv.Status.PodIP,
		age:     duration.HumanDuration(now.Sub(conv.CreationTimestamp.Time)),
	}
	ready := meta.FindStatusCondition(conv.Status.Conditions, string(polychromev1alpha1.ConditionReady))
	if ready == nil {
		return r
	}
	r.ready, r.reason, r.message = string(ready.Status), ready.Reason, ready.Message
	rolled := generation == "" || conv.Status.HarnessImageGeneration == generation
	switch {
	case conv.DeletionTimestamp != nil || conv.Status.ObservedGeneration != conv.Generation:
	case ready.Status == metav1.ConditionTrue:
		r.settled = rolled
	default:
		// A run on kept state meets what a user closed in an earlier one.
		r.settled = ready.Reason == broken[conv.Name] || ready.Reason == string(polychromev1alpha1.ReasonClosed)
	}
	return r
}

// cells are what is shown, in the order of columns.
func (r row) cells() []string {
	return []string{r.name, cmp.Or(r.phase, "-"), cmp.Or(r.ready, "-"), cmp.Or(r.reason, "-"), cmp.Or(r.address, "-"), cmp.Or(r.age, "-")}
}

var columns = []string{"CONVERSATION", "PHASE", "READY", "REASON", "POD IP", "AGE"}

// same reports whether two rows tell a reader the same, apart from the age.
func (r row) same(other row) bool {
	return slices.Equal(r.cells()[:len(columns)-1], other.cells()[:len(columns)-1])
}
