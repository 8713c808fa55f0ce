package conversation

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// guillotine cuts a process off at its nth write, after the API server has
// carried it out or before it was sent. From then on nothing gets through,
// as when the process is killed.
type guillotine struct {
	last     int
	answered bool

	mu     sync.Mutex
	writes int
	dead   bool
	fell   chan struct{}
}

var errKilled = errors.New("the process was killed")

// over puts one connection under the guillotine.
func (g *guillotine) over(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet || strings.Contains(r.URL.Path, "/events") {
			if g.isDead() {
				return nil, errKilled
			}
			return next.RoundTrip(r)
		}
		dies, first := g.count()
		if dies && (!first || !g.answered) {
			return nil, errKilled
		}
		response, err := next.RoundTrip(r)
		if dies && err == nil {
			_ = response.Body.Close()
			return nil, errKilled
		}
		return response, err
	})
}

// count counts a write; it tells whether the process is dead by it, and
// whether this write is the one that killed it.
func (g *guillotine) count() (dies, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead {
		return true, false
	}
	g.writes++
	if g.writes < g.last {
		return false, false
	}
	g.dead = true
	close(g.fell)
	return true, true
}

func (g *guillotine) isDead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// within waits until something holds; false when the process died first, or
// when it took too long.
func (g *guillotine) within(ctx context.Context, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if holds() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-g.fell:
			return false
		case <-ticker.C:
		}
	}
}
