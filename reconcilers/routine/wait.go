package routine

import (
	"hash/fnv"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// stagger is over how much time the routines of one instant are looked at
	// again.
	stagger = 30 * time.Second

	// A clock that jumps is noticed after longestWait at the latest. The
	// periodic look is spread by the framework, from half of itself to one and
	// a half.
	shortestWait = time.Second
	longestWait  = time.Hour
	periodic     = 40 * time.Minute
)

// look is when to look again if nothing happens, and what for; spread marks a
// periodic look.
type look struct {
	after  time.Duration
	spread bool
	what   string
}

// lookAfter is the next look at a valid routine: when what it says of the
// next fire is no longer true, and often enough to see that the clock is
// another. What does not depend on the time is looked at when it changes.
func lookAfter(now time.Time, uid types.UID, says verdict) look {
	if says.timeless {
		return look{}
	}
	if len(says.next) > 0 {
		// A fire may be further away than a duration can say.
		if left, late := says.next[0].Sub(now), delay(uid); left <= longestWait-late {
			return look{after: max(left+late, shortestWait), what: "the next fire to pass"}
		}
	}
	return look{after: periodic, spread: true, what: "a look at the clock"}
}

// delay is how long after a fire a routine is looked at: its own part of
// stagger, always the same.
func delay(uid types.UID) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(uid))
	return time.Duration(hash.Sum64() % uint64(stagger))
}
