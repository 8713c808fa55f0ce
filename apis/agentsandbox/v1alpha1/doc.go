// Package v1alpha1 mirrors SandboxClaim of extensions.agents.x-k8s.io/v1alpha1,
// the API of the agent-sandbox operator, as far as this project uses it.
//
// The API is not ours: the operator installs its own CRDs, and the field names
// here follow them. The mirror exists so that clients, informers, listers, fakes
// and a CRD for tests can be generated. This version is served by the operator
// up to v0.5.x.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +groupName=extensions.agents.x-k8s.io
// +groupGoName=AgentSandbox
package v1alpha1
