package slots

import (
	"container/list"
	"sync"
	"time"

	"k8s.io/utils/third_party/forked/golang/btree"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// Options are what Slots are made of.
type Options struct {
	// Limit is how many conversations may roll at once; none if not positive.
	Limit int
	// Generation is the desired harness image generation. Empty means that
	// nothing is to be rolled.
	Generation string
	// Wake asks for a pass of those that a slot is free for. It is called
	// without a lock held. Without it they find out by asking again.
	Wake func(keys ...framework.Key)
	// BusyUntil is the first second in which no turn of the conversation is
	// announced any more, 0 for none. Without it nobody counts as busy before
	// asking. It is called with a lock held and may not call back.
	BusyUntil func(now int64, conv *polychromev1alpha1.Conversation) int64
	// Now is the clock. time.Now if nil. It is called with a lock held.
	Now func() time.Time
}

// Standing is how rolling stands.
type Standing struct {
	// Rolling is how many conversations hold a slot.
	Rolling int
	// Waiting is how many are to be rolled and hold none.
	Waiting int
	// Failed is how many show a failed roll; one that waits for another try
	// counts as waiting, too.
	Failed int
	// Halted says that no roll to the desired generation starts, because too
	// many of those before have failed.
	Halted bool
}

// Slots are all slots of this process. They are safe for concurrent use.
type Slots struct {
	limit      int
	generation string
	wake       func(keys ...framework.Key)
	busyUntil  func(now int64, conv *polychromev1alpha1.Conversation) int64
	clock      func() time.Time

	mu sync.Mutex
	// now is when the last call was.
	now time.Time
	// members are all conversations in the cache.
	members map[framework.Key]*member
	// admitted is how many members were admitted, and stuck how many failed
	// on the way to the desired generation.
	admitted, stuck int
	// rolls are the running and the failed ones by when they began.
	rolls [roles]*btree.BTree[*member]
	// index holds the waiting in their order.
	index *btree.BTree[*member]
	// offers are those that were offered a slot, in the order of time.
	offers     list.List
	lastPassed int64
}

// degree is a usual one for trees of pointers.
const degree = 32

// New makes slots. Feed them with Observe before the first Reserve, or rolls
// under way would not be counted.
func New(o Options) *Slots {
	if o.Wake == nil {
		o.Wake = func(...framework.Key) {}
	}
	if o.BusyUntil == nil {
		o.BusyUntil = func(int64, *polychromev1alpha1.Conversation) int64 { return 0 }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Slots{
		limit: o.Limit, generation: o.Generation, wake: o.Wake, busyUntil: o.BusyUntil, clock: o.Now,
		members: map[framework.Key]*member{},
		index:   btree.New(degree, bySpot),
	}
	s.rolls[running], s.rolls[gaveUp] = btree.New(degree, byStart), btree.New(degree, byStart)
	return s
}

// Observe takes in what the cache shows of a conversation.
func (s *Slots) Observe(conv *polychromev1alpha1.Conversation, deleted bool) {
	s.change(func() (asked bool) {
		switch m, known := s.members[keyOf(conv)]; {
		case !deleted:
			s.saw(s.member(conv), conv)
		case known:
			s.left(m, conv.UID)
		}
		return false
	})
}

// Reserve asks for a slot. A conversation that has one rolls again in it. One
// whose roll has failed is not asked whether it is busy: nobody can use it.
func (s *Slots) Reserve(conv *polychromev1alpha1.Conversation, busy bool) (grant Grant) {
	s.change(func() (asked bool) {
		m := s.member(conv)
		s.withdraw(m)
		m.passed = 0
		s.place(m)
		if grant = s.judge(m, conv, busy); grant == Admitted || grant == Held {
			m.admission = &admission{version: conv.ResourceVersion, mark: s.look(conv).mark}
			s.place(m)
		}
		return true
	})
	return grant
}

// GiveBack returns a slot that was admitted for nothing. Whoever does so has
// met with a refusal and tries again later; the slot is not kept for it.
func (s *Slots) GiveBack(conv *polychromev1alpha1.Conversation) {
	s.change(func() (asked bool) {
		if m, known := s.members[keyOf(conv)]; known && m.admission != nil {
			m.admission = nil
			s.pass(m)
		}
		return false
	})
}

// Standing tells how rolling stands now. It costs little, whatever the size of
// the fleet, and wakes those whose turn has come since somebody last asked.
func (s *Slots) Standing() (standing Standing) {
	s.change(func() (asked bool) {
		standing = Standing{
			Rolling: s.taken(), Waiting: s.index.Len(),
			Failed: s.rolls[gaveUp].Len(), Halted: s.halted(),
		}
		return false
	})
	return standing
}

// change does something under the lock, then wakes those that are offered a
// slot. Slots are offered when somebody asks, and when there is news of those
// that are free; not when one more joins those that wait, or the first that a
// starting cache shows would be told, and not the first in the order.
func (s *Slots) change(do func() (asked bool)) {
	if told := s.changed(do); len(told) > 0 {
		s.wake(told...)
	}
}

func (s *Slots) changed(do func() (asked bool)) []framework.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	free, halted := s.free(), s.halted()
	moved := s.catchUp()
	asked := do()
	if lifted := halted && !s.halted(); asked || moved || lifted || s.free() > free {
		return s.offer()
	}
	return nil
}

func (s *Slots) taken() int { return s.admitted + s.rolls[running].Len() }

func (s *Slots) free() int { return max(s.limit-s.taken(), 0) }

func (s *Slots) halted() bool { return s.generation != "" && s.stuck >= haltAfter }

func keyOf(conv *polychromev1alpha1.Conversation) framework.Key {
	return framework.Key{Namespace: conv.Namespace, Name: conv.Name}
}

func (s *Slots) member(conv *polychromev1alpha1.Conversation) *member {
	key := keyOf(conv)
	m, known := s.members[key]
	if !known {
		m = &member{key: key}
		s.members[key] = m
	}
	return m
}
