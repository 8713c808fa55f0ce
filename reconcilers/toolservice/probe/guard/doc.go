// Package guard says which addresses a probe may dial. It is pure: an address
// goes in, a verdict comes out. The caller asks it about the address that is
// really dialled, after resolution, so that a name which resolves differently
// the second time gains nothing.
//
// Private addresses are allowed, because a server inside the cluster is the
// normal case. Never allowed are addresses that mean the node or the network
// itself: unspecified, link-local, multicast and the metadata services of
// clouds, and the API server on its own port. Loopback is for development.
// An IPv6 address that stands for an IPv4 address is judged as both.
package guard
