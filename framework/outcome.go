package framework

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// outcome is how a pass ended. There are four, and no others: done (come
// back on a change), wait (come back after a time), retry (an error), and
// terminal (an error that only new input can cure).
type outcome struct {
	// err is what failed; nil for done and wait.
	err error
	// wait is when to come back although nothing may have changed; zero is
	// never. It counts only when nothing failed.
	wait time.Duration
	// planned is from when wait counts; the zero time is the end of the pass.
	planned time.Time
	// retryAfter is how long the server asked to wait.
	retryAfter time.Duration
	// notes are what the caches must show before the next pass.
	notes []note
	// touches are the writes that succeeded; writes counts those tried.
	touches []touch
	writes  int
	// paced is set when the pass wrote nothing yet: it has to wait its turn,
	// but for no longer than deadline if that is set.
	paced    bool
	deadline time.Duration
	// paused is set when the pass carried nothing out, as it was told to.
	paused bool
	// decision, actions and waitFor are the plan, for people; tried counts
	// the actions that were begun.
	decision string
	actions  []string
	waitFor  string
	tried    int
}

// waitFrom is what is left of the wait; zero is never.
func (o outcome) waitFrom(now time.Time) time.Duration {
	if o.wait <= 0 || o.planned.IsZero() {
		return o.wait
	}
	return max(o.wait-now.Sub(o.planned), time.Millisecond)
}

// word names the outcome for logs and metrics.
func (o outcome) word() string {
	switch {
	case o.paced:
		return "paced"
	case o.err == nil && o.paused:
		return "paused"
	case o.err == nil && o.wait > 0:
		return "wait"
	case o.err == nil:
		return "done"
	case Classify(o.err) == ClassTerminal:
		return "terminal"
	default:
		return "retry"
	}
}

// sooner merges two waits; zero means none.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || (b > 0 && b < a) {
		return max(b, 0)
	}
	return a
}

// identity tells one object and one wish for it from all others.
type identity struct {
	uid        types.UID
	generation int64
	// broken is set while the object does not decode: mending its status
	// makes no new generation.
	broken bool
	// deleting and paused change what is to be done without a generation.
	deleting, paused bool
	// epoch counts the schemas that the API server has been seen to have.
	epoch int
}
