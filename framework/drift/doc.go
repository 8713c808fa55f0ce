// Package drift answers one question without asking the API server: would
// applying this configuration change that object?
//
// A configuration is first normalised: taken through the Go type of the
// object and cut back to the fields it named. What the server drops (an empty
// string, an empty list) is then gone from it, and what the server respells
// (quantities, times) is spelled the server's way. The normalised form is
// what must be applied as well, or the two would disagree for ever.
//
// Missing then looks for each wanted field in the object. Fields that only
// the object has belong to somebody else and are no difference, so a field
// that is no longer wanted cannot be noticed by comparing. That is what Hash
// is for: kept in an annotation of the configuration, it remembers what was
// applied, and a configuration that shrank has another hash.
//
// Known limits: the order of lists that server-side apply merges by a key is
// not compared, as apply would not change it either; and where somebody adds
// to a list that apply replaces whole, but whose elements have names, that
// goes unseen. Such lists of the built-in kinds are known here and compared
// whole.
//
// The package is pure: no clients, no clock. Nothing it returns but paths
// and hashes, so no value of a secret gets into a message.
package drift
