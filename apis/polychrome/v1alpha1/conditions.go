package v1alpha1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionType names one typed fact about an object. Conditions says which
// status of it is healthy and which reasons go with which status.
type ConditionType string

// Condition types.
const (
	// ConditionReady is the main condition of every kind. Healthy: True. It is
	// never Unknown, because the control plane's decoder knows True and False
	// alone.
	ConditionReady ConditionType = "Ready"

	// ConditionProgressing says that a Conversation is on its way to another
	// state. Healthy: False. It has the reason and message of Ready.
	ConditionProgressing ConditionType = "Progressing"

	// ConditionDegraded says that something about a Conversation went wrong.
	// Healthy: False. It has the reason and message of Ready.
	ConditionDegraded ConditionType = "Degraded"

	// ConditionRollHalted says that failed rolls, this Conversation's among
	// them, keep others from being rolled to the desired harness image
	// generation. Healthy: False or absent. The Conversations that wait do not
	// have it.
	ConditionRollHalted ConditionType = "RollHalted"

	// ConditionReachable says that a ToolService's server answers, also when
	// the answer is a refusal. Healthy: True.
	ConditionReachable ConditionType = "Reachable"

	// ConditionMissedFire says that a Routine did not fire when it should have.
	// Healthy: False. The control plane's scheduler writes it, reasons included;
	// the controller leaves it alone.
	ConditionMissedFire ConditionType = "MissedFire"

	// ConditionStalled says that only new input can help: another spec, or
	// another object out of the way. Healthy: False or absent. kstatus reads it
	// as Failed. It has the reason and message of Ready.
	ConditionStalled ConditionType = "Stalled"

	// ConditionHotLoop says that the controller found itself writing the same
	// object over and over and slowed down. Healthy: False or absent.
	ConditionHotLoop ConditionType = "HotLoop"

	// ConditionSchemaSkew says that the API server's schema and the
	// controller's types do not fit. Healthy: False or absent.
	ConditionSchemaSkew ConditionType = "SchemaSkew"

	// ConditionPaused says that the controller leaves the object alone because
	// an annotation asks for it. Healthy: False or absent.
	ConditionPaused ConditionType = "Paused"
)

// ConditionFacts says what one condition type of one kind may look like. A
// reason that is not listed under a status may not be set with it.
//
// +k8s:deepcopy-gen=false
// +k8s:openapi-gen=false
type ConditionFacts struct {
	// Kind is the kind that has the condition, "" for every kind.
	Kind string
	// Type is the condition type.
	Type ConditionType
	// Healthy is the status that means that all is well.
	Healthy metav1.ConditionStatus
	// True, False and Unknown are the reasons for each status.
	True, False, Unknown []Reason
}

// Reasons of a Conversation by what they say about it. Its three conditions are
// always written together, with one reason.
var (
	conversationMoving = []Reason{
		ReasonExecutionUnitTerminating,
		ReasonCreatingExecutionUnit, ReasonWaitingForHarness, ReasonRollingHarnessImage,
		ReasonClosingIdleConversation, ReasonTearingDown,
	}
	conversationTroubled = []Reason{
		ReasonBackendUnavailable, ReasonRecreateLimit,
		ReasonExecutionUnitVanished, ReasonPodFailed, ReasonPodSucceeded,
		ReasonClaimExpired, ReasonSandboxExpired, ReasonRollFailed,
		ReasonTemplateNotFound, ReasonWarmPoolNotFound, ReasonInvalidMetadata,
		ReasonEnvVarsInjectionRejected, ReasonVolumeClaimTemplatesError, ReasonReconcilerError,
		ReasonPendingDeadlineExceeded,
	}
	conversationAtRest = []Reason{ReasonIdleReclaimed, ReasonClosed}
)

var (
	serviceDefinitionInvalid = []Reason{ReasonInvalidName, ReasonInvalidImage, ReasonInvalidSpec}
	workflowInvalid          = []Reason{
		ReasonInvalidName, ReasonInvalidSpec, ReasonInvalidStageName, ReasonDuplicateStage,
		ReasonUnknownDependency, ReasonSelfDependency, ReasonDependencyCycle,
	}
	toolServiceInvalid = []Reason{
		ReasonInvalidSpec, ReasonNoRemote, ReasonInvalidURL, ReasonURLBlocked, ReasonReservedSecret,
	}
	toolServiceUnreachable = []Reason{
		ReasonDNSFailed, ReasonConnectionRefused, ReasonConnectionFailed, ReasonTimeout, ReasonTLSFailed,
	}
	toolServiceUnusable = []Reason{
		ReasonAuthRequired, ReasonForbidden, ReasonNotFound, ReasonTransportMismatch,
		ReasonRedirectRefused, ReasonRateLimited, ReasonServerError, ReasonRPCError, ReasonNotMCP,
		ReasonPaginationLoop, ReasonResponseTooLarge,
	}
	toolServiceNotAsked = []Reason{ReasonSecretNotFound, ReasonSecretForbidden}
	routineInvalid      = []Reason{
		ReasonInvalidSpec, ReasonInvalidSchedule, ReasonInvalidTimeZone, ReasonInvalidPrompt,
		ReasonNeverFires,
	}
)

// Conditions lists every condition of every kind. What is listed without a kind
// holds for each kind beside its own entries. Ready is never Unknown.
func Conditions() []ConditionFacts {
	return slices.Concat(commonConditions(), conversationConditions(), appConditions(), catalogConditions())
}

