package framework

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// errFenced is the answer to a write after the time for which leadership is
// certain.
var errFenced = errors.New("refusing to write: this process may no longer lead")

// leases is what the path of a request for the lease itself contains.
const leases = "/apis/coordination.k8s.io/"

// fence refuses writes once another process may lead. The elector's own word
// is not enough: it counts from the answer to its last renewal, and a process
// that was suspended hears of the end of its lease only later. A fence that
// no election has armed is open.
type fence struct {
	mu    sync.Mutex
	armed bool
	until time.Time
}

func (f *fence) arm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = true
}

// extend opens the fence until a time; the zero time closes it.
func (f *fence) extend(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = until
}

// open reports whether writes may go out, and until when if that has an end.
// It asks the wall clock too: the monotonic one stands still while a machine
// sleeps.
func (f *fence) open(now time.Time) (until time.Time, open bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.armed {
		return time.Time{}, true
	}
	return f.until, now.Before(f.until) && now.Round(0).Before(f.until.Round(0))
}

// fencedLock tells the fence of each renewal: leadership is certain for the
// term, counted from before the renewal was sent.
type fencedLock struct {
	resourcelock.Interface
	fence *fence
	term  time.Duration
}

// Create implements resourcelock.Interface.
func (l fencedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.renew(record, func() error { return l.Interface.Create(ctx, record) })
}

// Update implements resourcelock.Interface.
func (l fencedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.renew(record, func() error { return l.Interface.Update(ctx, record) })
}

func (l fencedLock) renew(record resourcelock.LeaderElectionRecord, send func() error) error {
	sent := time.Now()
	if record.HolderIdentity != l.Identity() {
		// A release: whoever sees it may lead at once.
		l.fence.extend(time.Time{})
		return send()
	}
	if err := send(); err != nil {
		return err
	}
	l.fence.extend(sent.Add(l.term))
	return nil
}

// fenceTripper lets reads pass, and writes while the fence is open. A write
// is given up when the fence closes.
type fenceTripper struct {
	next  http.RoundTripper
	fence *fence
}

func (t fenceTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

func (t fenceTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet || strings.Contains(req.URL.Path, leases) {
		return t.next.RoundTrip(req)
	}
	until, open := t.fence.open(time.Now())
	if !open {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, errFenced
	}
	if until.IsZero() {
		return t.next.RoundTrip(req)
	}
	ctx, cancel := context.WithDeadlineCause(req.Context(), until, errFenced)
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &closeFunc{resp.Body, cancel}
	return resp, nil
}
