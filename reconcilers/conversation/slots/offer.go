package slots

import (
	"time"

	"polychrome.dev/controller/framework"
)

// patience is how long a free slot is kept for one that was told of it.
const patience = 10 * time.Second

// offer tells the first of the waiting, as many as there are free slots, of
// the slots; it returns those that do not know yet. The busy are not told, for
// they would not take one, and those that were passed over have been told
// before: both keep nobody from a slot.
func (s *Slots) offer() (told []framework.Key) {
	free := s.free()
	if free == 0 || s.halted() {
		return nil
	}
	s.index.Ascend(func(m *member) bool {
		if m.spot.class > idle {
			return false
		}
		if m.offer == nil {
			m.offer, m.offeredAt = s.offers.PushBack(m), s.now
			told = append(told, m.key)
		}
		free--
		return free > 0
	})
	return told
}

// withdraw ends an offer.
func (s *Slots) withdraw(m *member) {
	if m.offer != nil {
		s.offers.Remove(m.offer)
		m.offer = nil
	}
}

// pass passes a member over: it stands last until it asks again or shows
// another mark.
func (s *Slots) pass(m *member) {
	s.lastPassed++
	m.passed = s.lastPassed
	s.place(m)
}

// among reports whether a member is one of the first n that wait.
func (s *Slots) among(m *member, n int) bool {
	if n <= 0 {
		return false
	}
	before := 0
	s.index.Ascend(func(other *member) bool {
		if !bySpot(other, m) {
			return false
		}
		before++
		return before < n
	})
	return before < n
}

// catchUp brings everything up to the present: rolls that have failed since,
// turns that have ended, offers that nobody took. It touches only what changes,
// and reports whether the order has become another by that.
func (s *Slots) catchUp() (moved bool) {
	s.now = s.clock()
	now := s.now.Unix()
	for m, ok := s.rolls[running].Min(); ok && failed(now, m.roll.startedAt); m, ok = s.rolls[running].Min() {
		s.place(m)
	}
	// A clock may step back.
	for m, ok := s.rolls[gaveUp].Max(); ok && !failed(now, m.roll.startedAt); m, ok = s.rolls[gaveUp].Max() {
		s.place(m)
	}
	for m := s.firstBusy(); m != nil && m.spot.when <= now; m = s.firstBusy() {
		s.place(m)
		moved = true
	}
	for first := s.offers.Front(); first != nil; first = s.offers.Front() {
		m, ok := first.Value.(*member)
		if !ok || s.now.Sub(m.offeredAt) < patience {
			break
		}
		s.pass(m)
		moved = true
	}
	return moved
}

// firstBusy is the member whose turn ends first.
func (s *Slots) firstBusy() (found *member) {
	s.index.AscendGreaterOrEqual(&member{spot: spot{class: busy}}, func(m *member) bool {
		if m.spot.class == busy {
			found = m
		}
		return false
	})
	return found
}
