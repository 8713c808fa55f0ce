package probe

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// drip writes a piece again and again until the client is gone.
func drip(w http.ResponseWriter, r *http.Request, every time.Duration, piece string) {
	control := http.NewResponseController(w)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if _, err := io.WriteString(w, piece); err != nil || control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		}
	}
}

func TestTimeIsUp(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request, _ message) { <-r.Context().Done() }
	slowly := func(contentType, piece string) func(http.ResponseWriter, *http.Request, message) {
		return func(w http.ResponseWriter, r *http.Request, _ message) {
			w.Header().Set("Content-Type", contentType)
			drip(w, r, time.Millisecond, piece)
		}
	}
	cases := map[string]http.HandlerFunc{
		"nothing is answered":              func(_ http.ResponseWriter, r *http.Request) { read(r); <-r.Context().Done() },
		"the list is not answered":         hostile(hang),
		"a header and no body":             hostile(slowly("application/json", "")),
		"one byte at a time":               hostile(slowly("application/json", " ")),
		"a stream of comments without end": hostile(slowly("text/event-stream", ":\n\n")),
		"a stream of notifications without end": hostile(slowly("text/event-stream",
			`data: {"jsonrpc":"2.0","method":"notifications/progress"}`+"\n\n")),
		"a stream of requests without end": hostile(slowly("text/event-stream",
			`data: {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`+"\n\n")),
		"a line without end": hostile(slowly("text/event-stream", "data: x")),
	}
	for name, handler := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			got := probeIn(t, 400*time.Millisecond, handler)
			if took := time.Since(start); got.Reason != polychromev1alpha1.ReasonTimeout || took > 3*time.Second {
				t.Errorf("reason %s after %s: %s", got.Reason, took, got.Message)
			}
		})
	}
}

func TestAnAnswerInAStreamWithoutEndIsEnough(t *testing.T) {
	got := probeOf(t, hostile(func(w http.ResponseWriter, r *http.Request, m message) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, tools("", tool("one")))
		drip(w, r, time.Millisecond, "data: more\n\n")
	}))
	if !got.OK() {
		t.Errorf("reason %s: %s", got.Reason, got.Message)
	}
}

func TestABodyWithoutEndIsCut(t *testing.T) {
	piece := strings.Repeat("x", 64<<10)
	for _, contentType := range []string{"application/json", "text/event-stream"} {
		var written int
		done := make(chan struct{})
		got := probeOf(t, hostile(func(w http.ResponseWriter, _ *http.Request, _ message) {
			defer close(done)
			w.Header().Set("Content-Type", contentType)
			for written < 1<<30 {
				n, err := io.WriteString(w, piece)
				if written += n; err != nil {
					return
				}
			}
		}))
		<-done
		if got.Reason != polychromev1alpha1.ReasonResponseTooLarge || written > 64<<20 {
			t.Errorf("%s: reason %s after %d bytes: %s", contentType, got.Reason, written, got.Message)
		}
	}
}

func TestAllAnswersTogetherAreBounded(t *testing.T) {
	filler := strings.Repeat(" ", 3<<20)
	page := 0
	got := probeOf(t, hostile(func(w http.ResponseWriter, _ *http.Request, m message) {
		page++
		answer(w, m, filler+tools(fmt.Sprint(page), tool(fmt.Sprint(page))))
	}))
	if got.Reason != polychromev1alpha1.ReasonResponseTooLarge || page != 6 {
		t.Errorf("reason %s after %d pages: %s", got.Reason, page, got.Message)
	}
}

