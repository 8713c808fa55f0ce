// Package apps plays ServiceDefinitions and Workflows together, on a real
// control plane whose nodes run nothing but say that they do.
package apps
