package probe

import (
	"bytes"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// lockedBuffer is where all logs of the process go.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// captureLogs sends what the process logs into a buffer until the test ends.
func captureLogs(t *testing.T) *lockedBuffer {
	t.Helper()
	logs := &lockedBuffer{}
	before, handler := log.Writer(), slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log.SetOutput(logs)
	t.Cleanup(func() {
		slog.SetDefault(handler)
		log.SetOutput(before)
	})
	return logs
}

// TestTheTokenIsNowhere has servers say the token back in every place they
// have.
func TestTheTokenIsNowhere(t *testing.T) {
	logs := captureLogs(t)
	const named = `"` + canary + `"`
	places := map[string]http.HandlerFunc{
		"a status line": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprintf(conn, "HTTP/1.1 500 %s\r\nContent-Length: 0\r\n\r\n", canary)
			conn.Close()
		},
		"no status line": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprintf(conn, "%s\r\n", canary)
			conn.Close()
		},
		"a body twice as long as it says": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}%s", canary)
			conn.Close()
		},
		"a location":       func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/"+canary, http.StatusFound) },
		"a content type":   always(200, "text/"+canary, "x"),
		"a content coding": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", canary) },
		"an error page":    always(400, "text/html", errorPage),
		"an RPC error":     func(w http.ResponseWriter, r *http.Request) { fail(w, read(r), `{"code":1,"message":`+named+`}`) },
		"a version":        func(w http.ResponseWriter, r *http.Request) { answer(w, read(r), `{"protocolVersion":`+named+`}`) },
		"a retry": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", canary)
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"an id":             always(200, "application/json", `{"jsonrpc":"2.0","id":`+named+`,"result":{}}`),
		"a malformed event": always(200, "text/event-stream", "data: "+canary+"\n\n"),
		"a cursor":          hostile(func(w http.ResponseWriter, _ *http.Request, m message) { answer(w, m, tools(canary)) }),
		"a session": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Mcp-Session-Id", canary)
			hostile(func(w http.ResponseWriter, _ *http.Request, _ message) {
				w.Header().Set("Mcp-Session-Id", canary+"-other")
				w.WriteHeader(http.StatusNotFound)
			})(w, r)
		},
	}
	for name, handler := range places {
		t.Run(name, func(t *testing.T) {
			if got := probeOf(t, handler); got.OK() {
				t.Errorf("reason %s", got.Reason)
			}
		})
	}
	if text := logs.text(); strings.Contains(text, canary) {
		t.Errorf("the token is in the logs:\n%s", text)
	}
}

// TestWhatIsSaidUnaskedWaitsForTheQuestion is for a server that learnt the token
// in one connection and says it in the next, before it is asked anything: the
// client of the standard library would log that.
func TestWhatIsSaidUnaskedWaitsForTheQuestion(t *testing.T) {
	url := speak(t, canary)
	prober, _ := developer()
	line := prober.newLine()
	defer line.close()
	conn, err := line.dial(t.Context(), "tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	go func() {
		said := make([]byte, len(canary))
		n, _ := conn.Read(said)
		heard <- string(said[:n])
	}()
	select {
	case said := <-heard:
		t.Fatalf("heard %q before anything was asked", said)
	case <-time.After(50 * time.Millisecond):
	}
	if _, err := conn.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	if said := <-heard; said != canary {
		t.Errorf("heard %q after the question", said)
	}
}

func TestTheTokenGoesToTheURLAlone(t *testing.T) {
	var with, without int
	var mu sync.Mutex
	count := func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") != "" {
			with++
		} else {
			without++
		}
	}
	other := httptest.NewServer(http.HandlerFunc(count))
	defer other.Close()
	got := probeOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+canary {
			t.Errorf("asked without the token: %s", r.Method)
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	if got.Reason != polychromev1alpha1.ReasonRedirectRefused || with+without != 0 {
		t.Errorf("reason %s; the other server was asked %d times with the token and %d times without", got.Reason, with, without)
	}
}

// TestTheGateSendsNothingElse is for what an SDK might send one day.
func TestTheGateSendsNothingElse(t *testing.T) {
	asked := 0
	url := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	prober, _ := developer()
	line := prober.newLine()
	defer line.close()
	gate, err := newGate(t.Context(), Target{URL: url, Token: canary}, line)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ method, url string }{
		{http.MethodGet, url}, {http.MethodHead, url}, {http.MethodPut, url}, {http.MethodOptions, url},
		{http.MethodPost, url + "/more"}, {http.MethodPost, url + "?x"}, {http.MethodPost, strings.Replace(url, "http:", "https:", 1)},
		{http.MethodPost, "http://127.0.0.1/mcp"}, {http.MethodPost, "http://elsewhere.example.com/mcp"},
		{http.MethodPost, strings.Replace(url, "//", "//user@", 1)},
	} {
		request, err := http.NewRequestWithContext(t.Context(), tc.method, tc.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := gate.RoundTrip(request); err == nil {
			response.Body.Close()
			t.Errorf("%s %s was sent", tc.method, tc.url)
		}
	}
	if asked != 0 {
		t.Errorf("the server was asked %d times", asked)
	}
}

func TestTokensThatNoHeaderCarries(t *testing.T) {
	for _, token := range []string{"a b", "a\nb", "a\r\nX: y", "a\x00", "\ta", "ü", " a", "a ", "a\x7f", "\xff"} {
		asked := 0
		url := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
		prober, _ := developer()
		got := prober.Probe(t.Context(), Target{URL: url, Token: token})
		if got.Reason != polychromev1alpha1.ReasonSecretNotFound || asked != 0 || got.Reachable {
			t.Errorf("%q: reason %s after %d requests: %s", token, got.Reason, asked, got.Message)
		}
	}
}
