package framework

import "math/bits"

// causes are the reasons for which a key is due, several at once: a bit each,
// so that gathering them costs nothing.
type causes uint64

const (
	// causeStart is that the controller looks at every object.
	causeStart causes = 1 << iota
	// causeTrigger is that the reconciler asked.
	causeTrigger
	// causeCaughtUp is that a cache shows what a parked key waited for.
	causeCaughtUp
	// causeConflict is that a write met another version than the cache's.
	causeConflict
	// causeAgain is that a pass asked for the next at once.
	causeAgain
	// firstSource is a change in the first source; others follow it.
	firstSource
)

// causeNames are those for people, by bit; the names of sources follow.
var causeNames = []string{"start", "trigger", "cache caught up", "conflict", "again"}

// maxSources is how many sources one controller can tell apart.
const maxSources = 64 - 5

// sourceCause is that something changed in a controller's nth source.
func sourceCause(n int) causes { return firstSource << n }

// urgent tells new and changed objects from those that are only looked at
// again. A key that is due by time has no cause.
func (c causes) urgent() bool { return c&^causeStart != 0 }

// words names the causes; sources are the names of the controller's sources.
func (c causes) words(sources []string) []string {
	if c == 0 {
		return []string{"time"}
	}
	words := make([]string, 0, bits.OnesCount64(uint64(c)))
	for n := range 64 {
		switch {
		case c&(1<<n) == 0:
		case n < len(causeNames):
			words = append(words, causeNames[n])
		case n-len(causeNames) < len(sources):
			words = append(words, sources[n-len(causeNames)]+" changed")
		}
	}
	return words
}
