package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ConversationPhase is a one-word summary of a Conversation, for people. Programs
// read the conditions.
//
// +kubebuilder:validation:Enum=Pending;Ready;Paused;RollingHarness;Closing
type ConversationPhase string

// Phases of a Conversation.
const (
	// ConversationPending means that the execution unit is not ready yet.
	ConversationPending ConversationPhase = "Pending"
	// ConversationReady means that the harness can be dialled.
	ConversationReady ConversationPhase = "Ready"
	// ConversationPaused is shown while status.idleReclaimed is set.
	ConversationPaused ConversationPhase = "Paused"
	// ConversationRollingHarness means that the unit is being replaced by one
	// of the desired harness image generation.
	ConversationRollingHarness ConversationPhase = "RollingHarness"
	// ConversationClosing means that the conversation is closed or about to be.
	ConversationClosing ConversationPhase = "Closing"
)

// ConversationSpec is what the control plane wants of a conversation.
type ConversationSpec struct {
	// model names the language model that answers in this conversation. It is
	// required but may be empty, which leaves the choice to the control plane.
	// It may be changed at any time; the controller does not act on it.
	//
	// +required
	// +kubebuilder:validation:MaxLength=256
	Model string `json:"model"`

	// principalRef says who the conversation belongs to. It is opaque to the
	// controller. The default is empty.
	//
	// +optional
	// +kubebuilder:default=""
	// +kubebuilder:validation:MaxLength=512
	PrincipalRef string `json:"principalRef,omitempty"`

	// idleTimeoutSeconds is how long the conversation may go without a turn
	// before the controller closes it, in seconds. 0 switches the idle reaper
	// off for this conversation. A conversation that has never had a turn
	// (status.lastActivityUnix unset) is never closed for idleness. It is
	// required; raising or lowering it takes effect at once. Time limits on the
	// execution unit that follow from it stop at 2147483647 seconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	IdleTimeoutSeconds int64 `json:"idleTimeoutSeconds"`

	// toolsEnabled names the ToolServices offered to this conversation beyond
	// those that are enabled by default. The default is none. The list is
	// replaced whole by a patch and holds at most 512 names.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:default={}
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=253
	ToolsEnabled []string `json:"toolsEnabled,omitempty"`

	// toolsDisabled names the ToolServices withheld from this conversation,
	// also when they are enabled by default. The default is none. The list is
	// replaced whole by a patch and holds at most 512 names.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:default={}
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=253
	ToolsDisabled []string `json:"toolsDisabled,omitempty"`

	// parentConversationId is the id of the conversation that handed over to
	// this one. It is set by the control plane at creation and unset on a
	// conversation that nobody handed over.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ParentConversationID string `json:"parentConversationId,omitempty"`

	// agentId names the Agent this conversation runs as. Unset means that it
	// runs as no particular agent.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AgentID string `json:"agentId,omitempty"`
}

// UnitRecreations counts how often the execution unit was lost, and so had to
// be made again, in the current window. It lives in the status so that a restart of the
// controller does not forget the limit.
type UnitRecreations struct {
	// count is the number of losses since windowStart, of every cause: the unit
	// ended, disappeared, or was gone before it was ever ready.
	//
	// +optional
	Count int32 `json:"count"`

	// windowStart is when the current window of one hour began, in Unix seconds.
	//
	// +optional
	WindowStart int64 `json:"windowStart"`

	// lastAt is when the last loss was noticed, in Unix seconds. The next
	// attempt to make the unit again waits from here.
	//
	// +optional
	LastAt int64 `json:"lastAt"`
}

