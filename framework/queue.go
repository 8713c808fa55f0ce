package framework

import (
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// queue holds the keys that are due or will be. A key is handed to one
// worker at a time and is kept once however often it is added. It can tell
// whether all work is done, which client-go's queue alone cannot.
type queue struct {
	workqueue.TypedDelayingInterface[Key]
	storage *storage
}

// storage is the first-in-first-out order of the keys that are due. Its
// methods are called under the lock of client-go's queue.
type storage struct {
	workqueue.Queue[Key]
	// taken counts keys handed out, busy those not yet done.
	taken, busy atomic.Int64
}

// Pop counts the key as busy before it leaves the length.
func (s *storage) Pop() Key {
	s.taken.Add(1)
	s.busy.Add(1)
	return s.Queue.Pop()
}

func newQueue(c clock.WithTicker) *queue {
	order := &storage{Queue: workqueue.DefaultQueue[Key]()}
	due := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[Key]{Clock: c, Queue: order})
	return &queue{
		storage:                order,
		TypedDelayingInterface: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[Key]{Clock: c, Queue: due}),
	}
}

// Done ends the work on a key; if it was added meanwhile it is due again.
func (q *queue) Done(key Key) {
	q.TypedDelayingInterface.Done(key)
	q.storage.busy.Add(-1)
}

// after adds a key when the time has passed; zero and less never do.
func (q *queue) after(key Key, wait time.Duration) {
	if wait > 0 {
		q.AddAfter(key, wait)
	}
}

// empty reports whether no key is due and none is being worked on. Keys that
// wait for a time do not count. A key taken while looking makes it false.
func (q *queue) empty() bool {
	before := q.storage.taken.Load()
	if q.Len() > 0 || q.storage.busy.Load() > 0 || q.Len() > 0 {
		return false
	}
	return q.storage.taken.Load() == before
}
