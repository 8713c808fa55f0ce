package mcpserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// list asks a server as any client does, and returns the version agreed on and
// the names of the tools.
func list(t *testing.T, server *Server, token string) (string, []string) {
	t.Helper()
	listener := httptest.NewServer(server)
	defer listener.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: listener.URL, HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	defer session.Close()
	var names []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatalf("listing tools: %v", err)
		}
		names = append(names, tool.Name)
	}
	return session.InitializeResult().ProtocolVersion, names
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(context.WithoutCancel(r.Context()))
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func TestServerSpeaksItsEras(t *testing.T) {
	cases := []struct {
		name    string
		options Options
		want    string
	}{
		{"both eras, of which a client takes the newer", Options{}, "2026-07-28"},
		{"both eras, with plain JSON", Options{JSON: true}, "2026-07-28"},
		{"the stateless era alone", Options{Eras: Stateless}, "2026-07-28"},
		{"the era with sessions alone", Options{Eras: Sessions}, "2025-11-25"},
		{"the era with sessions, behind a token, in pages", Options{Eras: Sessions, Token: "secret", PageSize: 1}, "2025-11-25"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			version, names := list(t, NewWith(tc.options, Tool("one", ""), Tool("two", "")), tc.options.Token)
			if version != tc.want {
				t.Errorf("version %s, want %s", version, tc.want)
			}
			if diff := cmp.Diff([]string{"one", "two"}, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}

func TestToolsAndTokenChangeWhileItRuns(t *testing.T) {
	server := New(Tool("one", ""))
	server.SetTools(Tool("two", ""), Tool("three", ""))
	server.SetToken("other")
	_, names := list(t, server, "other")
	if diff := cmp.Diff([]string{"three", "two"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	recorder := httptest.NewRecorder()
	server.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/", nil))
	if recorder.Code != http.StatusUnauthorized {
		t.Errorf("without the token: status %d, want 401", recorder.Code)
	}
}

func TestSessionsAreCounted(t *testing.T) {
	server := NewWith(Options{Eras: Sessions})
	listener := httptest.NewServer(server)
	defer listener.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: listener.URL, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	if got := server.Sessions(); got != 1 {
		t.Errorf("%d sessions while one is open", got)
	}
	session.Close()
	if got := server.Sessions(); got != 0 {
		t.Errorf("%d sessions after it was closed", got)
	}
}
