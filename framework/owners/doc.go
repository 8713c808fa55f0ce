// Package owners judges to whom a child object belongs.
//
// A child is ours, free or foreign. Foreign ones are never written; free ones
// are not taken over, since nobody can tell why they have no owner; one that
// lost its reference but carries our UID in a label is still ours.
//
// The package is pure. Objects come from people and other programs, so
// nothing about them is taken for granted: what is unclear is foreign.
package owners
