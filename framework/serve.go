package framework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// serve starts the health and metrics servers; they end with ctx.
func (m *Manager) serve(ctx context.Context, background *sync.WaitGroup, fail context.CancelCauseFunc) {
	health := http.NewServeMux()
	health.HandleFunc("GET /healthz", alive)
	health.HandleFunc("GET /livez", alive)
	health.HandleFunc("GET /readyz", m.ready)
	m.serveOn(ctx, m.Health, health, background, fail)

	metrics := http.NewServeMux()
	metrics.Handle("GET /metrics", promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}))
	metrics.HandleFunc("GET /debug/decisions", m.serveDecisions)
	m.serveOn(ctx, m.Metrics, metrics, background, fail)
}

func (m *Manager) serveOn(ctx context.Context, on net.Listener, handler http.Handler, background *sync.WaitGroup, fail context.CancelCauseFunc) {
	if on == nil {
		return
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	background.Go(func() {
		if err := server.Serve(on); !errors.Is(err, http.ErrServerClosed) {
			fail(fmt.Errorf("serving on %s: %w", on.Addr(), err))
		}
	})
	background.Go(func() {
		<-ctx.Done()
		_ = server.Close()
	})
}

func alive(w http.ResponseWriter, _ *http.Request) {
	_, _ = fmt.Fprintln(w, "ok")
}

// ready answers 200 once every API has been looked at and while no watch is
// silent. A dormant API is said, and is no reason to be unready: the others
// work.
func (m *Manager) ready(w http.ResponseWriter, _ *http.Request) {
	var report strings.Builder
	ready := true
	for _, r := range m.resources {
		switch {
		case !r.looked():
			ready = false
			fmt.Fprintf(&report, "[-] %s: not looked at yet\n", r.resourceName())
		case r.State() == Served:
			fmt.Fprintf(&report, "[+] %s: served\n", r.resourceName())
		default:
			fmt.Fprintf(&report, "[ ] %s: dormant (%s)\n", r.resourceName(), r.State())
		}
	}
	if m.Connections.watches != nil {
		for _, resource := range m.Connections.watches.silent(time.Now()) {
			ready = false
			fmt.Fprintf(&report, "[-] %s: the watch is silent\n", resource)
		}
	}
	fmt.Fprintf(&report, "leading: %t\n", m.Leading())
	if !ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write([]byte(report.String()))
}

// serveDecisions answers with the decisions of all objects as JSON, or, when
// the query tells controller, namespace and name, with why that object is as
// it is.
func (m *Manager) serveDecisions(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	var answer any
	if name := query.Get("name"); name == "" {
		answer = map[string]any{"decisions": m.Decisions()}
	} else {
		why, err := m.Why(query.Get("controller"), Key{Namespace: query.Get("namespace"), Name: name})
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		answer = why
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
