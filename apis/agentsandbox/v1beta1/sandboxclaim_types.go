package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

// WarmPoolRef points at a SandboxWarmPool in the same namespace.
type WarmPoolRef struct {
	// name is the name of the pool.
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

// VolumeClaimTemplateMetadata is put on a volume claim of the sandbox.
type VolumeClaimTemplateMetadata struct {
	// name is the name under which the volume is mounted.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// labels are put on the volume claim.
	//
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are put on the volume claim.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// VolumeClaimTemplate is a volume claim that the sandbox gets.
type VolumeClaimTemplate struct {
	// metadata is put on the volume claim.
	//
	// +optional
	Metadata VolumeClaimTemplateMetadata `json:"metadata,omitzero"`

	// spec is the spec of the volume claim.
	//
	// +required
	Spec corev1.PersistentVolumeClaimSpec `json:"spec"`
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
	// warmPoolRef points at the warm pool that serves the claim.
	//
	// +required
	WarmPoolRef WarmPoolRef `json:"warmPoolRef"`

	// lifecycle says when the claim ends and what happens then.
	//
	// +optional
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`

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

	// volumeClaimTemplates are the volume claims that the sandbox gets.
	//
	// +optional
	// +listType=atomic
	VolumeClaimTemplates []VolumeClaimTemplate `json:"volumeClaimTemplates,omitempty"`
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
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the sandbox can be used"
// +kubebuilder:printcolumn:name="Sandbox",type=string,JSONPath=`.status.sandbox.name`,description="Name of the sandbox"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
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
