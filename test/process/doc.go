// Package process tests the controller as it is shipped: the binary, under
// the ServiceAccount and Roles of manifests/base, killed and stopped as a
// cluster would.
package process
