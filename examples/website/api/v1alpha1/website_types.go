package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

const (
	// WebsiteLabel holds the name of the Website on its Deployment, ConfigMap
	// and pods. The controller writes it; the Deployment selects on it.
	WebsiteLabel = GroupName + "/website"
	// PageHashAnnotation names the content of the page on the pods, so that
	// another page makes other pods. The controller writes it.
	PageHashAnnotation = GroupName + "/page-hash"
)

// Reasons of the condition Ready.
const (
	// ReasonPending (False) is the status default: no controller has looked yet.
	ReasonPending = "Pending"
	// ReasonServing (True) says that every replica serves the page.
	ReasonServing = "Serving"
	// ReasonRollingOut (False) says that not every replica serves it yet.
	ReasonRollingOut = "RollingOut"
	// ReasonApplyFailed (False) says that a child could not be written; it is
	// tried again.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonNameConflict (False, with Stalled) says that an object of somebody
	// else has the name of a child. It is never touched.
	ReasonNameConflict = "NameConflict"
)

// WebsiteSpec is the page and how it is served.
type WebsiteSpec struct {
	// html is the page, at most 65,536 characters. It is required. A new page
	// replaces the pods, a few at a time.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	HTML string `json:"html"`

	// replicas is how many pods serve the page, 1 to 10. The default is 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Replicas int32 `json:"replicas,omitempty"`

	// image is a web server that serves /usr/share/nginx/html on port 8080, as
	// a user other than root. Unset leaves the choice to the controller.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
}

// WebsiteStatus is what became of the spec.
type WebsiteStatus struct {
	// observedGeneration is the generation of the object that the controller
	// last acted on.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// readyReplicas is how many pods are ready to serve. While a new page rolls
	// out, those that serve the old one count too.
	//
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// conditions holds Ready, and Stalled or SchemaSkew where they apply, one
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

// Website is one page, served by a Deployment of web servers from a ConfigMap,
// both of the same name.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=web
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Wanted",type=integer,JSONPath=`.spec.replicas`,description="How many pods shall serve the page"
// +kubebuilder:printcolumn:name="Serving",type=integer,JSONPath=`.status.readyReplicas`,description="How many pods are ready to serve"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether every replica serves the page"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is, or is not, ready"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="the name becomes a label of the pods: use at most 63 characters"
type Website struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the page and how it is served.
	//
	// +required
	Spec WebsiteSpec `json:"spec"`

	// status is what became of the spec. A new object shows Ready=False, reason
	// Pending, until the controller has looked at it.
	//
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "False", reason: "Pending", message: "no controller has looked at this object yet", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status WebsiteStatus `json:"status,omitzero"`
}

// WebsiteList is a list of Websites.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the Websites.
	Items []Website `json:"items"`
}
