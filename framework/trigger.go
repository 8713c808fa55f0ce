package framework

import "sync"

// Trigger is a source that a reconciler fires itself: a slot is free, a
// probe has finished. It is safe for concurrent use, and firing before the
// controller runs is not lost. The zero value is ready to use.
type Trigger struct {
	mu      sync.Mutex
	sink    func(Key)
	pending []Key
}

// Fire asks for a pass of each key.
func (t *Trigger) Fire(keys ...Key) {
	t.mu.Lock()
	sink := t.sink
	if sink == nil {
		t.pending = append(t.pending, keys...)
	}
	t.mu.Unlock()
	if sink == nil {
		return
	}
	for _, key := range keys {
		sink(key)
	}
}

// connect gives the trigger its queue.
func (t *Trigger) connect(sink func(Key)) {
	t.mu.Lock()
	t.sink = sink
	pending := t.pending
	t.pending = nil
	t.mu.Unlock()
	for _, key := range pending {
		sink(key)
	}
}
