package framework

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"
)

func TestQueueIsNeverEmptyWhileWorkIsLeft(t *testing.T) {
	q := newQueue(clock.RealClock{}, func(int, time.Duration) {})
	var left atomic.Int64
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for {
				key, down := q.Get()
				if down {
					return
				}
				// Each key makes one more of itself, while it is worked on.
				if n, _ := strconv.Atoi(key.Namespace); n > 0 {
					left.Add(1)
					q.Add(Key{Namespace: strconv.Itoa(n - 1), Name: key.Name})
				}
				left.Add(-1)
				q.Done(key)
			}
		})
	}
	for i := range 50 {
		left.Add(1)
		q.Add(Key{Namespace: "20", Name: strconv.Itoa(i)})
	}
	deadline := time.Now().Add(30 * time.Second)
	for !q.empty() {
		if time.Now().After(deadline) {
			t.Fatal("the queue did not become empty")
		}
	}
	if n := left.Load(); n != 0 {
		t.Errorf("the queue said that it was empty with %d keys left", n)
	}
	q.ShutDown()
	workers.Wait()
}

func TestQueueWithAKeyInWorkIsNotEmpty(t *testing.T) {
	q := newQueue(clock.RealClock{}, func(int, time.Duration) {})
	defer q.ShutDown()
	q.Add(thing)
	if q.empty() {
		t.Error("want a queue with a due key not empty")
	}
	key, _ := q.Get()
	if q.empty() {
		t.Error("want a queue whose key is in work not empty")
	}
	q.Add(key)
	q.Done(key)
	if q.empty() {
		t.Error("want a key added while in work to be due again")
	}
	key, _ = q.Get()
	q.Done(key)
	if !q.empty() {
		t.Error("want the queue empty")
	}
	q.AddAfter(thing, time.Hour)
	if !q.empty() {
		t.Error("want a key that waits for a time not to count")
	}
}
