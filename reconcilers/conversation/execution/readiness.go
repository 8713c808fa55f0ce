package execution

import (
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1beta1 "polychrome.dev/controller/apis/agentsandbox/v1beta1"
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

// Endings are the reasons of a unit that has ended.
func Endings() []polychromev1alpha1.Reason { return slices.Clone(endings) }

// maxGeneration is how many characters a status holds of a generation.
const maxGeneration = 256

// generationOf is what the claim was made with. Somebody may have edited it.
func generationOf(c metav1.Object) string {
	generation := c.GetAnnotations()[polychromev1alpha1.HarnessImageGenerationAnnotation]
	if utf8.RuneCountInString(generation) > maxGeneration {
		return ""
	}
	return generation
}

// readClaim judges a claim. Of its conditions only Ready and Finished count:
// Suspended may be left over, and the observed generation may be another
// object's.
func readClaim(owner owners.Owner, c claim) Unit {
	u := Unit{Name: c.GetName(), Standing: Foreign}
	if owners.Judge(owner, c) != owners.Ours {
		return u
	}
	u.Standing = Own
	u.UID, u.Version = c.GetUID(), c.GetResourceVersion()
	if c.GetDeletionTimestamp() != nil {
		u.Terminating, u.HeldBy = true, c.GetFinalizers()
	}
	if created := c.GetCreationTimestamp(); !created.IsZero() {
		u.CreatedAt = created.Unix()
	}
	if len(c.podIPs) > 0 {
		u.Address = c.podIPs[0]
	}
	u.Generation = generationOf(c)
	ready := meta.FindStatusCondition(c.conditions, agentsandboxv1beta1.ConditionReady)
	switch {
	case ready == nil:
	case ready.Status == metav1.ConditionTrue:
		u.Ready = true
	case slices.Contains(endings, polychromev1alpha1.Reason(ready.Reason)):
		u.EndedBy, u.EndedText = ready.Reason, ready.Message
	case slices.Contains(blocking, polychromev1alpha1.Reason(ready.Reason)):
		u.BlockedBy, u.BlockedText = ready.Reason, ready.Message
	}
	finished := meta.FindStatusCondition(c.conditions, agentsandboxv1beta1.ConditionFinished)
	if finished != nil && finished.Status == metav1.ConditionTrue {
		u.Ready, u.EndedBy, u.EndedText = false, string(polychromev1alpha1.ReasonPodFailed), finished.Message
		if slices.Contains(endings, polychromev1alpha1.Reason(finished.Reason)) {
			u.EndedBy = finished.Reason
		}
	}
	return u
}
