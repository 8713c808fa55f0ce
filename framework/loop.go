package framework

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// conflictsBeforeBackoff is how many conflicts in a row are taken for a late
// cache; more than that and the key backs off like any other failure.
const conflictsBeforeBackoff = 3

// loop runs passes: which key, when, and what follows. It knows nothing of
// the objects; a Controller gives it what is kind-specific.
type loop struct {
	name    string
	log     *slog.Logger
	clock   clock.WithTicker
	metrics *metrics
	queue   *queue
	workers int

	// awake reports whether passes may run: leading, and caches synced.
	awake func() bool
	// identify reads the object of a key from the cache.
	identify func(Key) (identity, bool)
	// pass runs the beats for a key.
	pass func(context.Context, Key) outcome

	mu      sync.Mutex
	keys    map[Key]*keyState
	parked  map[Key]struct{}
	late    map[view]lateness
	probing sync.WaitGroup
}

func newLoop(name string, log *slog.Logger, c clock.WithTicker, m *metrics, workers int) *loop {
	m.depth.WithLabelValues(name).Set(0)
	m.parked.WithLabelValues(name).Set(0)
	return &loop{
		name: name, log: log, clock: c, metrics: m, workers: workers,
		queue: newQueue(c), keys: map[Key]*keyState{}, parked: map[Key]struct{}{}, late: map[view]lateness{},
	}
}

// run works until stop ends, then finishes the passes in flight and begins no
// other. Their contexts derive from work, which outlives stop.
func (l *loop) run(stop, work context.Context) {
	var workers sync.WaitGroup
	for range l.workers {
		workers.Go(func() {
			for l.next(stop, work) {
			}
		})
	}
	workers.Go(func() { l.sweep(stop) })
	<-stop.Done()
	l.queue.ShutDown()
	workers.Wait()
	l.probing.Wait()
}

// next takes one key; false once the loop shall stop. A queue that is shut
// down still hands out what is due, which is for whoever works next.
func (l *loop) next(stop, work context.Context) bool {
	key, down := l.queue.Get()
	if down {
		return false
	}
	defer l.queue.Done(key)
	if stop.Err() != nil {
		return false
	}
	l.step(work, key)
	l.metrics.depth.WithLabelValues(l.name).Set(float64(l.queue.Len()))
	return true
}

// step decides whether a key's pass may run, runs it, and draws the
// consequences.
func (l *loop) step(ctx context.Context, key Key) {
	if !l.awake() {
		return
	}
	if l.park(key) {
		return
	}
	id, exists := l.identify(key)
	if !exists {
		l.forget(key)
		return
	}
	if wait, held := l.held(key, id); held {
		l.queue.after(key, wait)
		return
	}
	start := l.clock.Now()
	out := l.pass(ctx, key)
	l.metrics.passed(l.name, out, l.clock.Since(start))
	l.settle(key, id, out)
}

// park turns a key away while a cache lacks what its last pass wrote.
func (l *loop) park(key Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	state, known := l.keys[key]
	if !known {
		return false
	}
	state.notes = stillOpen(state.notes)
	if len(state.notes) == 0 {
		l.unpark(key, state)
		return false
	}
	if _, already := l.parked[key]; !already {
		l.parked[key] = struct{}{}
		state.parkedSince = l.clock.Now()
		l.metrics.parked.WithLabelValues(l.name).Set(float64(len(l.parked)))
	}
	return true
}

func (l *loop) unpark(key Key, state *keyState) {
	delete(l.parked, key)
	state.parkedSince = time.Time{}
	if state.blank() {
		delete(l.keys, key)
	}
	l.metrics.parked.WithLabelValues(l.name).Set(float64(len(l.parked)))
}

func (l *loop) held(key Key, id identity) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	state, known := l.keys[key]
	if !known {
		return 0, false
	}
	return state.held(l.clock.Now(), id)
}

// settle is the one place where an outcome becomes a wish to the queue.
func (l *loop) settle(key Key, id identity, out outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	state, known := l.keys[key]
	if !known {
		state = &keyState{}
	}
	state.notes = out.notes
	class := Classify(out.err)
	next := out.wait
	switch class {
	case "":
		state.recover()
	case ClassConflict:
		state.conflicts++
		next = 0
		if len(out.notes) == 0 || state.conflicts > conflictsBeforeBackoff {
			next = state.fail(l.clock.Now(), key, id, ClassTransient, 0)
		} else {
			// No event need ever come for what the cache shows already; if
			// it does not, the key parks.
			l.queue.Add(key)
		}
	default:
		next = state.fail(l.clock.Now(), key, id, class, out.retryAfter)
	}
	if out.err != nil {
		l.logFailure(key, class, out, next)
	}
	if state.blank() {
		delete(l.keys, key)
	} else {
		l.keys[key] = state
	}
	l.queue.after(key, next)
}

func (l *loop) logFailure(key Key, class Class, out outcome, next time.Duration) {
	level := slog.LevelWarn
	switch class {
	case ClassConflict:
		level = slog.LevelDebug
	case ClassPanic:
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("key", key.String()), slog.String("class", string(class)),
		slog.String("error", causes(out.err)), slog.Duration("next", next),
	}
	if stack := stackOf(out.err); stack != "" {
		attrs = append(attrs, slog.String("stack", stack))
	}
	l.log.LogAttrs(context.Background(), level, "pass failed", attrs...)
}

// forget drops what is remembered of an object that is gone.
func (l *loop) forget(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.keys, key)
	if _, was := l.parked[key]; was {
		delete(l.parked, key)
		l.metrics.parked.WithLabelValues(l.name).Set(float64(len(l.parked)))
	}
}

// reset drops everything: the caches it was about are gone.
func (l *loop) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.keys)
	clear(l.parked)
	clear(l.late)
	l.metrics.parked.WithLabelValues(l.name).Set(0)
}

// untold keeps of the events those that users have not heard yet.
func (l *loop) untold(key Key, uid types.UID, events []Event) []Event {
	if len(events) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	state, known := l.keys[key]
	if !known {
		state = &keyState{}
		l.keys[key] = state
	}
	return state.untold(uid, events)
}

// idle reports whether nothing is due, in work, parked or awaited from a
// cache. Waits and backoffs do not count.
func (l *loop) idle() bool {
	if !l.queue.empty() {
		return false
	}
	l.mu.Lock()
	open := len(l.parked) > 0
	for _, state := range l.keys {
		for _, n := range state.notes {
			open = open || n.open()
		}
	}
	l.mu.Unlock()
	return !open && l.queue.empty()
}
