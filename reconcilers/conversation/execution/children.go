package execution

import (
	"math"

	"k8s.io/apimachinery/pkg/util/validation"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	agentsandboxv1beta1 "polychrome.dev/controller/apis/agentsandbox/v1beta1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/owners"
	applyv1alpha1 "polychrome.dev/controller/generated/applyconfiguration/agentsandbox/v1alpha1"
	applyv1beta1 "polychrome.dev/controller/generated/applyconfiguration/agentsandbox/v1beta1"
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

// desired is the SandboxClaim that a conversation should have, in the words of
// no version.
type desired struct {
	namespace, name     string
	labels, annotations map[string]string
	// pod are the annotations of the pod.
	pod map[string]string
	// ttl is how many seconds a unit is kept whose pod has ended, nil for as
	// long as the conversation wants it.
	ttl *int32
	// source is what the sandbox is made from: a template, or a warm pool.
	source string
}

// claimFor is the SandboxClaim a conversation should have. The generation is
// the one the claim was or is being made with, never a newer one: an
// annotation that changed would not change the pod.
func claimFor(conv *polychromev1alpha1.Conversation, name, source, generation string) desired {
	want := desired{
		namespace: conv.Namespace, name: name,
		labels:      map[string]string{polychromev1alpha1.ConversationUIDLabel: string(conv.UID)},
		annotations: map[string]string{},
		pod:         map[string]string{polychromev1alpha1.ExecutionAudienceAnnotation: name},
		ttl:         ttlFor(conv.Spec.IdleTimeoutSeconds),
		source:      source,
	}
	if generation != "" {
		want.annotations[polychromev1alpha1.HarnessImageGenerationAnnotation] = generation
	}
	parent := conv.Spec.ParentConversationID
	switch {
	case parent == "":
	case len(validation.IsValidLabelValue(parent)) == 0:
		want.labels[polychromev1alpha1.ParentConversationLabel] = parent
	default:
		want.annotations[polychromev1alpha1.ParentConversationLabel] = parent
	}
	return want
}

// ttlFor lets the operator reap a unit whose pod has ended, should the
// controller ever miss it. An idle timeout of 0 means that nothing is reaped;
// as a time to live it would mean at once.
func ttlFor(idleTimeoutSeconds int64) *int32 {
	if idleTimeoutSeconds <= 0 {
		return nil
	}
	return new(int32(min(idleTimeoutSeconds, math.MaxInt32)))
}

// inV1alpha1 is the claim that names a template. Environment and warm pool stay
// out of it: the operator gives no warm pod to a claim that has the one or
// names the other.
func inV1alpha1(want desired) any {
	lifecycle := applyv1alpha1.Lifecycle().WithShutdownPolicy(agentsandboxv1alpha1.ShutdownDelete)
	lifecycle.TTLSecondsAfterFinished = want.ttl
	return applyv1alpha1.SandboxClaim(want.name, want.namespace).
		WithLabels(want.labels).
		WithAnnotations(want.annotations).
		WithSpec(applyv1alpha1.SandboxClaimSpec().
			WithSandboxTemplateRef(applyv1alpha1.SandboxTemplateRef().WithName(want.source)).
			WithAdditionalPodMetadata(applyv1alpha1.PodMetadata().WithAnnotations(want.pod)).
			WithLifecycle(lifecycle))
}

// inV1beta1 is the claim that names a warm pool. Environment stays out of it
// for the same reason.
func inV1beta1(want desired) any {
	lifecycle := applyv1beta1.Lifecycle().WithShutdownPolicy(agentsandboxv1beta1.ShutdownDelete)
	lifecycle.TTLSecondsAfterFinished = want.ttl
	return applyv1beta1.SandboxClaim(want.name, want.namespace).
		WithLabels(want.labels).
		WithAnnotations(want.annotations).
		WithSpec(applyv1beta1.SandboxClaimSpec().
			WithWarmPoolRef(applyv1beta1.WarmPoolRef().WithName(want.source)).
			WithAdditionalPodMetadata(applyv1beta1.PodMetadata().WithAnnotations(want.pod)).
			WithLifecycle(lifecycle))
}
