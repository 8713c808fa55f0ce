package framework

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxWrites is how often a minute one object may be written on behalf of
	// one key while nobody else changes anything.
	maxWrites = 10
	// flapWindow is the minute.
	flapWindow = time.Minute
	// maxMarks bounds how many own writes, and how much news, is remembered
	// of one key; what is beyond it counts as somebody else's change.
	maxMarks = 64
)

// touch is one write that succeeded.
type touch struct {
	// target names the object for people, such as "ConfigMap one".
	target string
	mark   mark
	// paths are what was written.
	paths []string
}

// mark is one version of one object. Without a version it is the object's
// end.
type mark struct {
	uid     types.UID
	version string
}

// activity is what is remembered for a minute or two of a key that writes: it
// tells work from writing in circles. News of our own writes is no reason to
// write again; anything else is.
type activity struct {
	since      time.Time
	generation int64
	// own are versions that the key's writes made, heard those of others, as
	// far back as they are remembered; news has not been judged yet.
	own, heard, news []mark
	counts           map[string]int
	paths            map[string][]string
}

// hear remembers that a version of an object concerned the key. Who made it is
// judged later: it may be here before the answer to the write that made it.
func (a *activity) hear(m mark) {
	if len(a.news) <= maxMarks {
		a.news = append(a.news, m)
	}
}

// disturbed reports whether somebody else has changed something since the
// last pass, and begins anew if so, or when the minute is over.
func (a *activity) disturbed(now time.Time, generation int64) bool {
	// A list hands on again what was heard before.
	foreign := func(m mark) bool {
		return !slices.Contains(a.own, m) && !slices.Contains(a.own, mark{uid: m.uid}) && !slices.Contains(a.heard, m)
	}
	disturbed := a.generation != generation || len(a.news) > maxMarks || slices.ContainsFunc(a.news, foreign)
	a.heard = append(a.heard, a.news...)
	a.heard = a.heard[max(len(a.heard)-maxMarks, 0):]
	a.news = a.news[:0]
	if disturbed || now.Sub(a.since) >= flapWindow {
		a.since, a.generation = now, generation
		a.counts, a.paths = map[string]int{}, map[string][]string{}
	}
	return disturbed
}

// wrote counts a pass's writes.
func (a *activity) wrote(touches []touch) {
	for _, t := range touches {
		a.own = append(a.own[max(len(a.own)+1-maxMarks, 0):], t.mark)
		a.counts[t.target]++
		for _, path := range t.paths {
			if path = t.target + ": " + path; !slices.Contains(a.paths[t.target], path) && len(a.paths[t.target]) < maxMarks {
				a.paths[t.target] = append(a.paths[t.target], path)
			}
		}
	}
}

// flapping returns the paths that were written too often, sorted.
func (a *activity) flapping() []string {
	var paths []string
	for target, count := range a.counts {
		if count >= maxWrites {
			paths = append(paths, a.paths[target]...)
		}
	}
	slices.Sort(paths)
	return paths
}

// activities are the keys that have written lately. Those that have been
// still for a while are forgotten, a whole generation at a time.
type activities struct {
	recent, older map[Key]*activity
	turned        time.Time
}

func newActivities() activities {
	return activities{recent: map[Key]*activity{}, older: map[Key]*activity{}}
}

func (s *activities) of(key Key) *activity {
	if a := s.recent[key]; a != nil {
		return a
	}
	return s.older[key]
}

// add counts a pass's writes for a key.
func (s *activities) add(now time.Time, key Key, generation int64, touches []touch) {
	s.turn(now)
	a := s.of(key)
	if a == nil {
		a = &activity{}
		a.disturbed(now, generation)
	}
	s.recent[key] = a
	a.wrote(touches)
}

// turn forgets those that have been still for a whole minute.
func (s *activities) turn(now time.Time) {
	if now.Sub(s.turned) > flapWindow && len(s.recent)+len(s.older) > 0 {
		s.recent, s.older, s.turned = map[Key]*activity{}, s.recent, now
	}
}

func (s *activities) forget(key Key) {
	delete(s.recent, key)
	delete(s.older, key)
}
