package slots

import (
	"cmp"
	"container/list"
	"time"

	"polychrome.dev/controller/framework"
)

// member is a conversation. What is known of it changes freely; place then
// puts it where that belongs.
type member struct {
	key  framework.Key
	seen sight
	// admission is set from its being admitted until the cache shows what
	// came of it.
	admission *admission
	// deferredAt is when it was first deferred for being busy.
	deferredAt time.Time
	// until is the first second in which it does not count as busy any more.
	until int64
	// passed counts who was passed over; 0 is one that was not.
	passed int64
	// offer is its place among those that were offered a slot.
	offer     *list.Element
	offeredAt time.Time

	// roll and spot are where place has put it.
	roll roll
	spot spot
}

// role is what a conversation has to do with the slots; the zero role is none.
type role int

const (
	_ role = iota
	// admitted and running hold a slot.
	admitted
	running
	// gaveUp is a roll that has failed.
	gaveUp
	roles
)

// roll is a conversation's part in rolling.
type roll struct {
	role      role
	startedAt int64
	// stuck says that it failed on the way to the desired generation.
	stuck bool
}

func (r roll) holds() bool { return r.role == admitted || r.role == running }

// class is the coarse order of those that wait.
type class int

const (
	// elsewhere is one that does not wait.
	elsewhere class = iota
	// failing ones have nobody who uses them, and can only win.
	failing
	idle
	busy
	// passedOver ones were offered a slot and did not come for it.
	passedOver
)

// spot is a place in the order of those that wait.
type spot struct {
	class class
	when  int64
}

func byStart(a, b *member) bool {
	return cmp.Or(cmp.Compare(a.roll.startedAt, b.roll.startedAt), byName(a, b)) < 0
}

func bySpot(a, b *member) bool {
	return cmp.Or(cmp.Compare(a.spot.class, b.spot.class), cmp.Compare(a.spot.when, b.spot.when), byName(a, b)) < 0
}

func byName(a, b *member) int {
	return cmp.Or(cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Name, b.key.Name))
}

// rollOf is the part that a member plays now.
func (s *Slots) rollOf(m *member) roll {
	mark := m.seen.mark
	switch {
	case m.admission != nil:
		return roll{role: admitted}
	case !mark.rolling:
		return roll{}
	case !failed(s.now.Unix(), mark.startedAt):
		return roll{role: running, startedAt: mark.startedAt}
	}
	stuck := mark.generation == "" || mark.generation == s.generation
	return roll{role: gaveUp, startedAt: mark.startedAt, stuck: stuck}
}

// spotOf is where a member that plays a part stands if it waits.
func (s *Slots) spotOf(m *member) spot {
	switch {
	case m.passed > 0:
		return spot{passedOver, m.passed}
	case m.roll.role == gaveUp:
		return spot{failing, m.seen.activity}
	case m.until > s.now.Unix():
		return spot{busy, m.until}
	}
	return spot{idle, m.seen.activity}
}

// place puts a member where what is known of it belongs.
func (s *Slots) place(m *member) {
	if to := s.rollOf(m); to != m.roll {
		s.count(m.roll, -1)
		if tree := s.rolls[m.roll.role]; tree != nil {
			tree.Delete(m)
		}
		m.roll = to
		s.count(to, 1)
		if tree := s.rolls[to.role]; tree != nil {
			tree.ReplaceOrInsert(m)
		}
	}
	var to spot
	if m.seen.due && !m.roll.holds() {
		to = s.spotOf(m)
	}
	if to != m.spot {
		if m.spot.class != elsewhere {
			s.index.Delete(m)
		}
		m.spot = to
		if to.class != elsewhere {
			s.index.ReplaceOrInsert(m)
		}
	}
	if to.class == elsewhere {
		m.passed = 0
	}
	if to.class != failing && to.class != idle {
		s.withdraw(m)
	}
}

// count keeps what the trees do not.
func (s *Slots) count(r roll, n int) {
	if r.role == admitted {
		s.admitted += n
	}
	if r.stuck {
		s.stuck += n
	}
}
