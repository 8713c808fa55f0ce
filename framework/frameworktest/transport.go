package frameworktest

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// Transport is a set of faults between clients and an API server, and a log
// of what they asked. All clients whose configuration it wraps share it. It
// is safe for concurrent use, and may be changed while they work.
type Transport struct {
	mu          sync.Mutex
	log         []*Request
	faults      []*Injected
	eventFaults []eventFault
	// lags is by resource; "" is for those without their own.
	lags    map[string]time.Duration
	frozen  bool
	cut     bool
	streams map[*stream]struct{}
	// moved is closed and replaced whenever lags or frozen change.
	moved chan struct{}
}

// NewTransport makes a transport without faults.
func NewTransport() *Transport {
	return &Transport{lags: map[string]time.Duration{}, streams: map[*stream]struct{}{}, moved: make(chan struct{})}
}

// Wrap is for the Wrap of a rest.Config.
func (t *Transport) Wrap(next http.RoundTripper) http.RoundTripper {
	return &tripper{transport: t, next: next}
}

// LagWatches has every byte of the watches of some resources, as in
// Request.Resource, arrive this much later than it was sent, from now on; zero
// ends it. With no resource named it is for all watches, whatever was said
// before. Bytes of one watch keep their order.
func (t *Transport) LagWatches(lag time.Duration, resources ...string) {
	t.change(func() {
		if len(resources) == 0 {
			clear(t.lags)
			resources = []string{""}
		}
		for _, resource := range resources {
			t.lags[resource] = lag
		}
	})
}

// lagOf is the lag of a resource's watches; its caller holds the mutex.
func (t *Transport) lagOf(resource string) time.Duration {
	if lag, own := t.lags[resource]; own {
		return lag
	}
	return t.lags[""]
}

// FreezeWatches stops every watch that is open: its bytes are held back until
// ThawWatches, or for good if the client gives it up before. Watches that
// are opened later work.
func (t *Transport) FreezeWatches() {
	t.change(func() {
		for s := range t.streams {
			s.frozen = true
		}
	})
}

// FreezeAllWatches stops the open watches and those still to be opened.
func (t *Transport) FreezeAllWatches() {
	t.FreezeWatches()
	t.change(func() { t.frozen = true })
}

// ThawWatches lets watches go on, with all that was held back.
func (t *Transport) ThawWatches() {
	t.change(func() {
		t.frozen = false
		for s := range t.streams {
			s.frozen = false
		}
	})
}

// EndWatches ends the open watches, as a server does from time to time.
func (t *Transport) EndWatches() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.streams {
		s.end()
	}
}

// Cut ends all traffic for good, as when the process behind it is killed:
// watches end, no answer arrives any more, and nothing is sent.
func (t *Transport) Cut() {
	t.mu.Lock()
	t.cut = true
	t.mu.Unlock()
	t.EndWatches()
}

func (t *Transport) isCut() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cut
}

func (t *Transport) change(how func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	how()
	close(t.moved)
	t.moved = make(chan struct{})
}

// Requests returns what was asked and is selected by every one of the
// filters, in the order in which it was sent.
func (t *Transport) Requests(filters ...func(Request) bool) []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	var selected []Request
	for _, r := range t.log {
		if all(filters, *r) {
			selected = append(selected, *r)
		}
	}
	return selected
}

// Count is how many requests the filters select.
func (t *Transport) Count(filters ...func(Request) bool) int { return len(t.Requests(filters...)) }

// Forget empties the log.
func (t *Transport) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = nil
}

func all(filters []func(Request) bool, r Request) bool {
	for _, selects := range filters {
		if !selects(r) {
			return false
		}
	}
	return true
}

// tripper is a transport in front of another.
type tripper struct {
	transport *Transport
	next      http.RoundTripper
}

// WrappedRoundTripper lets client-go look behind this one.
func (t *tripper) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends a request, or does to it what a fault wants.
func (t *tripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.transport.isCut() {
		drop(req)
		return nil, errCut
	}
	described := describe(req)
	entry, fault := t.transport.begin(&described)
	resp, err := t.answer(req, fault)
	if err != nil {
		return nil, err
	}
	t.transport.answered(entry, resp.StatusCode)
	if t.transport.isCut() {
		_ = resp.Body.Close()
		return nil, errCut
	}
	if described.Verb == "watch" && resp.StatusCode == http.StatusOK {
		resp.Body = t.transport.follow(req.Context(), described.Resource, resp)
	}
	return resp, nil
}

func (t *tripper) answer(req *http.Request, fault *Injected) (*http.Response, error) {
	if fault == nil {
		return t.next.RoundTrip(req)
	}
	f := fault.fault
	if f.Hold != nil {
		select {
		case <-f.Hold:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	replaces := f.Edit == nil && (f.Status != 0 || f.Reset)
	if replaces && !f.Forward {
		drop(req)
		return f.response(req)
	}
	resp, err := t.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case f.Edit != nil:
		return edited(resp, f.Edit)
	case replaces:
		_ = resp.Body.Close()
		return f.response(req)
	}
	return resp, nil
}

// drop closes the body of a request that is not sent, as a RoundTripper must.
func drop(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// begin logs a request and finds the fault that is meant for it.
func (t *Transport) begin(r *Request) (*Request, *Injected) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = append(t.log, r)
	for _, f := range t.faults {
		if f.left != 0 && f.fault.matches(*r) {
			f.left--
			f.hits++
			r.Injected = true
			return r, f
		}
	}
	return r, nil
}

func (t *Transport) answered(r *Request, code int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Code = code
}

// errReset is what a client sees when its connection is reset.
var errReset = fmt.Errorf("read tcp: %w", syscall.ECONNRESET)

// errCut is what a client sees behind Cut. It is none that clients retry.
var errCut = errors.New("the transport is cut")
