package frameworktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/frameworktest"
)

// server answers every request with its own path, and watches with whatever
// is sent to said.
type server struct {
	client *http.Client
	faults *frameworktest.Transport
	url    string
	said   chan string
	served atomic.Int64
}

func serve(t *testing.T) *server {
	t.Helper()
	s := &server{said: make(chan string), faults: frameworktest.NewTransport()}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.served.Add(1)
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprintf(w, `{"path":%q}`, r.URL.Path)
			return
		}
		w.WriteHeader(http.StatusOK)
		for {
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case line := <-s.said:
				fmt.Fprint(w, line)
			}
		}
	}))
	t.Cleanup(web.Close)
	s.url = web.URL
	s.client = &http.Client{Transport: s.faults.Wrap(web.Client().Transport)}
	return s
}

func (s *server) do(t *testing.T, method, path, contentType string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := s.client.Do(req)
	if err == nil {
		t.Cleanup(func() { resp.Body.Close() })
	}
	return resp, err
}

func TestRequestsAreLoggedByVerbAndResource(t *testing.T) {
	s := serve(t)
	const pods = "/api/v1/namespaces/ns/pods"
	const widgets = "/apis/example.test/v1/namespaces/ns/widgets"
	for _, r := range [][3]string{
		{"GET", "/apis/example.test/v1", ""},
		{"GET", pods, ""},
		{"GET", pods + "/a", ""},
		{"GET", pods + "?watch=true", ""},
		{"POST", pods, ""},
		{"PUT", pods + "/a", ""},
		{"DELETE", pods + "/a", ""},
		{"PATCH", widgets + "/w/status", "application/merge-patch+json"},
		{"PATCH", widgets + "/w", "application/apply-patch+yaml"},
		{"GET", "/api/v1/namespaces/ns", ""},
	} {
		if _, err := s.do(t, r[0], r[1], r[2]); err != nil {
			t.Fatalf("%s %s: %v", r[0], r[1], err)
		}
	}
	want := []frameworktest.Request{
		{Verb: "get", Path: "/apis/example.test/v1"},
		{Verb: "list", Resource: "pods", Namespace: "ns", Path: pods},
		{Verb: "get", Resource: "pods", Namespace: "ns", Name: "a", Path: pods + "/a"},
		{Verb: "watch", Resource: "pods", Namespace: "ns", Path: pods},
		{Verb: "create", Resource: "pods", Namespace: "ns", Path: pods},
		{Verb: "update", Resource: "pods", Namespace: "ns", Name: "a", Path: pods + "/a"},
		{Verb: "delete", Resource: "pods", Namespace: "ns", Name: "a", Path: pods + "/a"},
		{Verb: "patch", Resource: "widgets/status", Namespace: "ns", Name: "w", Path: widgets + "/w/status"},
		{Verb: "apply", Resource: "widgets", Namespace: "ns", Name: "w", Path: widgets + "/w"},
		{Verb: "get", Resource: "namespaces", Name: "ns", Path: "/api/v1/namespaces/ns"},
	}
	if diff := cmp.Diff(want, s.faults.Requests(), cmpopts.IgnoreFields(frameworktest.Request{}, "At", "Code")); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if got := s.faults.Count(frameworktest.Writes, frameworktest.On("pods")); got != 3 {
		t.Errorf("writes of pods: want 3, got %d", got)
	}
	if got := s.faults.Count(frameworktest.Unary); got != len(want)-1 {
		t.Errorf("requests but watches: want %d, got %d", len(want)-1, got)
	}
	s.faults.Forget()
	if got := s.faults.Count(); got != 0 {
		t.Errorf("want nothing after Forget, got %d", got)
	}
}

func TestFaults(t *testing.T) {
	tests := map[string]struct {
		fault      frameworktest.Fault
		wantCode   int
		wantReset  bool
		wantServed int64
		wantBody   string
	}{
		"a status comes in the server's place": {
			fault:    frameworktest.Fault{Status: 409},
			wantCode: 409, wantBody: `"reason":"Conflict"`,
		},
		"throttling says for how long": {
			fault:    frameworktest.Fault{Status: 429, RetryAfter: 3 * time.Second},
			wantCode: 429, wantBody: `"reason":"TooManyRequests"`,
		},
		"a reset is an error": {
			fault: frameworktest.Fault{Reset: true}, wantReset: true,
		},
		"an answer can be lost after the request was carried out": {
			fault: frameworktest.Fault{Reset: true, Forward: true}, wantReset: true, wantServed: 1,
		},
		"an answer can be another": {
			fault:    frameworktest.Fault{Status: 500, Forward: true},
			wantCode: 500, wantServed: 1, wantBody: `"reason":"InternalError"`,
		},
		"an answer can be changed": {
			fault:    frameworktest.Fault{Edit: func(answer map[string]any) { answer["path"] = "elsewhere" }},
			wantCode: 200, wantServed: 1, wantBody: `{"path":"elsewhere"}`,
		},
		"another resource is left alone": {
			fault:    frameworktest.Fault{Resource: "nodes", Status: 500},
			wantCode: 200, wantServed: 1, wantBody: "pods",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			s.faults.Inject(test.fault)
			resp, err := s.do(t, http.MethodPatch, "/api/v1/namespaces/ns/pods/a", "")
			if got := s.served.Load(); got != test.wantServed {
				t.Errorf("requests that reached the server: want %d, got %d", test.wantServed, got)
			}
			if test.wantReset {
				if !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("want a reset, got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != test.wantCode || !strings.Contains(string(body), test.wantBody) {
				t.Errorf("want %d with %s, got %d with %s", test.wantCode, test.wantBody, resp.StatusCode, body)
			}
			var status metav1.Status
			if err := json.Unmarshal(body, &status); err != nil {
				t.Errorf("the answer is no JSON object: %v", err)
			}
			if want := test.fault.RetryAfter > 0; want != (resp.Header.Get("Retry-After") == "3") {
				t.Errorf("Retry-After: got %q", resp.Header.Get("Retry-After"))
			}
		})
	}
}

