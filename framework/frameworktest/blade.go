package frameworktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// numbered selects the writes at which a program is hit. Leases and events
// are not part of what it achieves.
func numbered(r Request) bool {
	return Writes(r) && r.Resource != "leases" && r.Resource != "events"
}

// ledger counts and keeps the writes of one run, over all lives.
type ledger struct {
	plan       plan
	invariants []func(Write) error

	mu sync.Mutex
	outcome
}

func newLedger(p plan, invariants []Invariant) *ledger {
	l := &ledger{plan: p, outcome: outcome{committed: map[string]int{}}}
	for _, invariant := range invariants {
		l.invariants = append(l.invariants, invariant())
	}
	return l
}

// begun counts a write; true for the one at which the program is hit.
func (l *ledger) begun(r Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts++
	if l.attempts != l.plan.write {
		return false
	}
	l.hit = r
	return true
}

func (l *ledger) carriedOut(w Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := w.Name
	if name == "" {
		var answer metav1.PartialObjectMetadata
		if json.Unmarshal(w.Answer, &answer) == nil {
			name = answer.Name
		}
	}
	l.committed[w.Verb+" "+w.Resource+" "+name]++
	for _, holds := range l.invariants {
		if err := holds(w); err != nil {
			l.broken = append(l.broken, err)
		}
	}
}

func (l *ledger) result() outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outcome
}

// recorder stands next to the API server and sees what is really carried out,
// also when the answer goes to nobody any more.
type recorder struct {
	ledger *ledger
	next   http.RoundTripper
}

// RoundTrip sends a request and records it if it is a write.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	described := describe(req)
	if !numbered(described) {
		return r.next.RoundTrip(req)
	}
	write := Write{Request: described, Query: req.URL.Query()}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("reading the body of %s %s: %w", described.Verb, described.Path, err)
		}
		req = req.Clone(req.Context())
		req.Body, write.Body = io.NopCloser(bytes.NewReader(body)), body
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	write.Answer, err = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(write.Answer))
	if write.Code = resp.StatusCode; committed(resp) {
		r.ledger.carriedOut(write)
	}
	return resp, nil
}

func committed(resp *http.Response) bool { return resp.StatusCode/100 == 2 }

// blade stands next to the program and hits it at its write.
type blade struct {
	ledger    *ledger
	transport *Transport
	next      http.RoundTripper
	kill      func()
}

// RoundTrip sends a request, and kills or deceives the program if it is the
// one.
func (b *blade) RoundTrip(req *http.Request) (*http.Response, error) {
	described := describe(req)
	if !numbered(described) || b.transport.isCut() || !b.ledger.begun(described) {
		return b.next.RoundTrip(req)
	}
	point := b.ledger.plan.point
	if point == BeforeSend {
		drop(req)
		b.kill()
		return nil, errCut
	}
	resp, err := b.next.RoundTrip(req)
	if point == AfterCommit || point == AfterReply {
		b.kill()
	}
	switch {
	case err != nil:
		return nil, err
	case point == AfterCommit:
		_ = resp.Body.Close()
		return nil, errCut
	case point == ErrorThoughCommitted && committed(resp):
		_ = resp.Body.Close()
		return b.lie().response(req)
	}
	return resp, nil
}

// lie is the error for a write that was carried out.
func (b *blade) lie() Fault {
	if b.ledger.plan.write%2 == 1 {
		return Fault{Reset: true}
	}
	return Fault{Status: http.StatusInternalServerError, Message: "injected: the write was carried out all the same"}
}
