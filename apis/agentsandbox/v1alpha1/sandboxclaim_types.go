package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ShutdownPolicy says what becomes of a sandbox whose time is up.
//
// +kubebuilder:validation:Enum=Delete;DeleteForeground;Retain
type ShutdownPolicy string

// Shutdown policies.
const (
	// ShutdownDelete deletes the claim and what it owns.
	ShutdownDelete ShutdownPolicy = "Delete"
	// ShutdownDeleteForeground does so after what it owns is gone.
	ShutdownDeleteForeground ShutdownPolicy = "DeleteForeground"
	// ShutdownRetain keeps the claim.
	ShutdownRetain ShutdownPolicy = "Retain"
)

// SandboxTemplateRef points at a SandboxTemplate in the same namespace.
type SandboxTemplateRef struct {
	// name is the name of the template.
	//
	// +required
	Name string `json:"name"`
}

// PodMetadata is put on the pod of the sandbox.
type PodMetadata struct {
	// labels are added to the pod's.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pod's.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// EnvVar is an environment variable of a container of the sandbox.
type EnvVar struct {
	// name is the name of the variable.
	//
	// +required
	Name string `json:"name"`

	// value is its value.
	//
	// +required
	Value string `json:"value"`

	// containerName names the container it is meant for; unset means the first.
	//
	// +optional
	ContainerName string `json:"containerName,omitempty"`
}

// Lifecycle says when a claim ends and what happens then.
type Lifecycle struct {
	// shutdownTime is the instant at which the claim expires.
	//
	// +optional
	ShutdownTime *metav1.Time `json:"shutdownTime,omitempty"`

	// ttlSecondsAfterFinished is how long a claim is kept after its pod ended.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// shutdownPolicy says what happens when the claim ends. The default is
	// Retain.
	//
	// +optional
	// +kubebuilder:default=Retain
	ShutdownPolicy ShutdownPolicy `json:"shutdownPolicy,omitempty"`
}

// SandboxClaimSpec asks for one sandbox.
type SandboxClaimSpec struct {
	// sandboxTemplateRef points at the template of the sandbox.
	//
	// +required
	SandboxTemplateRef SandboxTemplateRef `json:"sandboxTemplateRef"`

	// lifecycle says when the claim ends and what happens then.
	//
	// +optional
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`

	// warmpool says from which warm pool the sandbox may be taken: default for
	// any of the template's, none, or the name of one.
	//
	// +optional
	// +kubebuilder:default=default
	WarmPool *string `json:"warmpool,omitempty"`

	// additionalPodMetadata is put on the pod of the sandbox.
	//
	// +optional
	AdditionalPodMetadata PodMetadata `json:"additionalPodMetadata,omitzero"`

	// env are environment variables for the sandbox. A claim with any is not
	// served from a warm pool.
	//
	// +optional
	// +listType=atomic
	Env []EnvVar `json:"env,omitempty"`
}

// SandboxStatus describes the sandbox that serves a claim.
type SandboxStatus struct {
	// name is the name of the sandbox, which is not that of the claim when it
	// came from a warm pool.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// podIPs are the addresses of its pod.
	//
	// +optional
	PodIPs []string `json:"podIPs,omitempty"`
}

// SandboxClaimStatus is what the operator reports.
type SandboxClaimStatus struct {
	// conditions are the operator's conditions. It does not declare them as a
	// map by type.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// sandbox describes the sandbox that serves the claim.
	//
	// +optional
	Sandbox SandboxStatus `json:"sandbox,omitzero"`
}

// SandboxClaim asks the agent-sandbox operator for one sandbox.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=sandboxclaim
// +kubebuilder:subresource:status
type SandboxClaim struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec asks for the sandbox.
	//
	// +required
	Spec SandboxClaimSpec `json:"spec"`

	// status is what the operator reports.
	//
	// +optional
	Status SandboxClaimStatus `json:"status,omitzero"`
}

// SandboxClaimList is a list of SandboxClaims.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type SandboxClaimList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the SandboxClaims.
	Items []SandboxClaim `json:"items"`
}
