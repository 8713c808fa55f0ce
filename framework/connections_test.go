package framework

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

func TestConnectLeavesTheBaseAlone(t *testing.T) {
	base := &rest.Config{Host: "https://one", UserAgent: "me", Timeout: time.Hour, QPS: 5, Burst: 10,
		RateLimiter: flowcontrol.NewFakeNeverRateLimiter(), BearerToken: "secret"}
	before := *base
	c := Connect(base)
	ignored := cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".WrapTransport" || name == ".Dial" || name == ".Proxy" || name == ".RateLimiter"
	}, cmp.Ignore())
	exported := cmp.FilterPath(func(p cmp.Path) bool { return strings.Contains(p.String(), "ContentConfig") }, cmp.Ignore())
	if diff := cmp.Diff(before, *base, ignored, exported); diff != "" || base.WrapTransport != nil || base.Dial != nil || base.RateLimiter == nil {
		t.Errorf("base (-before +after):\n%s", diff)
	}
	for name, config := range map[string]*rest.Config{"unary": c.Unary, "watch": c.Watch} {
		if config.UserAgent != "me" || config.BearerToken != "secret" || config.QPS != -1 || config.RateLimiter != nil {
			t.Errorf("%s: user agent %q, QPS %v, limiter %v: want those of base and no limit",
				name, config.UserAgent, config.QPS, config.RateLimiter)
		}
	}
	if c.Unary.Timeout != 30*time.Second || c.Watch.Timeout != 0 {
		t.Errorf("timeouts %s and %s, want 30s and none", c.Unary.Timeout, c.Watch.Timeout)
	}
}

func TestBothWrapWhatBaseWraps(t *testing.T) {
	server := newConnectionServer(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, emptyPodList) })
	var mu sync.Mutex
	wrapped := 0
	server.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripFunc(func(req *http.Request) (*http.Response, error) {
			mu.Lock()
			wrapped++
			mu.Unlock()
			return next.RoundTrip(req)
		})
	})
	c := Connect(server.config)
	listPods(t, c.Unary)
	listPods(t, c.Watch)
	if wrapped != 2 {
		t.Errorf("base's wrapper saw %d requests, want 2", wrapped)
	}
}

func TestTwoConnections(t *testing.T) {
	server := newConnectionServer(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, emptyPodList) })
	c := Connect(server.config)
	// A shared transport lives for as long as one of its clients.
	first := clientsOf(t, c.Unary)
	defer runtime.KeepAlive(first)
	if _, err := first.CoreV1().Pods("apps").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		listPods(t, c.Unary)
	}
	unary := server.peers()
	if len(unary) != 1 {
		t.Errorf("reads came over connections %v, want one", unary)
	}
	client, err := rest.HTTPClientFor(c.Watch)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.KeepAlive(client)
	for range 3 {
		clients, err := kubernetes.NewForConfigAndClient(c.Watch, client)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := clients.CoreV1().Pods("apps").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if all := server.peers(); len(all) != 2 {
		t.Errorf("with watches, requests came over connections %v, want two", all)
	}
	listPods(t, c.Unary)
	if all := server.peers(); len(all) != 2 {
		t.Errorf("another read came over another connection: %v", all)
	}
	if protocols := server.protocols(); len(protocols) != 1 || protocols[0] != "HTTP/2.0" {
		t.Errorf("spoke %v, want HTTP/2.0", protocols)
	}
}

func TestADialerOfBaseIsUsedByBoth(t *testing.T) {
	server := newConnectionServer(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, emptyPodList) })
	var mu sync.Mutex
	dialed := 0
	server.config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		dialed++
		mu.Unlock()
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	c := Connect(server.config)
	listPods(t, c.Unary)
	listPods(t, c.Watch)
	if dialed != 2 {
		t.Errorf("dialed %d times, want 2", dialed)
	}
}