func TestAFaultHappensAsOftenAsItSays(t *testing.T) {
	s := serve(t)
	twice := s.faults.Inject(frameworktest.Fault{Times: 2, Status: 500})
	always := s.faults.Inject(frameworktest.Fault{Times: -1, Status: 403})
	var codes []int
	for i := range 6 {
		if i == 4 {
			always.Stop()
		}
		resp, err := s.do(t, http.MethodGet, "/api/v1/pods", "")
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, resp.StatusCode)
	}
	if diff := cmp.Diff([]int{500, 500, 403, 403, 200, 200}, codes); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if twice.Hits() != 2 || always.Hits() != 2 {
		t.Errorf("want 2 hits each, got %d and %d", twice.Hits(), always.Hits())
	}
}

func TestARequestCanBeHeldBack(t *testing.T) {
	s := serve(t)
	hold := make(chan struct{})
	held := s.faults.Inject(frameworktest.Fault{Hold: hold})
	answered := make(chan error, 1)
	go func() {
		_, err := s.do(t, http.MethodGet, "/api/v1/pods", "")
		answered <- err
	}()
	eventually(t, func() bool { return held.Hits() == 1 })
	if got := s.served.Load(); got != 0 {
		t.Errorf("a held request has reached the server")
	}
	close(hold)
	if err := <-answered; err != nil || s.served.Load() != 1 {
		t.Errorf("want the request carried out, got %v", err)
	}
}

// watch opens a watch and returns what is read from it, and how to give up.
func (s *server) watch(t *testing.T) (lines <-chan string, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/pods?watch=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	read, end := make(chan string, 10), make(chan error, 1)
	go func() {
		defer resp.Body.Close()
		buffer := make([]byte, 100)
		for {
			n, err := resp.Body.Read(buffer)
			if n > 0 {
				read <- string(buffer[:n])
			}
			if err != nil {
				end <- err
				return
			}
		}
	}()
	return read, end
}

func TestWatchesLag(t *testing.T) {
	s := serve(t)
	lines, _ := s.watch(t)
	const lag = 200 * time.Millisecond
	for _, change := range []struct {
		lag       time.Duration
		resources []string
		want      time.Duration
	}{
		{},
		{lag, nil, lag},
		{0, nil, 0},
		{lag, []string{"secrets"}, 0},
		{lag, []string{"secrets", "pods"}, lag},
		{0, []string{"pods"}, 0},
		{lag, nil, lag},
		{0, nil, 0},
	} {
		s.faults.LagWatches(change.lag, change.resources...)
		sent := time.Now()
		s.said <- "word"
		if got := <-lines; got != "word" {
			t.Errorf("want the word, got %q", got)
		}
		if took := time.Since(sent); took < change.want || change.want == 0 && took > 150*time.Millisecond {
			t.Errorf("with a lag of %s for %q it took %s", change.lag, change.resources, took)
		}
	}
}

func TestWatchesFreezeAndThaw(t *testing.T) {
	s := serve(t)
	frozen, _ := s.watch(t)
	s.faults.FreezeWatches()
	s.said <- "held"
	select {
	case got := <-frozen:
		t.Errorf("a frozen watch said %q", got)
	case <-time.After(50 * time.Millisecond):
	}
	s.faults.ThawWatches()
	if got := <-frozen; got != "held" {
		t.Errorf("want what was held back, got %q", got)
	}
	s.faults.FreezeAllWatches()
	later, ended := s.watch(t)
	select {
	case got := <-later:
		t.Errorf("a watch opened while all freeze said %q", got)
	case <-time.After(20 * time.Millisecond):
	}
	s.faults.EndWatches()
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("want an ordinary end, got %v", err)
	}
}

// eventually polls until something holds, for at most ten seconds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatal("it never held")
		}
		time.Sleep(time.Millisecond)
	}
}
