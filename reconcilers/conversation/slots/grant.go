package slots

import (
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// longestBusyDelay is how long a busy conversation may delay its roll, from
// the first time this process deferred it.
const longestBusyDelay = 10 * time.Minute

// Grant is the answer to a wish for a slot.
type Grant int

const (
	// Deferred means not now.
	Deferred Grant = iota
	// Halted means that no roll to the desired generation starts at present.
	Halted
	// Admitted means that one was free and is now taken.
	Admitted
	// Held means that the conversation had one already.
	Held
)

// judge decides about a wish.
func (s *Slots) judge(m *member, conv *polychromev1alpha1.Conversation, busy bool) Grant {
	past := older(conv.ResourceVersion, m.seen.version)
	switch {
	case s.halted():
		return Halted
	case past && m.seen.mark.uid != conv.UID:
		return Deferred
	case m.roll.holds():
		return Held
	case past && !m.seen.due:
		return Deferred
	}
	wish := m
	if m.spot.class == elsewhere {
		// The cache is ahead of its events.
		wish = &member{key: m.key, seen: s.look(conv)}
		wish.roll = s.rollOf(wish)
		wish.spot = s.spotOf(wish)
	}
	if wish.roll.role != gaveUp {
		if m.until = 0; busy {
			m.until = s.delay(m, conv)
		}
		s.place(m)
		if m.until > 0 {
			return Deferred
		}
	}
	if !s.among(wish, s.free()) {
		return Deferred
	}
	return Admitted
}

// delay is until when a busy conversation is waited for, 0 if that has been
// long enough.
func (s *Slots) delay(m *member, conv *polychromev1alpha1.Conversation) int64 {
	if m.deferredAt.IsZero() {
		m.deferredAt = s.now
	}
	if s.now.Sub(m.deferredAt) >= longestBusyDelay {
		return 0
	}
	now := s.now.Unix()
	return max(min(s.busyUntil(now, conv), delayEnd(m)), now+1)
}

// delayEnd is the first second in which being busy is no reason any more.
func delayEnd(m *member) int64 { return m.deferredAt.Add(longestBusyDelay).Unix() + 1 }
