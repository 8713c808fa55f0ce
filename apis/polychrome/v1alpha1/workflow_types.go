package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// StageKind says what a stage of a Workflow is, as provenance.
//
// +kubebuilder:validation:Enum=dataset;service
type StageKind string

// Kinds of a stage.
const (
	// StageDataset marks a stage that prepares data.
	StageDataset StageKind = "dataset"
	// StageService marks a stage that serves. It is the default.
	StageService StageKind = "service"
)

// WorkflowPhase is a one-word summary of a Workflow, for people. Programs read
// the conditions.
//
// +kubebuilder:validation:Enum=Pending;Progressing;Ready;Degraded;Invalid
type WorkflowPhase string

// Phases of a Workflow.
const (
	// WorkflowPending means that no stage is ready yet.
	WorkflowPending WorkflowPhase = "Pending"
	// WorkflowProgressing means that stages are starting or rolling.
	WorkflowProgressing WorkflowPhase = "Progressing"
	// WorkflowReady means that every stage is ready.
	WorkflowReady WorkflowPhase = "Ready"
	// WorkflowDegraded means that a stage which was ready is not ready any more.
	WorkflowDegraded WorkflowPhase = "Degraded"
	// WorkflowInvalid means that only a changed spec, or another name, can help.
	WorkflowInvalid WorkflowPhase = "Invalid"
)

// StagePhase is a one-word summary of one stage, for people.
//
// +kubebuilder:validation:Enum=Waiting;Pending;Ready
type StagePhase string

// Phases of a stage.
const (
	// StageWaiting means that the stages it depends on are not ready.
	StageWaiting StagePhase = "Waiting"
	// StagePending means that its ServiceDefinition is not ready.
	StagePending StagePhase = "Pending"
	// StageReady means that its ServiceDefinition is ready.
	StageReady StagePhase = "Ready"
)

// WorkflowStage is one service of a Workflow.
type WorkflowStage struct {
	// name identifies the stage within the workflow: a DNS-1035 label of at
	// most 63 characters. It becomes part of the name of the stage's
	// ServiceDefinition. Renaming a stage removes it and adds another.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a stage's name becomes part of a Service's name: write lower case letters, digits and '-', starting with a letter and ending with a letter or digit, such as load-data"
	Name string `json:"name"`

	// kind says what the stage is: dataset or service. It is provenance and
	// never enforced. The default is service.
	//
	// +optional
	// +kubebuilder:default=service
	Kind StageKind `json:"kind,omitempty"`

	// dependsOn names the stages that must be ready before this one is first
	// created, each at most once, at most 64. The default is none. The set is
	// merged by name.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	DependsOn []string `json:"dependsOn,omitempty"`

	// image is the container image to run. It is required. Changing it rolls
	// the stage in place; the stages that depend on it are not restarted.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(([A-Za-z0-9.-]+|[[][0-9a-fA-F:]+[]])(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[A-Za-z0-9+._-]+:[0-9a-fA-F]{32,})?$')",message="must be an image reference: write [registry/]name[:tag][@digest] with the name in lower case and no scheme or spaces, such as registry.example.com/team/app:1.2"
	Image string `json:"image"`

	// port is the port the container listens on, from 1 to 65535. The default
	// is 8080.
	//
	// +optional
	// +kubebuilder:default=8080
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// replicas is how many copies run, from 0 to 100. The default is 1. A stage
	// with 0 replicas is never ready, and the stages that depend on it wait.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Replicas *int32 `json:"replicas,omitempty"`

	// env holds the environment variables of the container, at most 256, each
	// value at most 32768 characters. The default is none.
	//
	// +optional
	// +mapType=granular
	// +kubebuilder:default={}
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[ -<>-~]{1,253}$'))",message="an environment variable's name must be 1 to 253 printable ASCII characters without '=': write a name such as LOG_LEVEL"
	Env map[string]EnvValue `json:"env,omitempty"`

	// template names the template this stage was made from. It is provenance;
	// the controller passes it on to the stage's ServiceDefinition.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Template string `json:"template,omitempty"`
}

// WorkflowSpec is a set of services with an order in which they start.
type WorkflowSpec struct {
	// description says what the workflow is for, in free text. The controller
	// does not act on it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Description string `json:"description,omitempty"`

	// owner says on whose behalf the workflow runs, such as user:slack/U1. It is
	// provenance; the controller passes it on to the ServiceDefinitions.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Owner string `json:"owner,omitempty"`

	// stages are the services, 1 to 64, merged by name. Their order has no
	// meaning but that of the status. Removing a stage deletes its
	// ServiceDefinition.
	//
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Stages []WorkflowStage `json:"stages"`
}

// WorkflowStageStatus is what the controller observed of one stage.
type WorkflowStageStatus struct {
	// name is the name of the stage.
	//
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// phase is a one-word summary of the stage.
	//
	// +optional
	Phase StagePhase `json:"phase,omitempty"`

	// ready says that the stage's ServiceDefinition is ready for its current
	// generation.
	//
	// +optional
	Ready bool `json:"ready"`

	// serviceDefinition names the ServiceDefinition of the stage, also before
	// it exists.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceDefinition string `json:"serviceDefinition,omitempty"`

	// message says what the stage waits for. It is unset when there is nothing
	// to explain.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

// WorkflowStatus is what the controller observed of the workflow.
type WorkflowStatus struct {
	// observedGeneration is the generation of the object that the controller
	// last acted on.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is a one-word summary for people. The conditions say more.
	//
	// +optional
	Phase WorkflowPhase `json:"phase,omitempty"`

	// readyStages is how many stages are ready.
	//
	// +optional
	ReadyStages int32 `json:"readyStages"`

	// totalStages is how many stages the spec has.
	//
	// +optional
	TotalStages int32 `json:"totalStages"`

	// stages lists every stage in the order of the spec, one entry per name.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Stages []WorkflowStageStatus `json:"stages,omitempty"`

	// conditions holds Ready, and Stalled, HotLoop, SchemaSkew or Paused where
	// they apply, one entry per type.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// Workflow is a set of services that start in the order of their
// dependencies: the controller keeps a ServiceDefinition for each stage.
// Because their Services take their names from it, the name must be a DNS-1035
// label.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=wf,categories=polychrome
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || (size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",optionalOldSelf=true,message="the name becomes part of the names of Services: write at most 63 lower case letters, digits and '-', starting with a letter and ending with a letter or digit, such as nightly-report"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether every stage is ready"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="One-word summary"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="ReadyStages",type=integer,JSONPath=`.status.readyStages`,description="Stages that are ready"
// +kubebuilder:printcolumn:name="Stages",type=integer,JSONPath=`.status.totalStages`,description="Stages in the spec"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
type Workflow struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name must be a DNS-1035
	// label of at most 63 characters.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the set of services.
	//
	// +required
	Spec WorkflowSpec `json:"spec"`

	// status is what the controller observed. A new object shows Ready=False,
	// reason Pending, until the controller has looked at it.
	//
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "False", reason: "Pending", message: "no controller has looked at this object yet", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status WorkflowStatus `json:"status,omitzero"`
}

// WorkflowList is a list of Workflows.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type WorkflowList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the Workflows.
	Items []Workflow `json:"items"`
}