// TestASessionThatCannotEndDoesNotHoldTheProbe also holds that a session is
// ended after the server took all the time for its tools.
func TestASessionThatCannotEndDoesNotHoldTheProbe(t *testing.T) {
	ended := make(chan string, 2)
	start := time.Now()
	got := probeIn(t, time.Second, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			read(r)
			ended <- r.Header.Get("Mcp-Session-Id") + " " + r.Header.Get("Mcp-Protocol-Version")
			<-r.Context().Done()
			return
		}
		w.Header().Set("Mcp-Session-Id", "s-1")
		hostile(func(_ http.ResponseWriter, r *http.Request, _ message) { <-r.Context().Done() })(w, r)
	})
	if took := time.Since(start); got.Reason != polychromev1alpha1.ReasonTimeout || took > 4*time.Second {
		t.Errorf("reason %s after %s: %s", got.Reason, took, got.Message)
	}
	// Also the session that came with the refusal of server/discover is ended.
	for range 2 {
		if session := <-ended; session != "s-1 2025-11-25" {
			t.Errorf("ended the session %q", session)
		}
	}
}

// TestRawConnections are with servers that do not speak HTTP, or break off.
func TestRawConnections(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	cases := []struct {
		name, says string
		want       polychromev1alpha1.Reason
	}{
		{"closes at once", "", polychromev1alpha1.ReasonConnectionFailed},
		{"speaks another protocol", "SSH-2.0-hostile\r\n", polychromev1alpha1.ReasonConnectionFailed},
		{"says the token back and no HTTP", canary + "\r\n\r\n", polychromev1alpha1.ReasonConnectionFailed},
		{"breaks off in the header", head, polychromev1alpha1.ReasonConnectionFailed},
		{"breaks off in the body", head + "Content-Length: 100\r\n\r\n{", polychromev1alpha1.ReasonConnectionFailed},
		{"breaks off in a chunk", head + "Transfer-Encoding: chunked\r\n\r\n64\r\n{", polychromev1alpha1.ReasonConnectionFailed},
		{"sends a chunk of no size", head + "Transfer-Encoding: chunked\r\n\r\nhostile\r\n", polychromev1alpha1.ReasonConnectionFailed},
		{"has two lengths", head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", polychromev1alpha1.ReasonConnectionFailed},
		{"has a length below zero", head + "Content-Length: -1\r\n\r\n{}", polychromev1alpha1.ReasonConnectionFailed},
		{"has a status that is no number", "HTTP/1.1 abc hostile\r\n\r\n", polychromev1alpha1.ReasonConnectionFailed},
		{"has a header without end", head + "X: " + strings.Repeat("x", 1<<20), polychromev1alpha1.ReasonConnectionFailed},
		{"switches protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: hostile\r\nConnection: Upgrade\r\n\r\n", polychromev1alpha1.ReasonNotMCP},
		{"informs without end", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 1000), polychromev1alpha1.ReasonConnectionFailed},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			prober, _ := developer()
			got := prober.Probe(t.Context(), Target{URL: speak(t, tc.says), Token: canary})
			checkMessage(t, got)
			if got.Reason != tc.want {
				t.Errorf("reason %s: %s, want %s", got.Reason, got.Message, tc.want)
			}
		})
	}
}

// TestAServerThatSwitchesProtocolsAndStays keeps the connection open: nothing
// but the probe itself ends it.
func TestAServerThatSwitchesProtocolsAndStays(t *testing.T) {
	gone := make(chan struct{})
	at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Errorf("taking the connection over: %v", err)
			return
		}
		defer close(gone)
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: hostile\r\nConnection: Upgrade\r\n\r\n")
		io.Copy(io.Discard, conn)
	}))
	prober, _ := developer()
	found := make(chan Result, 1)
	go func() { found <- prober.Probe(t.Context(), Target{URL: at, Token: canary, Timeout: time.Second}) }()
	select {
	case got := <-found:
		checkMessage(t, got)
		if got.Reason != polychromev1alpha1.ReasonNotMCP {
			t.Errorf("reason %s: %s", got.Reason, got.Message)
		}
		<-gone
	case <-time.After(10 * time.Second):
		t.Fatal("the probe does not end")
	}
}

// speak listens, says one thing to everybody unasked, and closes.
func speak(t *testing.T, says string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening: %v", err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.WriteString(conn, says)
				conn.(*net.TCPConn).CloseWrite()
				// Until the client has gone, so that what was said is not lost
				// to a reset.
				io.Copy(io.Discard, conn)
			}()
		}
	}()
	return "http://" + listener.Addr().String() + "/mcp"
}
