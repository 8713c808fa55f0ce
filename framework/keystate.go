package framework

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// maxTold bounds how many events are remembered as told.
const maxTold = 64

// keyState is what is remembered of a key between passes. It dies with the
// object.
type keyState struct {
	// notes are what the caches must show before the next pass.
	notes []note
	// parkedSince is when the key was first turned away because of them.
	parkedSince time.Time
	// failed is the object whose passes fail, failures how many in a row.
	failed   identity
	failures int
	// notBefore is when a failed pass is tried again.
	notBefore time.Time
	// conflicts counts conflicts in a row.
	conflicts int
	// terminal is set while only a new generation can help.
	terminal bool
	// hot is set while the key writes in circles and is held to a slow pace.
	hot bool
	// activity is that of a hot key, for as long as it is held.
	activity *activity
	// causes are why the key was due while it could not run.
	causes causes
	// told are the events already sent for the object toldOf.
	toldOf types.UID
	told   map[Event]struct{}
}

// blank reports whether there is nothing to remember.
func (s *keyState) blank() bool {
	return len(s.notes) == 0 && s.failures == 0 && s.conflicts == 0 && !s.terminal && s.causes == 0 && len(s.told) == 0
}

// held reports whether an object's pass must not run yet, and for how much
// longer; zero for as long as the object stays what it is. A backoff holds
// for one identity: a new generation is tried at once.
func (s *keyState) held(now time.Time, id identity) (time.Duration, bool) {
	if s.failures == 0 && !s.terminal {
		return 0, false
	}
	if s.failed != id {
		s.recover()
		return 0, false
	}
	if s.terminal {
		return 0, true
	}
	left := s.notBefore.Sub(now)
	return left, left > 0
}

// recover forgets all failure.
func (s *keyState) recover() {
	s.failures, s.conflicts, s.terminal, s.notBefore, s.failed = 0, 0, false, time.Time{}, identity{}
	s.hot, s.activity = false, nil
}

// fail remembers a failure and returns when to try again; zero is never.
func (s *keyState) fail(now time.Time, key Key, id identity, class Class, retryAfter time.Duration) time.Duration {
	if s.failed != id {
		s.recover()
	}
	s.failed = id
	var delay time.Duration
	switch class {
	case ClassTerminal:
		s.terminal = true
		return 0
	case ClassThrottled:
		// The server's word, plus a share of our own so that what was
		// throttled together does not come back together.
		delay = max(retryAfter, time.Second) + retryDelay(key.Name, 1)/2
		s.failures = max(s.failures, 1)
	case ClassSkew, ClassHotLoop:
		s.failures++
		s.hot = class == ClassHotLoop
		delay = slowRetry(key.String())
	default:
		s.failures++
		delay = retryDelay(key.String(), s.failures)
	}
	if s.hot {
		delay = max(delay, slowRetry(key.String()))
	}
	s.notBefore = now.Add(delay)
	return delay
}

// untold keeps of the events those that this object's users have not heard.
func (s *keyState) untold(uid types.UID, events []Event) []Event {
	if s.toldOf != uid || len(s.told) >= maxTold {
		s.toldOf, s.told = uid, nil
	}
	var news []Event
	for _, e := range events {
		if _, known := s.told[e]; known {
			continue
		}
		if s.told == nil {
			s.told = map[Event]struct{}{}
		}
		s.told[e] = struct{}{}
		news = append(news, e)
	}
	return news
}
