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

// skewDelay is how long after a refusal by an older schema to try again.
const skewDelay = 5 * time.Minute

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

// withinWindow spreads names over [low, high] in whole seconds, the same
// name always to the same value, so that an outage never makes a fleet retry
// in step. A high below low counts as low.
func withinWindow(name string, low, high time.Duration) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name))
	span := uint64(max(high-low, 0)/time.Second) + 1
	return low + time.Duration(hash.Sum64()%span)*time.Second
}

// spread stretches a periodic wait by up to a tenth, by a phase that stays
// with the object, so that restarts and bursts do not align a fleet.
func spread(wait time.Duration, uid string) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(uid))
	const steps = 1 << 16
	phase := int64(hash.Sum64() % steps)
	return wait + time.Duration(int64(wait/10)*phase/steps)
}
