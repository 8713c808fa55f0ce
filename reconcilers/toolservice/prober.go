package toolservice

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// maxFlights is how many probes run at once. Others wait for one to end.
const maxFlights = 20

// prober runs probes beside the passes and remembers what they came to, for
// as long as the cache has the object. It is safe for concurrent use.
type prober struct {
	probe   func(context.Context, probe.Target) probe.Result
	secrets Secrets
	wake    func(...framework.Key)
	now     func() time.Time
	log     *slog.Logger

	// process ends with end, and with it every flight.
	process context.Context
	end     context.CancelFunc
	slots   chan struct{}

	mu      sync.Mutex
	flights sync.WaitGroup
	flying  int
	known   map[framework.Key]*entry
}

// entry is what is remembered of one object.
type entry struct {
	uid    types.UID
	memory Memory
	// flight is the probe under way, nil for none.
	flight *flight
}

// flight is one probe under way.
type flight struct {
	order
	key    framework.Key
	cancel context.CancelFunc
}

// order says what to probe.
type order struct {
	ask     Ask
	url     string
	timeout time.Duration
	bearer  *polychromev1alpha1.SecretKeyReference
}

var _ framework.Background = (*prober)(nil)

// Run gives up what is under way when ctx ends.
func (p *prober) Run(ctx context.Context) {
	<-ctx.Done()
	p.mu.Lock()
	p.end()
	p.mu.Unlock()
	p.flights.Wait()
}

// Busy reports whether a probe runs or waits for its turn.
func (p *prober) Busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flying > 0
}

// see follows the cache: an object that it does not have is not remembered.
func (p *prober) see(ts *polychromev1alpha1.ToolService, deleted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := keyOf(ts)
	e, known := p.known[key]
	// An object of which only the name is known may be the one that is gone.
	gone := known && (e.uid != ts.UID && !deleted || deleted && (e.uid == ts.UID || ts.UID == ""))
	if gone {
		e.giveUp()
		delete(p.known, key)
	}
	if !deleted && (!known || gone) {
		p.known[key] = &entry{uid: ts.UID}
	}
}

// look returns what is remembered of an object, beginning with its first look.
func (p *prober) look(ts *polychromev1alpha1.ToolService) Memory {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entry(ts)
	if e == nil {
		return Memory{}
	}
	if e.memory.Since.IsZero() {
		e.memory.Since, e.memory.First = p.now(), askOf(ts)
	}
	return e.memory
}

// drop forgets what came of an object's probes and gives up the one under way.
func (p *prober) drop(ts *polychromev1alpha1.ToolService) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.entry(ts); e != nil {
		e.giveUp()
		e.memory = Memory{}
	}
}

// begin sends a probe off. One of the same object that is under way is given
// up: it answers what nobody asks any more.
func (p *prober) begin(ts *polychromev1alpha1.ToolService, o order) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entry(ts)
	if e == nil || p.process.Err() != nil {
		return
	}
	e.giveUp()
	ctx, cancel := context.WithCancel(p.process)
	f := &flight{order: o, key: keyOf(ts), cancel: cancel}
	e.flight, e.memory.Flight = f, &f.ask
	p.flying++
	p.flights.Go(func() { p.fly(ctx, f) })
}

// fly is one probe, from the wait for a slot to the news of its end.
func (p *prober) fly(ctx context.Context, f *flight) {
	defer f.cancel()
	var found Outcome
	select {
	case p.slots <- struct{}{}:
		found = p.ask(ctx, f)
		<-p.slots
	case <-ctx.Done():
	}
	if p.land(f, found) {
		p.wake(f.key)
	}
	p.mu.Lock()
	p.flying--
	p.mu.Unlock()
}

// land remembers what a probe came to; false if nobody asks for it any more.
func (p *prober) land(f *flight, found Outcome) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, known := p.known[f.key]
	if !known || e.flight != f || p.process.Err() != nil {
		return false
	}
	found.Ask, found.At = f.ask, p.now()
	e.flight, e.memory = nil, e.memory.ended(found)
	return true
}

// ask reads the Secret, if one is needed, and asks the server. The token goes
// nowhere else.
func (p *prober) ask(ctx context.Context, f *flight) Outcome {
	target := probe.Target{URL: f.url, Timeout: f.timeout}
	if f.bearer != nil {
		reading, cancel := context.WithTimeout(ctx, f.timeout)
		defer cancel()
		token, refused, err := readToken(reading, p.secrets, f.bearer)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				p.log.WarnContext(ctx, "nobody was asked, for want of the token; trying again", "toolservice", f.key.Name,
					"namespace", f.key.Namespace, "error", err)
			}
			return Outcome{}
		case refused.reason != "":
			return Outcome{Reason: refused.reason, Message: refused.message}
		}
		target.Token = token
	}
	r := p.send(ctx, f.key, target)
	o := Outcome{Reason: r.Reason, Message: r.Message, RetryAfter: r.RetryAfter}
	if r.OK() {
		o.Catalog, o.Server = catalogOf(r.Tools, r.Truncated), r.Server
	}
	return o
}

// send keeps a panic over what a server sent from ending the process.
func (p *prober) send(ctx context.Context, key framework.Key, target probe.Target) (r probe.Result) {
	defer func() {
		if value := recover(); value != nil {
			p.log.ErrorContext(ctx, "a probe panicked", "toolservice", key.Name, "namespace", key.Namespace, "panic", fmt.Sprintf("%T", value))
			r = probe.Result{Reachable: true, Reason: polychromev1alpha1.ReasonNotMCP, Message: "what the server sent could not be read"}
		}
	}()
	return p.probe(ctx, target)
}

// entry is what is remembered of this very object, nil if the cache has
// another one, or none.
func (p *prober) entry(ts *polychromev1alpha1.ToolService) *entry {
	if e := p.known[keyOf(ts)]; e != nil && e.uid == ts.UID {
		return e
	}
	return nil
}

// giveUp ends the probe under way. What it still finds is thrown away.
func (e *entry) giveUp() {
	if e.flight != nil {
		e.flight.cancel()
		e.flight, e.memory.Flight = nil, nil
	}
}

func keyOf(ts *polychromev1alpha1.ToolService) framework.Key {
	return framework.Key{Namespace: ts.Namespace, Name: ts.Name}
}