// commonConditions are those that the framework sets on every kind.
func commonConditions() []ConditionFacts {
	return []ConditionFacts{
		{
			Type: ConditionReady, Healthy: metav1.ConditionTrue,
			False: []Reason{ReasonPending, ReasonAPIRefused, ReasonUndecodable, ReasonTypedPatchRefused},
		},
		{
			Type: ConditionStalled, Healthy: metav1.ConditionFalse,
			True: []Reason{ReasonUndecodable, ReasonTypedPatchRefused},
		},
		{
			Type: ConditionHotLoop, Healthy: metav1.ConditionFalse,
			True: []Reason{ReasonFlapping, ReasonApplyNotHeld},
		},
		{
			Type: ConditionSchemaSkew, Healthy: metav1.ConditionFalse,
			True: []Reason{ReasonFieldPruned, ReasonUndecodable, ReasonTypedPatchRefused},
		},
		{
			Type: ConditionPaused, Healthy: metav1.ConditionFalse,
			True: []Reason{ReasonPausedByAnnotation},
		},
	}
}

// conversationConditions are those of a Conversation.
func conversationConditions() []ConditionFacts {
	return []ConditionFacts{
		{
			Kind: "Conversation", Type: ConditionReady, Healthy: metav1.ConditionTrue,
			True: []Reason{ReasonHarnessReady},
			False: slices.Concat(conversationMoving, conversationTroubled, conversationAtRest,
				[]Reason{ReasonNameConflict}),
		},
		{
			Kind: "Conversation", Type: ConditionProgressing, Healthy: metav1.ConditionFalse,
			True:  slices.Concat(conversationMoving, conversationTroubled),
			False: slices.Concat(conversationAtRest, []Reason{ReasonHarnessReady, ReasonNameConflict}),
		},
		{
			Kind: "Conversation", Type: ConditionDegraded, Healthy: metav1.ConditionFalse,
			True:  slices.Concat(conversationTroubled, []Reason{ReasonNameConflict}),
			False: slices.Concat(conversationMoving, conversationAtRest, []Reason{ReasonHarnessReady}),
		},
		{
			Kind: "Conversation", Type: ConditionStalled, Healthy: metav1.ConditionFalse,
			True: []Reason{ReasonNameConflict},
		},
		{
			Kind: "Conversation", Type: ConditionRollHalted, Healthy: metav1.ConditionFalse,
			True: []Reason{ReasonRollFailed},
		},
	}
}

// appConditions are those of ServiceDefinition and Workflow.
func appConditions() []ConditionFacts {
	return []ConditionFacts{
		{
			Kind: "ServiceDefinition", Type: ConditionReady, Healthy: metav1.ConditionTrue,
			True: []Reason{ReasonRolloutComplete},
			False: slices.Concat(serviceDefinitionInvalid, []Reason{
				ReasonNameConflict, ReasonChildTerminating,
				ReasonRolloutInProgress, ReasonStopped, ReasonProgressDeadlineExceeded,
				ReasonReplicaFailure, ReasonImagePullBackOff, ReasonCrashLoopBackOff,
				ReasonCreateContainerConfigError, ReasonUnschedulable,
			}),
		},
		{
			Kind: "ServiceDefinition", Type: ConditionStalled, Healthy: metav1.ConditionFalse,
			True: slices.Concat(serviceDefinitionInvalid, []Reason{ReasonNameConflict, ReasonProgressDeadlineExceeded}),
		},
		{
			Kind: "Workflow", Type: ConditionReady, Healthy: metav1.ConditionTrue,
			True: []Reason{ReasonStagesReady},
			False: slices.Concat(workflowInvalid, []Reason{
				ReasonNameConflict, ReasonChildTerminating,
				ReasonStagesProgressing, ReasonStageDegraded, ReasonUpstreamNotReady,
			}),
		},
		{
			Kind: "Workflow", Type: ConditionStalled, Healthy: metav1.ConditionFalse,
			True: slices.Concat(workflowInvalid, []Reason{ReasonNameConflict}),
		},
	}
}

// catalogConditions are those of ToolService and Routine.
func catalogConditions() []ConditionFacts {
	return []ConditionFacts{
		{
			Kind: "ToolService", Type: ConditionReady, Healthy: metav1.ConditionTrue,
			True: []Reason{ReasonCatalogListed},
			False: slices.Concat(toolServiceInvalid, toolServiceUnreachable, toolServiceUnusable,
				toolServiceNotAsked),
		},
		{
			Kind: "ToolService", Type: ConditionReachable, Healthy: metav1.ConditionTrue,
			True:    slices.Concat(toolServiceUnusable, []Reason{ReasonServerResponds}),
			False:   slices.Concat(toolServiceInvalid, toolServiceUnreachable),
			Unknown: toolServiceNotAsked,
		},
		{
			Kind: "ToolService", Type: ConditionStalled, Healthy: metav1.ConditionFalse,
			True: toolServiceInvalid,
		},
		{
			Kind: "Routine", Type: ConditionReady, Healthy: metav1.ConditionTrue,
			True:  []Reason{ReasonScheduled, ReasonSuspended, ReasonCompleted},
			False: slices.Concat(routineInvalid, []Reason{ReasonOnceInPast}),
		},
		{
			Kind: "Routine", Type: ConditionStalled, Healthy: metav1.ConditionFalse,
			True: slices.Concat(routineInvalid, []Reason{ReasonOnceInPast}),
		},
		{Kind: "Routine", Type: ConditionMissedFire, Healthy: metav1.ConditionFalse},
	}
}
