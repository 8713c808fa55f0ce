package conversation

import (
	"math"
	"time"
)

// longestWait bounds a wait before it becomes a duration, in seconds.
const longestWait = 24 * 60 * 60

// since is how many seconds now is after then, without wrapping round.
func since(now, then int64) int64 {
	switch d := now - then; {
	case then < 0 && d < now:
		return math.MaxInt64
	case then > 0 && d > now:
		return math.MinInt64
	default:
		return d
	}
}

// later is n seconds after then, without wrapping round; n is not negative.
func later(then, n int64) int64 {
	if then > math.MaxInt64-n {
		return math.MaxInt64
	}
	return then + n
}

// stamp reads a time that another program may have written. Before 1970
// nobody wrote anything: such a stamp is none.
func stamp(at *int64) (int64, bool) {
	if at == nil || *at < 0 {
		return 0, false
	}
	return *at, true
}

// sooner is the time to a deadline, exact, or a periodic look if that comes
// first even when it is spread. A deadline counts as passed one
// second after it, since times are whole seconds and compared strictly. One
// that lies in the past is none: something else holds it up.
func sooner(poll time.Duration, now, deadline int64) (wait time.Duration, spread bool) {
	left := min(since(later(deadline, 1), now), longestWait)
	exact := time.Duration(max(left, 0)) * time.Second
	if exact > 0 && exact <= poll+poll/2 {
		return exact, false
	}
	return poll, true
}
