// Package v1alpha1 holds the API types of the group web.example.com: what
// people write into a Website, and what they read in its status.
//
// The comments of the fields are what kubectl explain shows; the markers
// below a comment become the CustomResourceDefinition in generated/crds. The
// package imports nothing but apimachinery, so that any client may use it.
//
// +k8s:deepcopy-gen=package
// +groupName=web.example.com
package v1alpha1
