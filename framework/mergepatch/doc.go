// Package mergepatch makes JSON merge patches (RFC 7386) out of two versions
// of an object: only the fields that changed are in the patch, so that those
// of other writers survive it.
//
// Objects are merged, lists are replaced whole, and what went is null. That
// leaves one thing such a patch cannot say: a member whose value is null. In
// the JSON of a Go type null means that nothing is set, as leaving the member
// out does, so the two are taken for the same.
//
// Both versions are compared as they look on the wire: what encodes alike is
// equal, a time with and without its fraction of a second for one.
package mergepatch
