package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// recorder dials for probes, writes down every address that the dialer's own
// check lets through, and never connects outside loopback.
type recorder struct {
	mu      sync.Mutex
	dialled []string
	open    atomic.Int64
}

func (r *recorder) dial(ctx context.Context, dialer *net.Dialer, network, address string) (net.Conn, error) {
	if !netip.MustParseAddrPort(address).Addr().Unmap().IsLoopback() {
		// Where a real dialer would be about to connect.
		if err := dialer.ControlContext(ctx, network, address, nil); err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Err: err}
		}
		r.record(address)
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.EHOSTUNREACH}
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	r.record(address)
	r.open.Add(1)
	return &countedConn{Conn: conn, open: &r.open}, nil
}

func (r *recorder) record(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dialled = append(r.dialled, address)
}

func (r *recorder) addresses() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.dialled)
}

type countedConn struct {
	net.Conn
	once sync.Once
	open *atomic.Int64
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// names resolves what it knows; anything else has no address.
type names map[string][]string

func (n names) lookup(_ context.Context, host string) ([]netip.Addr, error) {
	var addrs []netip.Addr
	for _, addr := range n[host] {
		addrs = append(addrs, netip.MustParseAddr(addr))
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return addrs, nil
}

// developer is a prober that may dial loopback, and its recorder.
func developer() (*Prober, *recorder) {
	r := &recorder{}
	return New(Options{AllowLoopback: true, Lookup: names{}.lookup, Dial: r.dial}), r
}

// serve listens on loopback until the test ends.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/mcp"
}

// probeOf probes a handler with a token, so that every answer could leak it.
func probeOf(t *testing.T, handler http.HandlerFunc) Result {
	t.Helper()
	return probeIn(t, 20*time.Second, handler)
}

// probeIn does the same in little time, for a server that takes all it gets.
func probeIn(t *testing.T, timeout time.Duration, handler http.HandlerFunc) Result {
	t.Helper()
	prober, _ := developer()
	result := prober.Probe(t.Context(), Target{URL: serve(t, handler), Token: canary, Timeout: timeout})
	checkMessage(t, result)
	return result
}

// canary is the token of the kit, which may be seen nowhere.
const canary = "canary-5f1d0c"

func checkMessage(t *testing.T, result Result) {
	t.Helper()
	text := fmt.Sprintf("%+v", result)
	if strings.Contains(text, canary) {
		t.Errorf("the token is in the result %q", text)
	}
	for _, foreign := range []string{"127.0.0.1", "hostile", "\x00"} {
		if strings.Contains(result.Message, foreign) {
			t.Errorf("the message %q has %q in it", result.Message, foreign)
		}
	}
	if result.Message == "" || len(result.Message) > 1024 {
		t.Errorf("a message of %d bytes", len(result.Message))
	}
	unreachable := slices.Contains([]polychromev1alpha1.Reason{
		polychromev1alpha1.ReasonDNSFailed, polychromev1alpha1.ReasonConnectionRefused,
		polychromev1alpha1.ReasonConnectionFailed, polychromev1alpha1.ReasonTimeout, polychromev1alpha1.ReasonTLSFailed,
		polychromev1alpha1.ReasonInvalidURL, polychromev1alpha1.ReasonURLBlocked, polychromev1alpha1.ReasonSecretNotFound,
	}, result.Reason)
	if result.Reachable == unreachable {
		t.Errorf("reachable %t with reason %s", result.Reachable, result.Reason)
	}
}

// message is what a client sends.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor string         `json:"cursor"`
		Meta   map[string]any `json:"_meta"`
	} `json:"params"`
}

// read takes a request whole; only then a server sees that its client is gone.
func read(r *http.Request) message {
	var m message
	body, _ := io.ReadAll(r.Body)
	json.Unmarshal(body, &m)
	return m
}

const (
	sessionGreeting = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"kit","version":"1"}}`
	methodNotFound  = `{"code":-32601,"message":"hostile"}`
)

func answer(w http.ResponseWriter, m message, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func fail(w http.ResponseWriter, m message, failure string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, failure)
}

// hostile is a server of the era with sessions that is well until it is asked
// for its tools.
func hostile(list func(w http.ResponseWriter, r *http.Request, m message)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch m := read(r); m.Method {
		case "initialize":
			answer(w, m, sessionGreeting)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case "tools/list":
			list(w, r, m)
		default:
			fail(w, m, methodNotFound)
		}
	}
}

// tools is a result of tools/list.
func tools(cursor string, list ...string) string {
	if cursor != "" {
		cursor = fmt.Sprintf(`,"nextCursor":%q`, cursor)
	}
	return fmt.Sprintf(`{"tools":[%s]%s}`, strings.Join(list, ","), cursor)
}

func tool(name string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
}

func toolNames(list []Tool) []string {
	var names []string
	for _, tool := range list {
		names = append(names, tool.Name)
	}
	return names
}

// eventually waits for what comes shortly after a probe, such as the server's
// own clearing up.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		case <-ticker.C:
		}
	}
}
