package slots

import (
	"container/list"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// longestBusyDelay is how long a busy conversation may delay its roll, from
// the first time this process deferred it.
const longestBusyDelay = 10 * time.Minute

// Grant is the answer to a wish for a slot.
type Grant int

const (
	// Deferred means not now.
	Deferred Grant = iota
	// Admitted means that one was free and is now taken.
	Admitted
	// Held means that the conversation had one already.
	Held
)

// Slots are all slots of this process. They are safe for concurrent use.
type Slots struct {
	limit      int
	generation string
	wake       func(keys ...framework.Key)

	mu       sync.Mutex
	rolling  map[framework.Key]struct{}
	admitted map[framework.Key]admission
	// busySince is when a busy conversation was first deferred.
	busySince map[framework.Key]time.Time
	// waiting are the deferred for want of a slot, in order of arrival.
	waiting list.List
	places  map[framework.Key]*list.Element
}

// admission is what a conversation looked like when it was admitted.
type admission struct {
	uid     types.UID
	version string
}

// New makes slots for a number of conversations. A conversation of the given
// generation needs no roll. Wake is called, without a lock held, with those
// that were deferred and may ask again.
func New(limit int, generation string, wake func(...framework.Key)) *Slots {
	return &Slots{
		limit: limit, generation: generation, wake: wake,
		rolling:   map[framework.Key]struct{}{},
		admitted:  map[framework.Key]admission{},
		busySince: map[framework.Key]time.Time{},
		places:    map[framework.Key]*list.Element{},
	}
}

func keyOf(conv *polychromev1alpha1.Conversation) framework.Key {
	return framework.Key{Namespace: conv.Namespace, Name: conv.Name}
}

// Reserve asks for a slot. A conversation that has one rolls again in it.
func (s *Slots) Reserve(conv *polychromev1alpha1.Conversation, busy bool, now time.Time) Grant {
	key := keyOf(conv)
	s.mu.Lock()
	defer s.mu.Unlock()
	if busy && !s.patient(key, now) {
		s.unqueue(key)
		return Deferred
	}
	_, rolls := s.rolling[key]
	_, has := s.admitted[key]
	if !rolls && !has && s.taken() >= s.limit {
		s.queue(key)
		return Deferred
	}
	// One that rolls already is admitted anew: what the cache may still tell
	// of the time before this teardown must not end its slot.
	delete(s.rolling, key)
	s.admitted[key] = admission{uid: conv.UID, version: conv.ResourceVersion}
	s.withdraw(key)
	if rolls || has {
		return Held
	}
	return Admitted
}

// patient reports whether a busy conversation has been waited for enough.
func (s *Slots) patient(key framework.Key, now time.Time) bool {
	first, known := s.busySince[key]
	if !known {
		s.busySince[key] = now
		return false
	}
	return now.Sub(first) >= longestBusyDelay
}

// GiveBack returns a slot that was admitted for nothing.
func (s *Slots) GiveBack(conv *polychromev1alpha1.Conversation) {
	s.change(func() { delete(s.admitted, keyOf(conv)) })
}

// Observe takes in what the cache shows of a conversation.
func (s *Slots) Observe(conv *polychromev1alpha1.Conversation, deleted bool) {
	s.change(func() {
		key := keyOf(conv)
		if s.outdated(key, conv, deleted) {
			return
		}
		if s.admitted[key].uid != conv.UID {
			// A namesake, made while nobody saw the old one go.
			delete(s.admitted, key)
		}
		if deleted || conv.DeletionTimestamp != nil || conv.Status.Closed || conv.Status.Phase == polychromev1alpha1.ConversationClosing {
			delete(s.rolling, key)
			delete(s.admitted, key)
			s.withdraw(key)
			return
		}
		current := conv.Status.HarnessImageGeneration == s.generation
		if current {
			s.withdraw(key)
		}
		switch {
		case conv.Status.RollingHarness:
			s.rolling[key] = struct{}{}
			delete(s.admitted, key)
		default:
			delete(s.rolling, key)
			if current && conv.Status.HarnessReady {
				delete(s.admitted, key)
			}
		}
	})
}

// outdated reports whether an event is about a time before the conversation
// was admitted: it must not end the admission. Versions that cannot be
// compared are taken for newer.
func (s *Slots) outdated(key framework.Key, conv *polychromev1alpha1.Conversation, deleted bool) bool {
	then, known := s.admitted[key]
	switch {
	case !known:
		return false
	case deleted:
		return conv.UID != "" && conv.UID != then.uid
	}
	order, err := resourceversion.CompareResourceVersion(conv.ResourceVersion, then.version)
	return err == nil && order <= 0
}

// change does something under the lock, then wakes as many of the waiting as
// there are free slots. They ask again; none is kept for them.
func (s *Slots) change(do func()) {
	if woken := s.changed(do); len(woken) > 0 {
		s.wake(woken...)
	}
}

func (s *Slots) changed(do func()) (woken []framework.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.taken()
	do()
	if now := s.taken(); now < before {
		for free := s.limit - now; free > 0 && s.waiting.Len() > 0; free-- {
			key := s.waiting.Front().Value.(framework.Key)
			s.unqueue(key)
			woken = append(woken, key)
		}
	}
	return woken
}

func (s *Slots) taken() int { return len(s.rolling) + len(s.admitted) }

func (s *Slots) queue(key framework.Key) {
	if _, waits := s.places[key]; !waits {
		s.places[key] = s.waiting.PushBack(key)
	}
}

func (s *Slots) unqueue(key framework.Key) {
	if place, waits := s.places[key]; waits {
		s.waiting.Remove(place)
		delete(s.places, key)
	}
}

// withdraw forgets a wish for a slot.
func (s *Slots) withdraw(key framework.Key) {
	s.unqueue(key)
	delete(s.busySince, key)
}
