package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Defaults that ServiceDefinition and the stages of a Workflow share. The API
// server fills them in; an object that predates the schema may lack them.
const (
	// DefaultPort is the container port of a service that names none.
	DefaultPort int32 = 8080
	// DefaultReplicas is how many replicas run where none are asked for.
	DefaultReplicas int32 = 1
)

// MaxServiceNameLength is the longest name a Service may have, and so a
// ServiceDefinition, whose name its Service takes.
const MaxServiceNameLength = 63

// ServiceDefinitionPhase is a one-word summary of a ServiceDefinition, for
// people. Programs read the conditions.
//
// +kubebuilder:validation:Enum=Ready;Pending;Stopped;Invalid
type ServiceDefinitionPhase string

// Phases of a ServiceDefinition.
const (
	// ServiceDefinitionReady means that the rollout of the current spec is complete.
	ServiceDefinitionReady ServiceDefinitionPhase = "Ready"
	// ServiceDefinitionPending means that it is not.
	ServiceDefinitionPending ServiceDefinitionPhase = "Pending"
	// ServiceDefinitionStopped means that zero replicas are asked for.
	ServiceDefinitionStopped ServiceDefinitionPhase = "Stopped"
	// ServiceDefinitionInvalid means that only a changed spec, or another name, can help.
	ServiceDefinitionInvalid ServiceDefinitionPhase = "Invalid"
)

// ServiceDefinitionSpec is one service to run.
type ServiceDefinitionSpec struct {
	// description says what the service is for, in free text. The controller
	// does not act on it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Description string `json:"description,omitempty"`

	// owner says on whose behalf the service runs, such as user:slack/U1. It is
	// provenance; the controller does not act on it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Owner string `json:"owner,omitempty"`

	// template names the template this service was made from. It is
	// provenance; the controller does not act on it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Template string `json:"template,omitempty"`

	// image is the container image to run. It is required. Changing it rolls
	// the workload.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(([A-Za-z0-9.-]+|[[][0-9a-fA-F:]+[]])(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[A-Za-z0-9+._-]+:[0-9a-fA-F]{32,})?$')",message="must be an image reference: write [registry/]name[:tag][@digest] with the name in lower case and no scheme or spaces, such as registry.example.com/team/app:1.2"
	Image string `json:"image"`

	// port is the port the container listens on, from 1 to 65535. The default
	// is 8080. The container is told through the variable PORT, unless env sets
	// that itself.
	//
	// +optional
	// +kubebuilder:default=8080
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// replicas is how many copies run, from 0 to 100. The default is 1. With 0
	// the workload is stopped and the service is never Ready. It is not applied
	// while autoscaled is true.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Replicas *int32 `json:"replicas,omitempty"`

	// autoscaled says that somebody else, such as an autoscaler, decides the
	// number of replicas. The controller then leaves the Deployment's replicas
	// alone and judges readiness by what stands there. The default is false.
	//
	// +optional
	Autoscaled bool `json:"autoscaled,omitempty"`

	// env holds the environment variables of the container, at most 256, each
	// value at most 32768 characters. The default is none. Changing it rolls
	// the workload.
	//
	// +optional
	// +mapType=granular
	// +kubebuilder:default={}
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[ -<>-~]{1,253}$'))",message="an environment variable's name must be 1 to 253 printable ASCII characters without '=': write a name such as LOG_LEVEL"
	Env map[string]EnvValue `json:"env,omitempty"`
}

// EnvValue is the value of an environment variable.
//
// +kubebuilder:validation:MaxLength=32768
type EnvValue = string

// ServiceDefinitionStatus is what the controller observed of the service.
type ServiceDefinitionStatus struct {
	// observedGeneration is the generation of the object that the controller
	// last acted on.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// ready says that the rollout of the current spec is complete. It is false
	// at zero replicas.
	//
	// +optional
	Ready bool `json:"ready"`

	// availableReplicas is how many replicas have been ready for long enough.
	//
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// phase is a one-word summary for people. The conditions say more.
	//
	// +optional
	Phase ServiceDefinitionPhase `json:"phase,omitempty"`

	// message explains the phase in a sentence. It is unset or null when there
	// is nothing to explain.
	//
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=4096
	Message *string `json:"message,omitempty"`

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

// ServiceDefinition is one long-running service: the controller keeps a
// Deployment and a Service of the same name and namespace for it. Because its
// Service takes its name, the name must be a DNS-1035 label.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=svcdef,categories=polychrome
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || (size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",optionalOldSelf=true,message="the name becomes the name of a Service: write at most 63 lower case letters, digits and '-', starting with a letter and ending with a letter or digit, such as billing-api"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the rollout of the current spec is complete"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="One-word summary"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`,description="Replicas that are available"
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`,description="Replicas that are asked for"
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1,description="Container image"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
type ServiceDefinition struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name must be a DNS-1035
	// label of at most 63 characters.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the service to run.
	//
	// +required
	Spec ServiceDefinitionSpec `json:"spec"`

	// status is what the controller observed. A new object shows Ready=False,
	// reason Pending, until the controller has looked at it.
	//
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "False", reason: "Pending", message: "no controller has looked at this object yet", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status ServiceDefinitionStatus `json:"status,omitzero"`
}

// ServiceDefinitionList is a list of ServiceDefinitions.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ServiceDefinitionList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the ServiceDefinitions.
	Items []ServiceDefinition `json:"items"`
}
