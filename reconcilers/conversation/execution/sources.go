package execution

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// MapClaim names the conversations that a SandboxClaim, of any version,
// concerns: its owner, and the one of its name, which may be waiting for a
// foreign claim to go.
func MapClaim[T metav1.Object](claim T) []framework.Key {
	keys := []framework.Key{{Namespace: claim.GetNamespace(), Name: claim.GetName()}}
	owner := metav1.GetControllerOf(claim)
	if owner == nil || owner.Kind != kind || owner.Name == claim.GetName() {
		return keys
	}
	if group, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || group.Group != polychromev1alpha1.GroupName {
		return keys
	}
	return append(keys, framework.Key{Namespace: claim.GetNamespace(), Name: owner.Name})
}
