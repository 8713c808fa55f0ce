package conversation

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/conditions"
)

// triad are the conditions that are always written together.
var triad = [...]struct {
	kind  polychromev1alpha1.ConditionType
	holds func(verdict) bool
}{
	{polychromev1alpha1.ConditionReady, func(v verdict) bool { return v.ready }},
	{polychromev1alpha1.ConditionProgressing, func(v verdict) bool { return v.progressing }},
	{polychromev1alpha1.ConditionDegraded, func(v verdict) bool { return v.degraded }},
}

// conditionsOf puts the verdict into the conversation's conditions. Those of
// other types stay as they are.
func conditionsOf(conv *polychromev1alpha1.Conversation, now time.Time, says verdict) []metav1.Condition {
	list := conv.Status.Conditions
	set := func(kind polychromev1alpha1.ConditionType, holds bool) {
		list = conditions.Set(list, now, conv.Generation, metav1.Condition{
			Type: string(kind), Status: conditions.Status(holds), Reason: string(says.reason), Message: says.message,
		})
	}
	for _, part := range triad {
		set(part.kind, part.holds(says))
	}
	if says.halted != "" {
		list = conditions.Set(list, now, conv.Generation, metav1.Condition{
			Type: string(polychromev1alpha1.ConditionRollHalted), Status: metav1.ConditionTrue,
			Reason: string(polychromev1alpha1.ReasonRollFailed), Message: says.halted,
		})
	} else {
		list = conditions.Remove(list, string(polychromev1alpha1.ConditionRollHalted))
	}
	switch {
	case says.stalled:
		set(polychromev1alpha1.ConditionStalled, true)
	case outlived(list, says):
		list = conditions.Remove(list, string(polychromev1alpha1.ConditionStalled))
	}
	return list
}

// saysSame reports whether the conditions say the verdict already. Messages,
// times and observed generations do not count: they come with the next write.
func saysSame(list []metav1.Condition, says verdict) bool {
	for _, part := range triad {
		have := meta.FindStatusCondition(list, string(part.kind))
		if have == nil || have.Status != conditions.Status(part.holds(says)) || !sameReason(have.Reason, says.reason) {
			return false
		}
	}
	if meta.IsStatusConditionTrue(list, string(polychromev1alpha1.ConditionRollHalted)) != (says.halted != "") {
		return false
	}
	if says.stalled {
		have := meta.FindStatusCondition(list, string(polychromev1alpha1.ConditionStalled))
		return have != nil && have.Reason == string(says.reason)
	}
	return !outlived(list, says)
}

// sameReason spares a boot one write: nobody needs to know that the unit,
// just made, is now waited for.
func sameReason(have string, want polychromev1alpha1.Reason) bool {
	return have == string(want) ||
		(have == string(polychromev1alpha1.ReasonCreatingExecutionUnit) && want == polychromev1alpha1.ReasonWaitingForHarness)
}

// outlived reports a Stalled whose cause is over. While an action fails, one
// that is not ours may be the framework's word on just that.
func outlived(list []metav1.Condition, says verdict) bool {
	have := meta.FindStatusCondition(list, string(polychromev1alpha1.ConditionStalled))
	return have != nil && (!says.failing || have.Reason == string(polychromev1alpha1.ReasonNameConflict))
}
