// Package served answers one question at the start of a program: which
// fields of a Go type does the API server not know? An older definition of a
// kind drops them from every write without a word.
//
// What the server knows is read from the document it publishes for the group
// and version, so the answer needs no right to read definitions. It is an
// estimate on the safe side: a type that marshals itself is not looked into,
// and no complaint is made of what the document leaves open.
//
// The package is pure: no clients, no clock.
package served
