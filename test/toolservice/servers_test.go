package toolservice

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// answer is how a server answers a probe.
type answer func(ctx context.Context, t probe.Target) probe.Result

// servers are all the MCP servers there are, by URL. Where there is none,
// connections are refused. They outlive the controller.
type servers struct {
	mu      sync.Mutex
	answers map[string]answer
	asked   map[string][]probe.Target
}

func newServers() *servers {
	return &servers{answers: map[string]answer{}, asked: map[string][]probe.Target{}}
}

func (s *servers) probe(ctx context.Context, t probe.Target) probe.Result {
	s.mu.Lock()
	s.asked[t.URL] = append(s.asked[t.URL], t)
	reply, there := s.answers[t.URL]
	s.mu.Unlock()
	if !there {
		return failing(polychromev1alpha1.ReasonConnectionRefused)
	}
	return reply(ctx, t)
}

// set has the server of a ToolService answer from now on; nil takes it down.
func (s *servers) set(name string, reply answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reply == nil {
		delete(s.answers, urlOf(name))
		return
	}
	s.answers[urlOf(name)] = reply
}

// probes are those of one server so far.
func (s *servers) probes(name string) []probe.Target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[urlOf(name)]
}

func urlOf(name string) string { return "http://" + name + ".tools.svc/mcp" }

func tool(name string) probe.Tool {
	return probe.Tool{
		Name: name, Description: "does " + name, DestructiveHint: new(false),
		// A null, a number that is respelt, and letters that are escaped.
		InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"default":null,"max":1.0,"pattern":"<&>"}},"enum":["a",null]}`),
	}
}

func lists(names ...string) answer {
	var tools []probe.Tool
	for _, name := range names {
		tools = append(tools, tool(name))
	}
	return offers(tools...)
}

func offers(tools ...probe.Tool) answer {
	return func(context.Context, probe.Target) probe.Result {
		return probe.Result{
			Reachable: true, Reason: polychromev1alpha1.ReasonCatalogListed, Message: "the tools are listed", Tools: tools,
			Server: probe.ServerInfo{Name: "tools", Version: "1.2", ProtocolVersion: "2025-11-25"},
		}
	}
}

func failing(reason polychromev1alpha1.Reason) probe.Result {
	return probe.Result{Reason: reason, Message: "it is so"}
}

func fails(reason polychromev1alpha1.Reason) answer {
	return func(context.Context, probe.Target) probe.Result { return failing(reason) }
}

// needs lists tools to those who send the token.
func needs(token string) answer {
	return func(ctx context.Context, t probe.Target) probe.Result {
		if t.Token != token {
			return failing(polychromev1alpha1.ReasonAuthRequired)
		}
		return lists("search")(ctx, t)
	}
}

// hangs until the probe is given up, or released.
func hangs(released <-chan struct{}) answer {
	return func(ctx context.Context, t probe.Target) probe.Result {
		select {
		case <-ctx.Done():
		case <-released:
		}
		return lists("late")(ctx, t)
	}
}

// asksForPatience answers 429.
func asksForPatience(after time.Duration) answer {
	return func(context.Context, probe.Target) probe.Result {
		return probe.Result{Reachable: true, Reason: polychromev1alpha1.ReasonRateLimited, Message: "it is so", RetryAfter: after}
	}
}
