package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/mcpserver"
)

// requestLog is a handler that writes down what it is asked.
type requestLog struct {
	http.Handler
	mu    sync.Mutex
	lines []string
}

func (l *requestLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.lines = append(l.lines, fmt.Sprintf("%s %s version=%q accept=%q", r.Method, r.URL.Path,
		r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Accept")))
	l.mu.Unlock()
	l.Handler.ServeHTTP(w, r)
}

func TestServersOfEveryEra(t *testing.T) {
	cases := []struct {
		name    string
		options mcpserver.Options
		want    string
	}{
		{"both eras with streams", mcpserver.Options{}, "2026-07-28"},
		{"both eras with JSON", mcpserver.Options{JSON: true}, "2026-07-28"},
		{"stateless with streams", mcpserver.Options{Eras: mcpserver.Stateless}, "2026-07-28"},
		{"stateless with JSON", mcpserver.Options{Eras: mcpserver.Stateless, JSON: true}, "2026-07-28"},
		{"sessions with streams", mcpserver.Options{Eras: mcpserver.Sessions}, "2025-11-25"},
		{"sessions with JSON", mcpserver.Options{Eras: mcpserver.Sessions, JSON: true}, "2025-11-25"},
		{"sessions behind a token", mcpserver.Options{Eras: mcpserver.Sessions, Token: canary}, "2025-11-25"},
		{"stateless behind a token", mcpserver.Options{Eras: mcpserver.Stateless, Token: canary}, "2026-07-28"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			tc.options.PageSize = 2
			server := mcpserver.NewWith(tc.options,
				mcpserver.Tool("a", "first"), mcpserver.Tool("b", ""), mcpserver.Tool("c", ""))
			requests := &requestLog{Handler: server}
			prober, _ := developer()
			result := prober.Probe(t.Context(), Target{URL: serve(t, requests), Token: canary + "\n", Timeout: 20 * time.Second})
			checkMessage(t, result)
			schema := json.RawMessage(`{"type":"object"}`)
			want := Result{
				Reachable: true, Reason: polychromev1alpha1.ReasonCatalogListed, Message: "the server offers 3 tools",
				Tools: []Tool{
					{Name: "a", Description: "first", InputSchema: schema},
					{Name: "b", InputSchema: schema}, {Name: "c", InputSchema: schema},
				},
				Server: ServerInfo{Name: mcpserver.Name, Version: mcpserver.Version, ProtocolVersion: tc.want},
			}
			if diff := cmp.Diff(want, result); diff != "" {
				t.Errorf("result (-want +got):\n%s\nrequests:\n%s", diff, strings.Join(requests.lines, "\n"))
			}
			eventually(t, "no session", func() bool { return server.Sessions() == 0 })
			for i, line := range requests.lines {
				post := strings.HasPrefix(line, "POST") && strings.HasSuffix(line, `accept="application/json, text/event-stream"`)
				end := strings.HasPrefix(line, "DELETE") && i >= len(requests.lines)-2
				if !post && !end {
					t.Errorf("sent %s", line)
				}
				if i > 1 && !strings.Contains(line, "version="+`"`+tc.want) {
					t.Errorf("sent %s, want version %s", line, tc.want)
				}
			}
		})
	}
}

func TestHintsAndSchemasAreAsSent(t *testing.T) {
	result := probeOf(t, hostile(func(w http.ResponseWriter, r *http.Request, m message) {
		answer(w, m, tools("",
			`{"name":"claims","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"inputSchema":{"z":1,"a":12345678901234567890,"type":"object"}}`,
			`{"name":"silent","description":"a \ud800 b"}`,
			`{"name":"spelled otherwise","DESCRIPTION":"x","inputschema":{},"Annotations":{"readOnlyHint":true}}`,
			`{"name":"no object","inputSchema":true}`,
			`{"name":"null","inputSchema":null,"annotations":null}`,
			"{\"name\":\"broken\",\"inputSchema\":{\"title\":\"a\xffb\"}}",
		))
	}))
	yes, no := true, false
	want := []Tool{
		{
			Name: "claims", InputSchema: json.RawMessage(`{"z":1,"a":12345678901234567890,"type":"object"}`),
			ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no,
		},
		{Name: "silent", Description: "a \uFFFD b"},
		{Name: "spelled otherwise"},
		{Name: "no object"},
		{Name: "null"},
		{Name: "broken", InputSchema: json.RawMessage("{\"title\":\"a\uFFFDb\"}")},
	}
	if diff := cmp.Diff(want, result.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestAHundredAndOneToolsInThreePages(t *testing.T) {
	var all []*mcp.Tool
	var want []string
	for i := range 101 {
		want = append(want, fmt.Sprintf("tool-%03d", i))
		all = append(all, mcpserver.Tool(want[i], ""))
	}
	server := mcpserver.NewWith(mcpserver.Options{PageSize: 40}, all...)
	prober, _ := developer()
	result := prober.Probe(t.Context(), Target{URL: serve(t, server)})
	if diff := cmp.Diff(want, toolNames(result.Tools)); diff != "" || result.Truncated {
		t.Errorf("truncated %t, tools (-want +got):\n%s", result.Truncated, diff)
	}
}

func TestANewSetOfToolsIsSeenByTheNextProbe(t *testing.T) {
	server := mcpserver.New(mcpserver.Tool("old", ""))
	url := serve(t, server)
	prober, _ := developer()
	for _, want := range [][]string{{"old"}, {"new"}, nil} {
		if want != nil && want[0] == "new" {
			server.SetTools(mcpserver.Tool("new", ""))
		} else if want == nil {
			server.SetTools()
		}
		result := prober.Probe(t.Context(), Target{URL: url})
		if !result.OK() || !slices.Equal(toolNames(result.Tools), want) {
			t.Errorf("reason %s, tools %q, want %q", result.Reason, toolNames(result.Tools), want)
		}
	}
}

func TestAServerWithoutToolsIsWell(t *testing.T) {
	result := probeOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch m := read(r); m.Method {
		case "initialize":
			answer(w, m, `{"protocolVersion":"2025-06-18","capabilities":{"prompts":{}}}`)
		case "notifications/initialized":
		default:
			fail(w, m, methodNotFound)
		}
	})
	if !result.OK() || len(result.Tools) != 0 {
		t.Errorf("reason %s, %d tools", result.Reason, len(result.Tools))
	}
}
