package reconcilers

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// predates reports whether conditions are those of an object that the original
// controller looked after: it stamped no generation, and what is new has the
// default of the schema.
func predates(conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, string(polychromev1alpha1.ConditionReady))
	return ready == nil || ready.ObservedGeneration == 0 && ready.Reason != string(polychromev1alpha1.ReasonPending)
}
