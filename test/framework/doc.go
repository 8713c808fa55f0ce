// Package framework holds journeys of the reconcile framework on a real API
// server, through a kind of its own, the Widget, and through the faults of
// the framework's test kit. Most run on the shared cluster, each in a
// namespace of its own; those that take definitions, rights or the server
// away have a control plane of their own.
//
// It also holds the proof of the kit itself: the widgets are crashed at each
// of their writes, mistakes are planted in their reconciler that the crash
// runner must see, and the faults of watches are played to a plain client.
package framework
