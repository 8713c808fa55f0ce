package routine

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/conditions"
)

// Status is the routine as it should be seen. Removing the leftovers of older
// releases has no part in it: they say nothing of the schedule.
func (r *Reconciler) Status(
	now time.Time, routine *polychromev1alpha1.Routine, _ World, _ []framework.Done[Action],
) *polychromev1alpha1.Routine {
	if routine.DeletionTimestamp != nil {
		return routine
	}
	says := judge(now, routine)
	changed := routine.DeepCopy()
	s := &changed.Status
	s.ObservedGeneration = routine.Generation
	s.Ready, s.Phase, s.Message, s.Cadence = says.ready, says.phase, says.message, says.cadence
	s.NextFireTimes = nil
	for _, next := range says.next {
		s.NextFireTimes = append(s.NextFireTimes, shown(next))
	}
	s.Conditions = conditionsOf(changed, now, says)
	if equality.Semantic.DeepEqual(routine.Status, changed.Status) {
		return routine
	}
	return changed
}

// conditionsOf puts a verdict into the conditions. Those of other types, such
// as the scheduler's, stay as they are.
func conditionsOf(routine *polychromev1alpha1.Routine, now time.Time, says verdict) []metav1.Condition {
	message := says.message
	if message == "" {
		message = "it fires at the instants of status.nextFireTimes"
	}
	list := conditions.Set(routine.Status.Conditions, now, routine.Generation, metav1.Condition{
		Type: string(polychromev1alpha1.ConditionReady), Status: conditions.Status(says.ready), Reason: string(says.reason), Message: message,
	})
	if !says.stalled {
		return conditions.Remove(list, string(polychromev1alpha1.ConditionStalled))
	}
	return conditions.Set(list, now, routine.Generation, metav1.Condition{
		Type: string(polychromev1alpha1.ConditionStalled), Status: metav1.ConditionTrue, Reason: string(says.reason), Message: message,
	})
}
