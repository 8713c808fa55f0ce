package execution

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/owners"
)

// blocking are the reasons of a claim that is not ready which people must
// hear of: the claim will not get ready by waiting alone.
var blocking = []polychromev1alpha1.Reason{
	polychromev1alpha1.ReasonTemplateNotFound,
	polychromev1alpha1.ReasonWarmPoolNotFound,
	polychromev1alpha1.ReasonInvalidMetadata,
	polychromev1alpha1.ReasonEnvVarsInjectionRejected,
	polychromev1alpha1.ReasonVolumeClaimTemplatesError,
	polychromev1alpha1.ReasonReconcilerError,
}

// endings are the reasons of a claim that will never be ready again.
var endings = []polychromev1alpha1.Reason{
	polychromev1alpha1.ReasonPodFailed,
	polychromev1alpha1.ReasonPodSucceeded,
	polychromev1alpha1.ReasonClaimExpired,
	polychromev1alpha1.ReasonSandboxExpired,
}

// readClaim distils a claim. Of its conditions only Ready and Finished count:
// Suspended may be left over, and the observed generation may be another
// object's.
func readClaim(owner owners.Owner, claim *agentsandboxv1alpha1.SandboxClaim) Unit {
	u := Unit{Name: claim.Name, Standing: Foreign}
	if owners.Judge(owner, claim) != owners.Ours {
		return u
	}
	u.Standing = Own
	u.UID, u.Version = claim.UID, claim.ResourceVersion
	if claim.DeletionTimestamp != nil {
		u.Terminating, u.HeldBy = true, claim.Finalizers
	}
	if !claim.CreationTimestamp.IsZero() {
		u.CreatedAt = claim.CreationTimestamp.Unix()
	}
	if ips := claim.Status.Sandbox.PodIPs; len(ips) > 0 {
		u.Address = ips[0]
	}
	u.Generation = claim.Annotations[polychromev1alpha1.HarnessImageGenerationAnnotation]
	ready := meta.FindStatusCondition(claim.Status.Conditions, agentsandboxv1alpha1.ConditionReady)
	switch {
	case ready == nil:
	case ready.Status == metav1.ConditionTrue:
		u.Ready = true
	case slices.Contains(endings, polychromev1alpha1.Reason(ready.Reason)):
		u.EndedBy, u.EndedText = ready.Reason, ready.Message
	case slices.Contains(blocking, polychromev1alpha1.Reason(ready.Reason)):
		u.BlockedBy, u.BlockedText = ready.Reason, ready.Message
	}
	finished := meta.FindStatusCondition(claim.Status.Conditions, agentsandboxv1alpha1.ConditionFinished)
	if finished != nil && finished.Status == metav1.ConditionTrue {
		u.Ready, u.EndedBy, u.EndedText = false, string(polychromev1alpha1.ReasonPodFailed), finished.Message
		if slices.Contains(endings, polychromev1alpha1.Reason(finished.Reason)) {
			u.EndedBy = finished.Reason
		}
	}
	return u
}