func TestRetryAfterIsRecordedInsteadOfSlept(t *testing.T) {
	tests := map[string]struct {
		code   int
		header string
		want   time.Duration
	}{
		"too many requests":           {http.StatusTooManyRequests, "300", 5 * time.Minute},
		"not available":               {http.StatusServiceUnavailable, "7", 7 * time.Second},
		"any other trouble of theirs": {http.StatusInternalServerError, "300", 5 * time.Minute},
		"no header":                   {http.StatusTooManyRequests, "", 0},
		"a header that is no number":  {http.StatusTooManyRequests, "soon", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := newConnectionServer(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				if test.header != "" {
					w.Header().Set("Retry-After", test.header)
				}
				w.WriteHeader(test.code)
				fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":%d}`, test.code)
			})
			ctx, asked := withRetryAfter(t.Context())
			began := time.Now()
			_, err := clientsOf(t, Connect(server.config).Unary).CoreV1().Pods("apps").Get(ctx, "one", metav1.GetOptions{})
			var status apierrors.APIStatus
			if !errors.As(err, &status) || status.Status().Code != int32(test.code) {
				t.Errorf("error = %v, want code %d", err, test.code)
			}
			if asked.Duration() != test.want || requests != 1 || time.Since(began) > 20*time.Second {
				t.Errorf("asked for %s by %d requests in %s, want %s, one and no wait", asked.Duration(), requests, time.Since(began), test.want)
			}
		})
	}
}

func TestTheLongestRetryAfterCounts(t *testing.T) {
	answers := make(chan string, 3)
	answers <- "2"
	answers <- "9"
	answers <- "3"
	server := newConnectionServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", <-answers)
		w.WriteHeader(http.StatusTooManyRequests)
	})
	ctx, asked := withRetryAfter(t.Context())
	clients := clientsOf(t, Connect(server.config).Unary)
	for range 3 {
		if _, err := clients.CoreV1().Pods("apps").Get(ctx, "one", metav1.GetOptions{}); !apierrors.IsTooManyRequests(err) {
			t.Fatalf("error = %v, want too many requests", err)
		}
	}
	if asked.Duration() != 9*time.Second {
		t.Errorf("asked for %s, want the longest, 9s", asked.Duration())
	}
}

func TestWithoutARecorderTheClientRetries(t *testing.T) {
	requests := 0
	server := newConnectionServer(t, func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, emptyPodList)
	})
	listPods(t, Connect(server.config).Unary)
	if requests != 2 {
		t.Errorf("%d requests, want a second one after the refusal", requests)
	}
}

func TestAListThatDoesNotBeginIsGivenUp(t *testing.T) {
	over := make(chan struct{})
	server := newConnectionServer(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	t.Cleanup(func() { close(over) })
	trip := &watchTripper{next: server.transport(t), tracker: newWatchTracker(), headers: time.Millisecond}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.config.Host+"/api/v1/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := trip.RoundTrip(req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("RoundTrip = %v, %v, want the deadline exceeded", resp, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	trip.headers = time.Hour
	if resp, err := trip.RoundTrip(req.WithContext(cancelled)); !errors.Is(err, context.Canceled) {
		t.Errorf("RoundTrip = %v, %v, want cancelled", resp, err)
	}
}

const emptyPodList = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`

// connectionServer is an HTTP/2 server that remembers who spoke to it.
type connectionServer struct {
	config *rest.Config
	mu     sync.Mutex
	peer   map[string]bool
	proto  map[string]bool
}

func newConnectionServer(t *testing.T, handle http.HandlerFunc) *connectionServer {
	t.Helper()
	s := &connectionServer{peer: map[string]bool{}, proto: map[string]bool{}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.peer[r.RemoteAddr], s.proto[r.Proto] = true, true
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		handle(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	s.config = &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	return s
}

func (s *connectionServer) peers() []string     { return s.keys(s.peer) }
func (s *connectionServer) protocols() []string { return s.keys(s.proto) }

func (s *connectionServer) keys(of map[string]bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range of {
		keys = append(keys, key)
	}
	return keys
}

func (s *connectionServer) transport(t *testing.T) http.RoundTripper {
	t.Helper()
	transport, err := rest.TransportFor(s.config)
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

func clientsOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

func listPods(t *testing.T, config *rest.Config) {
	t.Helper()
	if _, err := clientsOf(t, config).CoreV1().Pods("apps").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
}

type tripFunc func(*http.Request) (*http.Response, error)

func (f tripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
