package mcpserver

import (
	"context"
	"crypto/subtle"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Name and Version are what the server says of itself.
const (
	Name    = "polychrome-test"
	Version = "v1.2.3"
)

// Eras are the versions of the protocol that a server speaks.
type Eras int

// Eras of a server.
const (
	// Both is the stateless era, and the one with sessions for those who begin
	// with initialize; without keeping any. It is the default.
	Both Eras = iota
	// Sessions is the era with sessions alone.
	Sessions
	// Stateless is the stateless era alone.
	Stateless
)

// Options are what a server is like. The zero value is a server of both eras
// that anybody may ask.
type Options struct {
	// Eras are what the server speaks.
	Eras Eras
	// JSON makes it answer with plain JSON, not with a stream of events.
	JSON bool
	// Token is the bearer token that a client has to show; empty for none.
	Token string
	// PageSize is how many tools are on a page; the SDK's default if 0.
	PageSize int
}

// Server is an MCP server. Its handler serves one endpoint.
type Server struct {
	options Options
	server  *mcp.Server
	handler http.Handler

	mu    sync.RWMutex
	token string
	names []string
}

// New returns a server that offers some tools to anybody, in both eras.
func New(tools ...*mcp.Tool) *Server { return NewWith(Options{}, tools...) }

// NewWith returns a server of some kind that offers some tools.
func NewWith(options Options, tools ...*mcp.Tool) *Server {
	s := &Server{options: options, token: options.Token}
	s.server = mcp.NewServer(&mcp.Implementation{Name: Name, Version: Version}, &mcp.ServerOptions{
		PageSize:                  options.PageSize,
		SupportedProtocolVersions: options.Eras.versions(),
		// Also a server without tools says that it is one that could have some.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	s.server.AddReceivingMiddleware(s.whole)
	s.handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, &mcp.StreamableHTTPOptions{
		Stateless:    options.Eras != Sessions,
		JSONResponse: options.JSON,
		// In the demo it is called by the name of a Service.
		DisableLocalhostProtection: true,
	})
	s.SetTools(tools...)
	return s
}

func (e Eras) versions() []string {
	switch e {
	case Sessions:
		return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
	case Stateless:
		return []string{"2026-07-28"}
	default:
		return nil
	}
}

// Tool returns a tool that takes any arguments and does nothing.
func Tool(name, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description, InputSchema: map[string]any{"type": "object"}}
}

// SetTools replaces the tools that the server offers.
func (s *Server) SetTools(tools ...*mcp.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server.RemoveTools(s.names...)
	s.names = nil
	for _, tool := range tools {
		s.names = append(s.names, tool.Name)
		s.server.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
		})
	}
}

// whole keeps a list from being read while the tools are being replaced.
func (s *Server) whole(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if method == "tools/list" {
			s.mu.RLock()
			defer s.mu.RUnlock()
		}
		return next(ctx, method, request)
	}
}

// SetToken replaces the bearer token that a client has to show; empty for none.
func (s *Server) SetToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = token
}

// Sessions is how many sessions are open.
func (s *Server) Sessions() int {
	count := 0
	for range s.server.Sessions() {
		count++
	}
	return count
}

// ServeHTTP serves the endpoint.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.RLock()
	want := s.token
	s.mu.RUnlock()
	if want != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+want)) != 1 {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	s.handler.ServeHTTP(w, r)
}
