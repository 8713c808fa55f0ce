package servicedefinition

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/conditions"
)

// maxMessage is how long a message may be, in bytes.
const maxMessage = 1024

// Status is the service as it should be seen after this pass.
func (r *Reconciler) Status(
	now time.Time, svc *polychromev1alpha1.ServiceDefinition, w World, done []framework.Done[Action],
) *polychromev1alpha1.ServiceDefinition {
	if svc.DeletionTimestamp != nil {
		return svc
	}
	o := outcomeOf(done)
	says := judge(svc, w, o)
	says.message = conditions.Truncate(says.message, maxMessage)
	out := svc.DeepCopy()
	s := &out.Status
	s.ObservedGeneration = svc.Generation
	s.Ready, s.Phase, s.Message = says.ready(), says.phase, nil
	if !s.Ready {
		s.Message = &says.message
	}
	s.AvailableReplicas = 0
	if d := o.judged(w); d != nil {
		s.AvailableReplicas = d.Status.AvailableReplicas
	}
	s.Conditions = conditionsOf(svc, now, says)
	return out
}

// conditionsOf puts the verdict into the service's conditions. Those of other
// types stay as they are.
func conditionsOf(svc *polychromev1alpha1.ServiceDefinition, now time.Time, says verdict) []metav1.Condition {
	said := func(kind polychromev1alpha1.ConditionType, holds bool) metav1.Condition {
		return metav1.Condition{Type: string(kind), Status: conditions.Status(holds), Reason: string(says.reason), Message: says.message}
	}
	list := conditions.Set(svc.Status.Conditions, now, svc.Generation, said(polychromev1alpha1.ConditionReady, says.ready()))
	if says.stalled {
		return conditions.Set(list, now, svc.Generation, said(polychromev1alpha1.ConditionStalled, true))
	}
	return conditions.Remove(list, string(polychromev1alpha1.ConditionStalled))
}
