package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Defaults of a ToolService. The API server fills them in; an object that
// predates the schema may lack them.
const (
	// DefaultRemoteType is the transport of a remote that names none.
	DefaultRemoteType = "streamable-http"
	// DefaultBearerSecretKey is the key read from a Secret when none is named.
	DefaultBearerSecretKey = "token"
	// DefaultProbeIntervalSeconds is the time between two probes.
	DefaultProbeIntervalSeconds int32 = 60
	// DefaultProbeTimeoutSeconds is the deadline over one whole probe.
	DefaultProbeTimeoutSeconds int32 = 10
)

// Secrets of the control plane that a ToolService may not point at.
const (
	// ReservedSecretPrefix begins the names of the wallet keys.
	ReservedSecretPrefix = "polychrome-wallet-key-"
	// ReservedSecretName is the Secret of the state attestation.
	ReservedSecretName = "polychrome-state-attestation"
)

// ToolServicePhase is a one-word summary of a ToolService, for people. Programs
// read the conditions.
//
// +kubebuilder:validation:Enum=Pending;Ready;Degraded;Unreachable;Invalid
type ToolServicePhase string

// Phases of a ToolService.
const (
	// ToolServicePending means that it has not been probed yet.
	ToolServicePending ToolServicePhase = "Pending"
	// ToolServiceReady means that its tools were listed.
	ToolServiceReady ToolServicePhase = "Ready"
	// ToolServiceDegraded means that the server answers but is not usable.
	ToolServiceDegraded ToolServicePhase = "Degraded"
	// ToolServiceUnreachable means that the server does not answer.
	ToolServiceUnreachable ToolServicePhase = "Unreachable"
	// ToolServiceInvalid means that only a changed spec can help.
	ToolServiceInvalid ToolServicePhase = "Invalid"
)

// ToolServiceRemote is one address of an MCP server.
type ToolServiceRemote struct {
	// type is the transport: streamable-http, which is the default and the only
	// one that can be probed, or sse.
	//
	// +optional
	// +kubebuilder:default="streamable-http"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type,omitempty"`

	// url is where the server answers: http or https, with no user information
	// and no fragment. It is required.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://[^/?#@\\\\s]+([/?][^#\\\\s]*)?$')",message="write an absolute http or https URL without user information, fragment or spaces, such as https://tools.example.com/mcp; a token belongs into the Secret that auth.bearerSecretRef names"
	URL string `json:"url"`
}

