package framework

import (
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// urgentInARow is how many urgent keys go ahead of one that is not: nobody
// waits for ever.
const urgentInARow = 7

// observer is told how many keys are due, and how long one waited when it is
// taken; zero when it is added.
type observer func(due int, waited time.Duration)

// lanes is the order of the keys that are due: first in, first out, except
// that new and changed objects go ahead of what is only looked at again. It
// implements workqueue.Queue; its methods are called under the lock of
// client-go's queue.
type lanes struct {
	clock    clock.PassiveClock
	isUrgent func(Key) bool
	observe  observer

	urgent, other []Key
	// waiting has every key that is due; a key in a lane that is not its own
	// any more is passed over.
	waiting map[Key]place
	row     int

	// taken counts keys handed out, busy those not yet done.
	taken, busy atomic.Int64
}

// place is where a key waits, and since when.
type place struct {
	urgent bool
	since  time.Time
}

func newLanes(c clock.PassiveClock, urgent func(Key) bool, observe observer) *lanes {
	return &lanes{clock: c, isUrgent: urgent, observe: observe, waiting: map[Key]place{}}
}

// Push implements workqueue.Queue.
func (l *lanes) Push(key Key) {
	p := place{urgent: l.isUrgent(key), since: l.clock.Now()}
	l.waiting[key] = p
	if p.urgent {
		l.urgent = append(l.urgent, key)
	} else {
		l.other = append(l.other, key)
	}
	l.observe(len(l.waiting), 0)
}

// Touch is called for a key that waits already: it changes lanes when it has
// become urgent.
func (l *lanes) Touch(key Key) {
	p, ok := l.waiting[key]
	if !ok || p.urgent || !l.isUrgent(key) {
		return
	}
	p.urgent = true
	l.waiting[key] = p
	l.urgent = append(l.urgent, key)
}

// Len implements workqueue.Queue.
func (l *lanes) Len() int { return len(l.waiting) }

// Pop counts the key as busy before it leaves the length.
func (l *lanes) Pop() Key {
	l.taken.Add(1)
	l.busy.Add(1)
	key, ok := Key{}, false
	if l.row < urgentInARow {
		key, ok = l.next(&l.urgent, true)
		l.row++
	}
	if !ok {
		l.row = 0
		if key, ok = l.next(&l.other, false); !ok {
			key, _ = l.next(&l.urgent, true)
		}
	}
	waited := l.clock.Since(l.waiting[key].since)
	delete(l.waiting, key)
	l.observe(len(l.waiting), waited)
	return key
}

// next takes the first key of a lane that still waits there.
func (l *lanes) next(lane *[]Key, urgent bool) (Key, bool) {
	for len(*lane) > 0 {
		key := (*lane)[0]
		(*lane)[0] = Key{}
		*lane = (*lane)[1:]
		if p, ok := l.waiting[key]; ok && p.urgent == urgent {
			return key, true
		}
	}
	return Key{}, false
}
