// Package v1beta1 mirrors SandboxClaim of extensions.agents.x-k8s.io/v1beta1,
// the API of the agent-sandbox operator, as far as this project uses it.
//
// The API is not ours: the operator installs its own CRDs, and the field names
// here follow them. The mirror exists so that clients, informers, listers, fakes
// and a CRD for tests can be generated. This version is served by the operator
// from v0.5.0 on, and alone from v1.0.0 on: a claim names a warm pool in place of
// a template.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +groupName=extensions.agents.x-k8s.io
// +groupGoName=AgentSandbox
package v1beta1
