package framework

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// unaryTimeout bounds a request that is no watch.
const unaryTimeout = 30 * time.Second

// headerTimeout bounds how long a list on the watch connection may take to
// begin. A watch may be silent for as long as the tracker allows.
const headerTimeout = 60 * time.Second

// Connections are the two ways in which a process talks to an API server:
// requests that must be answered soon, and watches that must not end. They
// do not share a connection, so that neither waits behind the other. A client
// set has a connection of its own; those that are made with one HTTP client
// (rest.HTTPClientFor) share it.
type Connections struct {
	// Unary is for reads and writes: with a deadline, without a limit of
	// the client's own.
	Unary *rest.Config
	// Watch is for informers: without a deadline.
	Watch *rest.Config
	// watches knows the open watches of clients made from Watch.
	watches *watchTracker

	// fence refuses writes on Unary while an election does not allow them.
	fence *fence
}

// Connect derives both configurations from base, which it does not change.
func Connect(base *rest.Config) Connections {
	watches := newWatchTracker()
	unary, watch := unlimited(base), unlimited(base)
	unary.Timeout = unaryTimeout
	unary.Wrap(func(next http.RoundTripper) http.RoundTripper { return retryAfterTripper{next} })
	fence := &fence{}
	unary.Wrap(func(next http.RoundTripper) http.RoundTripper { return fenceTripper{next, fence} })
	watch.Timeout = 0
	// Transports are shared by what is equal in their configurations; a
	// dialer equals none but itself.
	watch.Dial = dialer(base)
	watch.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &watchTripper{next: next, tracker: watches, headers: headerTimeout}
	})
	return Connections{Unary: unary, Watch: watch, watches: watches, fence: fence}
}

// unlimited copies a configuration and lifts the limits of the client: the
// server is fair to its clients by itself.
func unlimited(base *rest.Config) *rest.Config {
	config := rest.CopyConfig(base)
	config.QPS, config.Burst, config.RateLimiter = -1, 0, nil
	return config
}

func dialer(base *rest.Config) func(context.Context, string, string) (net.Conn, error) {
	dial := base.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return dial(ctx, network, address)
	}
}

// retryAfter remembers how long the server asked to be left alone.
type retryAfter struct {
	mu      sync.Mutex
	longest time.Duration
}

type retryAfterKey struct{}

// withRetryAfter returns a context whose requests on the unary connection
// fail at once where the server asks to come back later, instead of sleeping
// in the client, and what the server asked for.
func withRetryAfter(ctx context.Context) (context.Context, *retryAfter) {
	asked := &retryAfter{}
	return context.WithValue(ctx, retryAfterKey{}, asked), asked
}

// Duration is the longest that was asked for; zero if nothing was.
func (r *retryAfter) Duration() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.longest
}

func (r *retryAfter) record(asked time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.longest = max(r.longest, asked)
}

// retryAfterTripper takes the header off on which the client would sleep.
type retryAfterTripper struct{ next http.RoundTripper }

func (t retryAfterTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

func (t retryAfterTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	recorder, ok := req.Context().Value(retryAfterKey{}).(*retryAfter)
	if err != nil || !ok || (resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError) {
		return resp, err
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		recorder.record(time.Duration(seconds) * time.Second)
		resp.Header.Del("Retry-After")
	}
	return resp, nil
}

// watchTripper tracks watches, and bounds the wait for the beginning of
// everything else.
type watchTripper struct {
	next    http.RoundTripper
	tracker *watchTracker
	headers time.Duration
}

func (t *watchTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

func (t *watchTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if watch, _ := strconv.ParseBool(req.URL.Query().Get("watch")); watch {
		return t.tracker.roundTrip(req, t.next)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(t.headers, func() { cancel(context.DeadlineExceeded) })
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		cause := context.Cause(ctx)
		cancel(nil)
		if req.Context().Err() == nil && errors.Is(cause, context.DeadlineExceeded) {
			return nil, fmt.Errorf("waiting %s for an answer to begin: %w", t.headers, cause)
		}
		return nil, err
	}
	resp.Body = &closeFunc{resp.Body, func() { cancel(nil) }}
	return resp, nil
}

// closeFunc does something more when a body is closed.
type closeFunc struct {
	io.ReadCloser
	closed func()
}

func (c *closeFunc) Close() error {
	defer c.closed()
	return c.ReadCloser.Close()
}

// Clients makes a generated clientset for each kind of connection.
func Clients[C any](c Connections, newForConfig func(*rest.Config) (C, error)) (unary, watch C, err error) {
	if unary, err = newForConfig(c.Unary); err != nil {
		return unary, watch, fmt.Errorf("making the client for requests: %w", err)
	}
	if watch, err = newForConfig(c.Watch); err != nil {
		return unary, watch, fmt.Errorf("making the client for watches: %w", err)
	}
	return unary, watch, nil
}
