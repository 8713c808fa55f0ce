package framework

import (
	"context"
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
	if m.Connections.Watches != nil {
		for _, resource := range m.Connections.Watches.Silent(m.Clock.Now()) {
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
