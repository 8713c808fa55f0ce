package framework

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// queue holds the keys that are due or will be, and why. A key is handed to
// one worker at a time and is kept once however often it is added. It can
// tell whether all work is done, which client-go's queue alone cannot.
type queue struct {
	workqueue.TypedDelayingInterface[Key]
	order *lanes

	clock  clock.PassiveClock
	mu     sync.Mutex
	causes map[Key]causes
	// later has the keys that will be due, and when.
	later map[Key]time.Time
}

func newQueue(c clock.WithTicker, observe observer) *queue {
	q := &queue{clock: c, causes: map[Key]causes{}, later: map[Key]time.Time{}}
	q.order = newLanes(c, q.urgent, observe)
	due := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Key]{Clock: c, Queue: q.order})
	q.TypedDelayingInterface = workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[Key]{Clock: c, Queue: due})
	return q
}

// add makes a key due; its causes gather until take.
func (q *queue) add(key Key, why causes) {
	q.mu.Lock()
	q.causes[key] |= why
	q.mu.Unlock()
	q.Add(key)
}

// after makes a key due when the time has passed; zero and less never do.
func (q *queue) after(key Key, wait time.Duration) {
	if wait <= 0 {
		return
	}
	q.mu.Lock()
	if at, known := q.later[key]; !known || q.clock.Now().Add(wait).Before(at) {
		q.later[key] = q.clock.Now().Add(wait)
	}
	q.mu.Unlock()
	q.AddAfter(key, wait)
}

// take returns why a key that was handed out is due, and forgets it.
func (q *queue) take(key Key) causes {
	q.mu.Lock()
	defer q.mu.Unlock()
	why := q.causes[key]
	delete(q.causes, key)
	delete(q.later, key)
	return why
}

// overdue reports whether the time of a key has come and the key has not: it
// takes a moment from the one to the other.
func (q *queue) overdue() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	for _, at := range q.later {
		if !at.After(now) {
			return true
		}
	}
	return false
}

// isDue reports whether a key that was added has not been taken yet.
func (q *queue) isDue(key Key) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.causes[key] != 0
}

func (q *queue) urgent(key Key) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.causes[key].urgent()
}

// Done ends the work on a key; if it was added meanwhile it is due again.
func (q *queue) Done(key Key) {
	q.TypedDelayingInterface.Done(key)
	q.order.busy.Add(-1)
}

// empty reports whether no key is due and none is being worked on. Keys that
// wait for a time do not count. A key taken while looking makes it false.
func (q *queue) empty() bool {
	before := q.order.taken.Load()
	if q.overdue() || q.Len() > 0 || q.order.busy.Load() > 0 || q.Len() > 0 {
		return false
	}
	return q.order.taken.Load() == before
}
