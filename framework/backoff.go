package framework

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// The steady window: what a key that keeps failing settles to.
const (
	steadyMin = 10 * time.Second
	steadyMax = 60 * time.Second
)

// slowDelay is how long to wait before trying again what is not expected to
// heal by itself: an older schema, a key that writes in circles.
const slowDelay = 5 * time.Minute

// firstRetries are the delays before the steady one, each taken times a
// random factor in [0.5, 1.5).
var firstRetries = []time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// retryDelay is how long to wait after the given number of failures in a
// row, the first being 1.
func retryDelay(name string, failures int) time.Duration {
	if failures <= len(firstRetries) {
		base := firstRetries[max(failures, 1)-1]
		return base/2 + rand.N(base)
	}
	return withinWindow(name, steadyMin, steadyMax)
}

// slowRetry is how long a name waits before what is not expected to heal by
// itself is tried again.
func slowRetry(name string) time.Duration {
	return withinWindow(name, slowDelay, slowDelay+slowDelay/10)
}

// withinWindow spreads names over [low, high] in whole seconds, the same
// name always to the same value, so that an outage never makes a fleet retry
// in step. A high below low counts as low.
func withinWindow(name string, low, high time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name))
	span := uint64(max(high-low, 0)/time.Second) + 1
	return low + time.Duration(hash.Sum64()%span)*time.Second
}

// spread turns a periodic wait into the time to the object's own next moment
// that is at least half of it away, at most one and a half. The moments are a
// whole wait apart, at a phase that stays with the object whatever happens to
// the process, so that restarts and bursts do not align a fleet.
func spread(now time.Time, wait time.Duration, uid string) time.Duration {
	if wait <= 0 {
		return 0
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(uid))
	phase := time.Duration(hash.Sum64() % uint64(wait))
	since := time.Duration(now.Add(wait/2).UnixNano() % int64(wait))
	return wait/2 + (phase-since+wait)%wait
}
