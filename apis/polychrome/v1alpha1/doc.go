// Package v1alpha1 holds the API types of the group polychrome.dev.
//
// The JSON names are a wire contract: other programs read and write these
// objects, so a name never changes and a new field is always optional. The
// package depends on the standard library and apimachinery alone, so that a
// client can import it without drawing in a controller.
//
// Conditions and their reasons are listed in conditions.go and reasons.go,
// label, annotation and finalizer keys in labels.go, one kind per
// <kind>_types.go. Behaviour lives in the reconcilers; methods here, where
// there are any, only compute names, keys and selectors.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +groupName=polychrome.dev
package v1alpha1
