package framework

import (
	"context"
	"time"
)

// The sweep's times.
const (
	// sweepEvery is how often parked keys are looked at: bookmarks advance
	// a store without an event, and an event can be lost.
	sweepEvery = 150 * time.Millisecond
	// probeAfter is how long a key may be parked before the API server is
	// asked whether the watch is late.
	probeAfter = 2 * time.Second
	// restartAfter is how long before a late watch is established anew.
	restartAfter = 5 * time.Second
	// restartPause is the least time between two restarts of one watch.
	restartPause = 15 * time.Second
	// probeTimeout bounds one question to the API server.
	probeTimeout = 5 * time.Second
)

// lateness is what is known of a store that keeps keys waiting.
type lateness struct {
	asking    bool
	asked     time.Time
	restarted time.Time
}

// waiting is a key that a store keeps waiting, the longest of its store.
type waiting struct {
	key   Key
	note  note
	since time.Time
}

// sweep wakes parked keys whose caches have caught up without an event, and
// looks after watches that are late. It costs nothing while none is parked.
func (l *loop) sweep(ctx context.Context) {
	ticker := l.clock.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			for store, longest := range l.sweepOnce() {
				l.probe(ctx, store, longest)
			}
		}
	}
}

// sweepOnce wakes what can be woken and returns, per store, who has waited
// longest among those worth a question.
func (l *loop) sweepOnce() map[view]waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	l.active.turn(now)
	longest := map[view]waiting{}
	for key := range l.parked {
		state := l.keys[key]
		if state == nil {
			delete(l.parked, key)
			continue
		}
		state.notes = stillOpen(state.notes)
		if len(state.notes) == 0 {
			l.unpark(key, state)
			l.queue.add(key, causeCaughtUp)
			continue
		}
		for _, n := range state.notes {
			old, found := longest[n.view]
			if now.Sub(state.parkedSince) >= probeAfter && (!found || state.parkedSince.Before(old.since)) {
				longest[n.view] = waiting{key: key, note: n, since: state.parkedSince}
			}
		}
	}
	for store := range longest {
		known := l.late[store]
		if known.asking || now.Sub(known.asked) < probeAfter {
			delete(longest, store)
			continue
		}
		known.asking, known.asked = true, now
		l.late[store] = known
	}
	return longest
}

// probe asks the API server, off the sweep, about the longest waiting key of
// a store. A live read cannot make the cache fresh, so it is never acted on:
// it only tells a late watch from a note that waits in vain.
func (l *loop) probe(ctx context.Context, store view, longest waiting) {
	l.probing.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		found, err := longest.note.proven(ctx)
		if err != nil {
			l.log.Debug("asking about a late watch", "resource", store.resourceName(), "error", causeChain(err))
		}
		l.answered(store, longest, found)
	})
}

func (l *loop) answered(store view, longest waiting, found proof) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.late[store]
	known.asking = false
	now := l.clock.Now()
	switch {
	case found != late && !longest.note.open():
		// It was settled while the question was on its way.
	case found == lost:
		l.log.Warn("filling a cache anew that has missed an event", "key", longest.key.String(), "resource", store.resourceName())
		if showing, live := store.showing(); live {
			showing.relist()
		}
	case found == vain:
		l.metrics.vain.WithLabelValues(l.name).Inc()
		l.log.Warn("dropped a note that waited in vain", "key", longest.key.String(), "resource", store.resourceName())
		l.drop(longest.key, longest.note)
	case now.Sub(longest.since) >= restartAfter && now.Sub(known.restarted) >= restartPause:
		known.restarted = now
		l.log.Warn("restarting a late watch", "resource", store.resourceName(), "late", now.Sub(longest.since).Round(time.Millisecond))
		store.restartWatch()
	}
	l.late[store] = known
}

func (l *loop) drop(key Key, vain note) {
	state := l.keys[key]
	if state == nil {
		return
	}
	kept := state.notes[:0]
	for _, n := range state.notes {
		if n != vain {
			kept = append(kept, n)
		}
	}
	state.notes = kept
}
