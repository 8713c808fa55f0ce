package execution

import (
	"math"

	"k8s.io/apimachinery/pkg/util/validation"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/owners"
	applyagentsandbox "polychrome.dev/controller/generated/applyconfiguration/agentsandbox/v1alpha1"
)

// kind is what this package reconciles.
const kind = "Conversation"

// ownerOf describes a conversation as the owner of its unit.
func ownerOf(conv *polychromev1alpha1.Conversation) owners.Owner {
	return owners.Owner{
		APIVersion: polychromev1alpha1.SchemeGroupVersion.String(),
		Kind:       kind,
		Name:       conv.Name,
		UID:        conv.UID,
		UIDLabel:   polychromev1alpha1.ConversationUIDLabel,
	}
}

// claimFor is the SandboxClaim a conversation should have. The generation is
// the one the claim was or is being made with, never a newer one: an
// annotation that changed would not change the pod.
//
// Environment and warm pool stay out of it: the operator gives no warm pod to
// a claim that has the one or names the other.
func claimFor(
	conv *polychromev1alpha1.Conversation, name, template, generation string,
) *applyagentsandbox.SandboxClaimApplyConfiguration {
	claim := applyagentsandbox.SandboxClaim(name, conv.Namespace).
		WithLabels(map[string]string{polychromev1alpha1.ConversationUIDLabel: string(conv.UID)}).
		WithSpec(applyagentsandbox.SandboxClaimSpec().
			WithSandboxTemplateRef(applyagentsandbox.SandboxTemplateRef().WithName(template)).
			WithAdditionalPodMetadata(applyagentsandbox.PodMetadata().
				WithAnnotations(map[string]string{polychromev1alpha1.ExecutionAudienceAnnotation: name})).
			WithLifecycle(lifecycleFor(conv.Spec.IdleTimeoutSeconds)))
	if generation != "" {
		claim.WithAnnotations(map[string]string{polychromev1alpha1.HarnessImageGenerationAnnotation: generation})
	}
	parent := conv.Spec.ParentConversationID
	switch {
	case parent == "":
	case len(validation.IsValidLabelValue(parent)) == 0:
		claim.WithLabels(map[string]string{polychromev1alpha1.ParentConversationLabel: parent})
	default:
		claim.WithAnnotations(map[string]string{polychromev1alpha1.ParentConversationLabel: parent})
	}
	return claim
}

// lifecycleFor lets the operator reap a unit whose pod has ended, should the
// controller ever miss it. An idle timeout of 0 means that nothing is reaped;
// as a time to live it would mean at once.
func lifecycleFor(idleTimeoutSeconds int64) *applyagentsandbox.LifecycleApplyConfiguration {
	lifecycle := applyagentsandbox.Lifecycle().WithShutdownPolicy(agentsandboxv1alpha1.ShutdownDelete)
	if idleTimeoutSeconds > 0 {
		lifecycle.WithTTLSecondsAfterFinished(int32(min(idleTimeoutSeconds, math.MaxInt32)))
	}
	return lifecycle
}
