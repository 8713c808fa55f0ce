// Package framework holds journeys of the reconcile framework on a real API
// server, through a kind of its own, the Widget, and through the faults of
// the framework's test kit. Most run on the shared cluster, each in a
// namespace of its own; those that take definitions, rights or the server
// away have a control plane of their own.
package framework
