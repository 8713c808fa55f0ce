package schedule

import (
	"errors"
	"fmt"
)

// part is what an error is about.
type part int

const (
	partExpression part = iota
	partZone
	partInstant
	partNever
)

// refusal says what is wrong with a schedule and what to write instead.
type refusal struct {
	part part
	text string
}

// Error is a sentence for people.
func (r *refusal) Error() string { return r.text }

func refuse(p part, format string, args ...any) error {
	return &refusal{part: p, text: fmt.Sprintf(format, args...)}
}

// IsInvalidZone reports whether a schedule was refused for its zone.
func IsInvalidZone(err error) bool { return about(err, partZone) }

// IsNeverFires reports whether a schedule was refused because no instant
// matches it.
func IsNeverFires(err error) bool { return about(err, partNever) }

func about(err error, p part) bool {
	var r *refusal
	return errors.As(err, &r) && r.part == p
}
