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
	loopOptions
	queue *queue

	// awake reports whether passes may run: leading, and caches synced.
	awake func() bool
	// identify reads the object of a key from the cache.
	identify func(Key) (identity, bool)
	// pass runs the beats for a key.
	pass func(context.Context, Key, visit) outcome
	// sources names what the controller's source causes stand for.
	sources []string

	mu      sync.Mutex
	keys    map[Key]*keyState
	parked  map[Key]struct{}
	late    map[view]lateness
	active  activities
	pacer   pacer
	life    int
	probing sync.WaitGroup
}

// visit is what a pass is told of its key.
type visit struct {
	causes causes
	// hot is set while the key is held to a slow pace for flapping; flapping
	// are the paths by which it has just been found out.
	hot      bool
	flapping []string
	// life tells whether what the loop remembered has been dropped since.
	life int
}

// loopOptions are what a loop is made of.
type loopOptions struct {
	name    string
	workers int
	log     *slog.Logger
	clock   clock.WithTicker
	metrics *metrics
	// decisions remembers passes.
	decisions *decisionLog
}

func newLoop(o loopOptions) *loop {
	o.metrics.parked.WithLabelValues(o.name).Set(0)
	return &loop{
		loopOptions: o, queue: newQueue(o.clock, o.metrics.queued(o.name)),
		keys: map[Key]*keyState{}, parked: map[Key]struct{}{}, late: map[view]lateness{}, active: newActivities(),
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
	return true
}

// hear takes note that a source shows another version of an object that
// concerns a key, and makes the key due.
func (l *loop) hear(key Key, m mark, why causes) {
	l.mu.Lock()
	if a := l.activity(key); a != nil {
		a.hear(m)
	}
	l.mu.Unlock()
	l.queue.add(key, why)
}

// step decides whether a key's pass may run, runs it, and draws the
// consequences.
func (l *loop) step(ctx context.Context, key Key) {
	why := l.queue.take(key)
	if !l.awake() {
		return
	}
	if l.park(key, why) {
		return
	}
	id, exists := l.identify(key)
	if !exists {
		l.forget(key)
		return
	}
	v, held := l.admit(key, id, why)
	if held {
		return
	}
	start := l.clock.Now()
	out := l.pass(ctx, key, v)
	took := l.clock.Since(start)
	l.metrics.passed(l.name, out, took)
	next := l.settle(key, id, v, out)
	l.record(key, id, v, out, Decision{First: start, Last: start, Took: took, Next: next})
}

// record puts a pass into the decision log.
func (l *loop) record(key Key, id identity, v visit, out outcome, d Decision) {
	d.Controller, d.Namespace, d.Name, d.UID = l.name, key.Namespace, key.Name, id.uid
	d.Count, d.causes, d.sources = 1, v.causes, l.sources
	d.Decision, d.Actions, d.Tried, d.Writes = out.decision, out.actions, out.tried, out.writes
	d.Outcome, d.Class = out.word(), Classify(out.err)
	switch {
	case out.err != nil:
		d.Error, d.NextFor = causeChain(out.err), "retry"
	case out.paced:
		d.NextFor = "its turn to be rewritten"
	case d.Next > 0:
		d.NextFor = out.waitFor
	}
	l.decisions.record(d)
}

// activity is what a key that writes has done lately, nil if it has not.
func (l *loop) activity(key Key) *activity {
	if a := l.active.of(key); a != nil {
		return a
	}
	if state := l.keys[key]; state != nil {
		return state.activity
	}
	return nil
}

// admit decides whether a key that is due must wait on, and what its pass has
// to know.
func (l *loop) admit(key Key, id identity, why causes) (visit, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	v := visit{causes: why, life: l.life}
	state, disturbed := l.keys[key], false
	if a := l.activity(key); a != nil {
		disturbed = a.disturbed(now, id.generation)
		v.flapping = a.flapping()
	}
	if state != nil {
		if state.hot && disturbed {
			state.recover()
		}
		state.causes |= why
		if left, held := state.held(now, id); held {
			l.queue.after(key, left)
			return v, true
		}
		v.hot, v.causes, state.causes = state.hot, state.causes, 0
	}
	if v.causes.urgent() {
		l.pacer.end(key)
	}
	return v, false
}

// begin makes a key due at the start. Rewrites of what is settled are paced.
func (l *loop) begin(key Key, settled bool) {
	l.mu.Lock()
	if settled {
		l.pacer.begin(key)
	}
	l.mu.Unlock()
	l.queue.add(key, causeStart)
}

// turn is how long a key has to wait before it may be rewritten.
func (l *loop) turn(key Key) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pacer.wait(l.clock.Now(), key)
}

// park turns a key away while a cache lacks what its last pass wrote.
func (l *loop) park(key Key, why causes) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	state, known := l.keys[key]
	if !known {
		return false
	}
	state.causes |= why
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

// settle is the one place where an outcome becomes a wish to the queue. It
// returns when the key is looked at again, zero for on a change.
func (l *loop) settle(key Key, id identity, v visit, out outcome) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v.life != l.life {
		// The caches that it was about are gone; the next ones bring it again.
		return 0
	}
	state, known := l.keys[key]
	if !known {
		state = &keyState{}
	}
	state.notes = out.notes
	now := l.clock.Now()
	if len(out.touches) > 0 {
		l.active.add(now, key, id.generation, out.touches)
	}
	if out.paced {
		return l.putOff(key, now, out)
	}
	if out.err == nil || len(out.touches) > 0 {
		l.pacer.end(key)
	}
	next := l.judge(state, now, key, id, out)
	if state.hot {
		// It has to hear of changes for as long as it is held.
		state.activity = l.activity(key)
	}
	if state.blank() {
		delete(l.keys, key)
	} else {
		l.keys[key] = state
	}
	l.queue.after(key, next)
	return next
}

// putOff has a key wait for its turn, or for its deadline if that is sooner.
func (l *loop) putOff(key Key, now time.Time, out outcome) time.Duration {
	if out.deadline > 0 {
		l.pacer.hasten(key, now.Add(out.deadline))
	}
	next := max(out.wait, time.Millisecond)
	l.queue.after(key, next)
	return next
}

// judge draws the consequences of how a pass ended.
func (l *loop) judge(state *keyState, now time.Time, key Key, id identity, out outcome) time.Duration {
	class, next := Classify(out.err), out.waitFrom(now)
	switch class {
	case "":
		if state.hot {
			// The next pass takes the condition back.
			l.queue.add(key, causeAgain)
		}
		state.recover()
		return next
	case ClassConflict:
		state.conflicts++
		next = 0
		if len(out.notes) == 0 || state.conflicts > conflictsBeforeBackoff {
			next = state.fail(now, key, id, ClassTransient, 0)
		} else {
			// No event need ever come for what the cache shows already; if
			// it does not, the key parks.
			l.queue.add(key, causeConflict)
		}
	default:
		next = state.fail(now, key, id, class, out.retryAfter)
	}
	if next > 0 {
		l.metrics.retries.WithLabelValues(l.name).Inc()
	}
	l.logFailure(key, class, out, next)
	return next
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
		slog.String("error", causeChain(out.err)), slog.Duration("next", next),
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
	l.active.forget(key)
	l.pacer.end(key)
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
	l.life++
	l.active, l.pacer = newActivities(), pacer{}
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
