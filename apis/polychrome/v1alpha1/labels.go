package v1alpha1

// FieldManager is the name under which the controller applies and patches.
const FieldManager = "polychrome.dev/controller"

// ReplicasFieldManager is the name under which the controller leaves the number
// of replicas of a Deployment as it is, when it gives it up to an autoscaler.
const ReplicasFieldManager = "polychrome.dev/replicas"

// Finalizers.
const (
	// ConversationFinalizer holds a Conversation until its execution unit is
	// torn down. The Conversation reconciler adds and removes it.
	ConversationFinalizer = "polychrome.dev/cleanup"

	// ToolServiceFinalizer holds a ToolService until its cached catalogue is
	// dropped. The ToolService reconciler adds and removes it.
	ToolServiceFinalizer = "polychrome.dev/toolservice-cleanup"
)

// Labels and annotations of a conversation's SandboxClaim.
const (
	// ConversationUIDLabel holds the UID of the Conversation on its claim. The
	// Conversation reconciler writes it, and reads it to know its own claim
	// again after the owner reference was stripped.
	ConversationUIDLabel = "polychrome.dev/conversation-uid"

	// ParentConversationLabel holds the id of the parent conversation on the
	// claim of a child. The Conversation reconciler writes it, people select on
	// it. A parent id that is no valid label value goes into an annotation of
	// the same key, never into the label.
	ParentConversationLabel = "polychrome.dev/parent-conversation"

	// HarnessImageGenerationAnnotation holds the harness image generation with
	// which a claim was made. The Conversation reconciler writes it once, when
	// it creates the claim, and reads it when it finds a claim already there.
	HarnessImageGenerationAnnotation = "polychrome.dev/harness-image-generation"

	// ExecutionAudienceAnnotation holds the name of the claim on the pod of the
	// execution unit. The Conversation reconciler writes it into the claim's pod
	// metadata; the harness reads it as the audience of its tokens.
	ExecutionAudienceAnnotation = "polychrome.sh/execution-audience"
)

// Annotations on our own kinds, written by people or by the control plane.
const (
	// BusyUntilAnnotation says until when a Conversation must be left alone, in
	// RFC 3339. The control plane writes it around a turn; the Conversation
	// reconciler reads it before it closes or rolls. A malformed value, or one
	// more than 24 hours ahead, is ignored.
	BusyUntilAnnotation = "polychrome.dev/busy-until"

	// PausedAnnotation stops the controller from writing to an object, except
	// for the condition Paused, while its value is "true". People write it; the
	// framework reads it.
	PausedAnnotation = "polychrome.dev/paused"

	// PausedValue is the one value of PausedAnnotation that pauses.
	PausedValue = "true"

	// ProbeAnnotation asks for a probe of a ToolService at once whenever its
	// value changes. People write any text; the ToolService reconciler reads it.
	ProbeAnnotation = "polychrome.dev/probe"
)

// AppliedHashAnnotation remembers on an owned object what was last applied to
// it. The framework writes it with every apply and reads it to notice a field
// that is no longer wanted.
const AppliedHashAnnotation = "polychrome.dev/applied-hash"

// Labels and annotations of the objects that ServiceDefinition and Workflow own.
const (
	// AppNameLabel holds the name of the ServiceDefinition on its Deployment,
	// Service and pods, and on a stage's ServiceDefinition the name of that. The
	// two app reconcilers write it; Deployments and Services select on it.
	AppNameLabel = "app.kubernetes.io/name"

	// ManagedByLabel marks every object that the app reconcilers own, with
	// ManagedByValue. They write it; people and policies select on it.
	ManagedByLabel = "app.kubernetes.io/managed-by"

	// ManagedByValue is the value of ManagedByLabel.
	ManagedByValue = "polychrome"

	// ServiceDefinitionLabel holds the name of the ServiceDefinition on its
	// Deployment, Service and pods. The ServiceDefinition reconciler writes it;
	// the Service selects on it beside AppNameLabel, which alone may catch
	// other people's pods.
	ServiceDefinitionLabel = "polychrome.dev/service-definition"

	// AutoscaledAnnotation, with AutoscaledValue, marks a Deployment whose number
	// of replicas the controller does not apply. The ServiceDefinition reconciler
	// writes it, and reads it to know whether the number is its own to give up.
	AutoscaledAnnotation = "polychrome.dev/autoscaled"

	// AutoscaledValue is the one value of AutoscaledAnnotation.
	AutoscaledValue = "true"

	// WorkflowLabel holds the name of the Workflow, shortened where it is no
	// label value, on the ServiceDefinitions of its stages. The Workflow
	// reconciler writes it; people select on it.
	WorkflowLabel = "polychrome.dev/workflow"

	// StageLabel holds the name of the stage on its ServiceDefinition. The
	// Workflow reconciler writes it and reads it to find the stage of a child.
	StageLabel = "polychrome.dev/stage"

	// DependsOnAnnotation holds, on the ServiceDefinition of a stage, the names
	// of the stages that it depends on, in order and with commas between them.
	// The Workflow reconciler writes it, and reads it once the stage is no
	// longer in the spec: what depended on others goes before them.
	DependsOnAnnotation = "polychrome.dev/depends-on"
)
