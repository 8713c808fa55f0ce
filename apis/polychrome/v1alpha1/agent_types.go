package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ApprovalPolicy says when a person must approve what an agent does.
//
// +kubebuilder:validation:Enum=Never;OnDestructive;Always
type ApprovalPolicy string

// Approval policies.
const (
	// ApproveNever lets the agent use its tools freely.
	ApproveNever ApprovalPolicy = "Never"
	// ApproveOnDestructive asks before a tool that may destroy.
	ApproveOnDestructive ApprovalPolicy = "OnDestructive"
	// ApproveAlways asks before every tool.
	ApproveAlways ApprovalPolicy = "Always"
)

// AgentSpec is what an agent is made of.
type AgentSpec struct {
	// model names the language model of the agent. Unset leaves the choice to
	// the control plane.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Model string `json:"model,omitempty"`

	// instructions are given to the model ahead of every conversation, at most
	// 32 KiB. Unset means none.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Instructions string `json:"instructions,omitempty"`

	// toolsEnabled names the ToolServices the agent may use beyond those that
	// are enabled by default, at most 512. The default is none. The list is
	// replaced whole by a patch.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=253
	ToolsEnabled []string `json:"toolsEnabled,omitempty"`

	// builtinsEnabled names the tools built into the harness that the agent may
	// use, at most 512. The default is none. The list is replaced whole by a
	// patch.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=253
	BuiltinsEnabled []string `json:"builtinsEnabled,omitempty"`

	// canHandoffTo names the Agents this one may hand a conversation to, at
	// most 512. The default is none. The list is replaced whole by a patch.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=253
	CanHandoffTo []string `json:"canHandoffTo,omitempty"`

	// sandbox says in which kind of sandbox the agent runs. Unset leaves the
	// choice to the control plane.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Sandbox string `json:"sandbox,omitempty"`

	// approvalPolicy says when a person must approve what the agent does:
	// Never, OnDestructive or Always. Unset leaves the choice to the control
	// plane.
	//
	// +optional
	ApprovalPolicy ApprovalPolicy `json:"approvalPolicy,omitempty"`
}

// AgentStatus is what is known about an agent. No controller here writes it.
type AgentStatus struct {
	// observedGeneration is the generation of the object that its writer last
	// acted on.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the conditions of the agent, one entry per type.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// Agent is a role in which conversations run: a model with its instructions and
// tools. It is a schema alone; the control plane reads it, and no controller
// acts on it.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=agent,categories=polychrome
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.spec.model`,description="Language model"
// +kubebuilder:printcolumn:name="Sandbox",type=string,JSONPath=`.spec.sandbox`,description="Kind of sandbox"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
type Agent struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the agent is made of.
	//
	// +required
	Spec AgentSpec `json:"spec"`

	// status is what is known about the agent.
	//
	// +optional
	Status AgentStatus `json:"status,omitzero"`
}

// AgentList is a list of Agents.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type AgentList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the Agents.
	Items []Agent `json:"items"`
}
