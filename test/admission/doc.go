// Package admission tests what the API server makes of this project's objects:
// the shape of the generated schemas without one, and with a real one that bad
// objects are refused with a message that says what to write instead, that good
// ones pass with their defaults, and that an object stored before a rule existed
// can still be labelled, reported on and deleted.
package admission
