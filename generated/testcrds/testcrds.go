// Package testcrds embeds CustomResourceDefinitions of SandboxClaim, generated
// from this project's mirror of that API.
//
// They are for tests alone. The real definition belongs to the agent-sandbox
// operator, which installs it and converts between its versions by webhook; these
// have no conversion.
package testcrds

import _ "embed"

// SandboxClaim serves both versions and stores v1beta1, as releases v0.5.x of
// the operator do.
//
//go:embed extensions.agents.x-k8s.io_sandboxclaims.yaml
var SandboxClaim []byte

// SandboxClaimV1alpha1 serves v1alpha1 alone, as releases before v0.5.0 do.
//
//go:embed v1alpha1/extensions.agents.x-k8s.io_sandboxclaims.yaml
var SandboxClaimV1alpha1 []byte

// SandboxClaimV1beta1 serves v1beta1 alone, as releases from v1.0.0 on do.
//
//go:embed v1beta1/extensions.agents.x-k8s.io_sandboxclaims.yaml
var SandboxClaimV1beta1 []byte
