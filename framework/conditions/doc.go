// Package conditions is the arithmetic of status conditions.
//
// It is pure: time and generation are arguments, slices are never changed in
// place, so a slice of a cached object may be passed as it is. One type
// occurs once in a slice. Which conditions a kind has, and what they mean, is
// the kind's own business.
package conditions