// ConversationStatus is what is known about a conversation. The controller and
// the control plane both write it, each its own fields, by merge patch.
type ConversationStatus struct {
	// observedGeneration is the generation of the object that the controller
	// last acted on.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// sandboxClaimName names the SandboxClaim that is this conversation's
	// execution unit. The controller sets it; unset means that no unit is
	// recorded.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SandboxClaimName string `json:"sandboxClaimName,omitempty"`

	// phase is a one-word summary for people, written by the controller. The
	// conditions say more.
	//
	// +optional
	Phase ConversationPhase `json:"phase,omitempty"`

	// podIp is the address at which the harness can be dialled, written by the
	// controller. Unset means that there is no address.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	PodIP string `json:"podIp,omitempty"`

	// harnessEndpoint is the URL at which the harness can be dialled, for
	// backends whose units have one in place of an address. The controller
	// writes it; no backend fills it today.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	HarnessEndpoint string `json:"harnessEndpoint,omitempty"`

	// harnessReady says that the unit is ready, has an address and is not
	// going away. The controller writes it; the default is false.
	//
	// +optional
	HarnessReady bool `json:"harnessReady"`

	// closed says that the conversation is over: its execution unit is torn
	// down. The controller sets it when the conversation was idle for too long;
	// the control plane sets it to close and clears it to resume.
	//
	// +optional
	Closed bool `json:"closed"`

	// closedAt is when the unit of the closed conversation was torn down, in
	// Unix seconds. The controller writes it; retention is counted from it. It
	// is unset while the conversation is open.
	//
	// +optional
	ClosedAt *int64 `json:"closedAt,omitempty"`

	// lastActivityUnix is when the last turn happened, in Unix seconds. The
	// control plane writes it on every turn; unset means no turn yet, and such
	// a conversation is never closed for idleness.
	//
	// +optional
	LastActivityUnix *int64 `json:"lastActivityUnix,omitempty"`

	// idleReclaimed marks a conversation whose unit an older release took back
	// while it was idle. Nobody writes it any more; where it is set it is still
	// honoured, and the phase shows Paused.
	//
	// +optional
	IdleReclaimed bool `json:"idleReclaimed"`

	// harnessImageGeneration is the harness image generation that the unit was
	// made with, an opaque text compared for equality. The controller writes
	// it; unset means unknown, and such a unit is adopted, never rolled.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	HarnessImageGeneration string `json:"harnessImageGeneration,omitempty"`

	// rollingHarness says that the unit is being replaced because the desired
	// harness image generation changed. The controller writes it.
	//
	// +optional
	RollingHarness bool `json:"rollingHarness"`

	// rollStartedAt is when the present replacement of the unit began, in Unix
	// seconds. The controller writes it; it is unset while no roll is under way.
	//
	// +optional
	RollStartedAt *int64 `json:"rollStartedAt,omitempty"`

	// unitRecreations counts the recent losses of the unit, for the limit on
	// making it again. The controller writes it; unset means none.
	//
	// +optional
	UnitRecreations *UnitRecreations `json:"unitRecreations,omitempty"`

	// conditions holds Ready, Progressing and Degraded, and Stalled, RollHalted,
	// HotLoop, SchemaSkew or Paused where they apply. The controller writes them, one
	// entry per type.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// Conversation is one conversation with an agent. The controller keeps exactly
// one execution unit for it, a SandboxClaim of the same name and namespace,
// until the conversation is closed or deleted.
//
// A closed conversation stays Ready=False, reason Closed, and so kstatus never
// calls it Current.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=conv,categories=polychrome
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="One-word summary"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the harness can be dialled"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="Pod IP",type=string,JSONPath=`.status.podIp`,priority=1,description="Address of the harness"
// +kubebuilder:printcolumn:name="Claim",type=string,JSONPath=`.status.sandboxClaimName`,priority=1,description="Name of the SandboxClaim"
// +kubebuilder:printcolumn:name="Generation",type=string,JSONPath=`.status.harnessImageGeneration`,priority=1,description="Harness image generation of the unit"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
type Conversation struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the control plane wants of the conversation.
	//
	// +required
	Spec ConversationSpec `json:"spec"`

	// status is what is known about the conversation. A new object shows
	// Ready=False, reason Pending, until the controller has looked at it.
	//
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "False", reason: "Pending", message: "no controller has looked at this object yet", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status ConversationStatus `json:"status,omitzero"`
}

// ConversationList is a list of Conversations.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ConversationList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the Conversations.
	Items []Conversation `json:"items"`
}
