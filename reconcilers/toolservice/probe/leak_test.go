package probe

import (
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"polychrome.dev/controller/test/mcpserver"
)

// TestAThousandProbesLeaveNothing is with good servers of each era and with
// bad ones of each kind of badness.
func TestAThousandProbesLeaveNothing(t *testing.T) {
	sessions := mcpserver.NewWith(mcpserver.Options{Eras: mcpserver.Sessions, PageSize: 1}, mcpserver.Tool("a", ""), mcpserver.Tool("b", ""))
	stateless := mcpserver.New(mcpserver.Tool("a", ""))
	endless := hostile(func(w http.ResponseWriter, r *http.Request, _ message) {
		w.Header().Set("Content-Type", "text/event-stream")
		drip(w, r, time.Millisecond, ":\n\n")
	})
	silent := func(_ http.ResponseWriter, r *http.Request) { read(r); <-r.Context().Done() }
	loop := hostile(func(w http.ResponseWriter, _ *http.Request, m message) { answer(w, m, tools("same")) })
	large := hostile(func(w http.ResponseWriter, _ *http.Request, _ message) {
		w.Header().Set("Content-Type", "application/json")
		for range 80 {
			w.Write(make([]byte, 64<<10))
		}
	})
	cases := []struct {
		name    string
		handler http.Handler
		probes  int
		timeout time.Duration
	}{
		{"sessions", sessions, 400, 20 * time.Second},
		{"stateless", stateless, 400, 20 * time.Second},
		{"endless", endless, 60, 100 * time.Millisecond},
		{"silent", http.HandlerFunc(silent), 60, 100 * time.Millisecond},
		{"loop", loop, 60, 20 * time.Second},
		{"large", large, 20, 20 * time.Second},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			var accepted atomic.Int64
			server := httptest.NewUnstartedServer(tc.handler)
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				switch state {
				case http.StateNew:
					accepted.Add(1)
				case http.StateClosed, http.StateHijacked:
					accepted.Add(-1)
				}
			}
			server.Start()
			defer server.Close()
			prober, r := developer()
			work := make(chan struct{}, tc.probes)
			for range tc.probes {
				work <- struct{}{}
			}
			close(work)
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					for range work {
						prober.Probe(t.Context(), Target{URL: server.URL, Token: canary, Timeout: tc.timeout})
					}
				})
			}
			all.Wait()
			if open := r.open.Load(); open != 0 {
				t.Errorf("%d connections are open right after the last probe", open)
			}
			eventually(t, "the server has no connection", func() bool { return accepted.Load() == 0 })
			eventually(t, "no session", func() bool { return sessions.Sessions() == 0 && stateless.Sessions() == 0 })
			server.Close()
			eventually(t, "no goroutine", func() bool { return runtime.NumGoroutine() <= before })
		})
	}
}
