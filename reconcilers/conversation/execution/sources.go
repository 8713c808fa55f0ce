package execution

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// MapClaim names the conversations that a SandboxClaim concerns: its owner,
// and the one of its name, which may be waiting for a foreign claim to go.
func MapClaim(claim *agentsandboxv1alpha1.SandboxClaim) []framework.Key {
	keys := []framework.Key{{Namespace: claim.Namespace, Name: claim.Name}}
	owner := metav1.GetControllerOf(claim)
	if owner == nil || owner.Kind != kind || owner.Name == claim.Name {
		return keys
	}
	if group, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || group.Group != polychromev1alpha1.GroupName {
		return keys
	}
	return append(keys, framework.Key{Namespace: claim.Namespace, Name: owner.Name})
}