// SecretKeyReference points at one key of a Secret in the same namespace.
type SecretKeyReference struct {
	// name is the name of the Secret. It is required. The control plane's own
	// Secrets are refused.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('polychrome-wallet-key-') && self != 'polychrome-state-attestation'",message="this Secret is reserved for the control plane: put the token into a Secret of its own and write that name here"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="write the name of a Secret: lower case letters, digits, '-' and '.', starting and ending with a letter or digit, such as weather-token"
	Name string `json:"name"`

	// key is the key within the Secret. The default is token.
	//
	// +optional
	// +kubebuilder:default=token
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// ToolServiceAuth says how the controller proves itself to the server.
type ToolServiceAuth struct {
	// bearerSecretRef names the Secret that holds a bearer token. The token is
	// sent to the scheme, host and port of the remote's url and nowhere else.
	// Unset means that no token is sent.
	//
	// +optional
	BearerSecretRef *SecretKeyReference `json:"bearerSecretRef,omitempty"`
}

// ToolServiceProbe says how often and how patiently the server is asked.
type ToolServiceProbe struct {
	// intervalSeconds is the time between two probes of a healthy server, at
	// least 10. The default is 60.
	//
	// +optional
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	IntervalSeconds int32 `json:"intervalSeconds,omitempty"`

	// timeoutSeconds is the deadline over one whole probe, from 1 to 60. The
	// default is 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
}

// ToolServiceSpec is the registry entry of one MCP server.
type ToolServiceSpec struct {
	// name is the server's name in the registry, such as
	// com.example/weather. It is required.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// version is the version of the server that the entry describes, in free
	// form. The controller does not act on it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Version string `json:"version,omitempty"`

	// description says what the server is for, in free text.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Description string `json:"description,omitempty"`

	// remotes are the addresses of the server, at most 16. The first one that
	// can be probed is used. Without any the entry is invalid. The list is
	// replaced whole by a patch.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Remotes []ToolServiceRemote `json:"remotes,omitempty"`

	// defaultEnabled offers the tools to every conversation that does not deny
	// them. The default is false: only to those that name the service.
	//
	// +optional
	DefaultEnabled bool `json:"defaultEnabled,omitempty"`

	// auth says how the controller proves itself to the server. Unset means not
	// at all.
	//
	// +optional
	Auth *ToolServiceAuth `json:"auth,omitempty"`

	// probe says how often and how patiently the server is asked for its tools.
	// Unset means every 60 seconds, with 10 seconds for an answer.
	//
	// +optional
	Probe *ToolServiceProbe `json:"probe,omitempty"`
}

// Tool is one tool that the server offers.
type Tool struct {
	// name identifies the tool within the server.
	//
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// description is the server's own text, cut where it is long.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Description string `json:"description,omitempty"`

	// inputSchema is the JSON Schema of the tool's arguments as sent by the
	// server. It is left out where it is too large; status.truncated says so.
	//
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:MaxProperties=1024
	// +kubebuilder:pruning:PreserveUnknownFields
	InputSchema *runtime.RawExtension `json:"inputSchema,omitempty"`

	// readOnlyHint is the server's claim that the tool changes nothing. Unset
	// means that it claims nothing.
	//
	// +optional
	ReadOnlyHint *bool `json:"readOnlyHint,omitempty"`

	// destructiveHint is the server's claim on whether the tool may destroy.
	// Unset means that it claims nothing.
	//
	// +optional
	DestructiveHint *bool `json:"destructiveHint,omitempty"`

	// idempotentHint is the server's claim that repeating a call changes
	// nothing more. Unset means that it claims nothing.
	//
	// +optional
	IdempotentHint *bool `json:"idempotentHint,omitempty"`

	// openWorldHint is the server's claim on whether the tool reaches beyond
	// the server. Unset means that it claims nothing.
	//
	// +optional
	OpenWorldHint *bool `json:"openWorldHint,omitempty"`
}

// ServerInfo is what the server says of itself.
type ServerInfo struct {
	// name is the server's own name.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// version is the server's own version.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Version string `json:"version,omitempty"`

	// protocolVersion is the protocol version that was agreed on.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ProtocolVersion string `json:"protocolVersion,omitempty"`
}

// ToolServiceStatus is what the probes found. It is written only when something
// changed; a steady server causes no writes.
type ToolServiceStatus struct {
	// observedGeneration is the generation of the object that the controller
	// last acted on.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// ready says that the server answers and its tools are known.
	//
	// +optional
	Ready bool `json:"ready"`

	// phase is a one-word summary for people. The conditions say more.
	//
	// +optional
	Phase ToolServicePhase `json:"phase,omitempty"`

	// message explains the phase in a sentence. It is unset when there is
	// nothing to explain.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`

	// toolCount is how many tools the server offers, also those that are not
	// listed below.
	//
	// +optional
	ToolCount int32 `json:"toolCount"`

	// catalogHash changes when a tool was added, removed or changed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CatalogHash string `json:"catalogHash,omitempty"`

	// truncated says that tools, descriptions or schemas were left out below
	// because there are too many or they are too large.
	//
	// +optional
	Truncated bool `json:"truncated,omitempty"`

	// tools are the tools of the server by name, one entry each. The last list
	// that was read stays while the server cannot be reached.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=512
	Tools []Tool `json:"tools,omitempty"`

	// serverInfo is what the server says of itself. It is unset before the
	// first answer.
	//
	// +optional
	ServerInfo *ServerInfo `json:"serverInfo,omitempty"`

	// conditions holds Ready and Reachable, and Stalled, HotLoop, SchemaSkew or
	// Paused where they apply, one entry per type.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// ToolService is the private registry entry of one MCP server. The controller
// asks the server for its tools from time to time and keeps the status truthful.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=ts,categories=polychrome
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the server answers and its tools are known"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not"
// +kubebuilder:printcolumn:name="Tools",type=integer,JSONPath=`.status.toolCount`,description="Number of tools"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.remotes[0].url`,priority=1,description="First address of the server"
// +kubebuilder:printcolumn:name="Protocol",type=string,JSONPath=`.status.serverInfo.protocolVersion`,priority=1,description="Protocol version agreed on"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`,description="Time since creation"
type ToolService struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	//
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the registry entry.
	//
	// +required
	Spec ToolServiceSpec `json:"spec"`

	// status is what the probes found. A new object shows Ready=False, reason
	// Pending, until the controller has looked at it.
	//
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "False", reason: "Pending", message: "no controller has looked at this object yet", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status ToolServiceStatus `json:"status,omitzero"`
}

// ToolServiceList is a list of ToolServices.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:object:root=true
type ToolServiceList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	//
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`

	// items are the ToolServices.
	Items []ToolService `json:"items"`
}
