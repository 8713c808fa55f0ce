package frameworktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"polychrome.dev/controller/framework"
)

const (
	// settlePatience bounds Settle where its context does not.
	settlePatience = 30 * time.Second
	// settlePoll is the pause between two looks at a program.
	settlePoll = 3 * time.Millisecond
	// settleHeld is how many looks in a row must find nothing to do, between
	// two equal looks at the API server: what a cache shows reaches the queue
	// a moment later, and so does what a step of the clock makes due.
	settleHeld = 4
	// settleStep is how far a look moves the clock while something backs off.
	settleStep = 200 * time.Millisecond
)

// Settle runs a program to quiescence: every cache shows what the API server
// has, nothing is due, in work, parked or backing off, and all of that is
// still so at a second look. It does not wait for objects that wait for a
// time; step the clock for those, before.
//
// While something backs off it moves the clock on, so that the next try is
// due at once, and while something is at work or parked as fast as real time
// goes. It gives up at the deadline of ctx, or after thirty seconds, with an
// error that says what was not quiet.
func Settle(ctx context.Context, manager *framework.Manager, clock *Clock, live metadata.Interface) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, settlePatience)
		defer cancel()
	}
	s := &settling{manager: manager, clock: clock, live: live, looked: time.Now()}
	ticker := time.NewTicker(settlePoll)
	defer ticker.Stop()
	started := time.Now()
	for {
		if s.quiet(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not quiet after %s: %w", time.Since(started).Round(time.Millisecond), errors.Join(s.unrest, ctx.Err()))
		case <-ticker.C:
		}
	}
}

// settling is one Settle at work.
type settling struct {
	manager *framework.Manager
	clock   *Clock
	live    metadata.Interface
	// looked is the time of the last look, which paces the clock.
	looked time.Time
	// seen is what the API server had when all was quiet first, nil while it
	// is not; held is how many looks ago that was.
	seen []map[framework.Key]string
	held int
	// unrest is why the last look did not find the program quiet.
	unrest error
}

// quiet takes one look; it is true when quiescence is proven. The API server
// is asked only when the program itself has nothing to do.
func (s *settling) quiet(ctx context.Context) bool {
	elapsed := time.Since(s.looked)
	s.looked = s.looked.Add(elapsed)
	if !s.manager.Idle() {
		s.clock.Step(elapsed)
		return s.not(errors.New("a controller is at work, parked or without its caches"))
	}
	if failing := s.manager.BackingOff(); failing > 0 {
		s.clock.Step(settleStep)
		return s.not(fmt.Errorf("%d objects are backing off", failing))
	}
	if s.seen != nil && s.held < settleHeld {
		s.held++
		return false
	}
	seen, err := s.compare(ctx)
	switch {
	case err != nil:
		return s.not(err)
	case s.seen == nil || !slices.EqualFunc(s.seen, seen, maps.Equal):
		s.seen, s.held = seen, 0
		return false
	}
	return true
}

func (s *settling) not(unrest error) bool {
	if !errors.Is(unrest, context.Canceled) && !errors.Is(unrest, context.DeadlineExceeded) {
		s.unrest = unrest
	}
	s.seen = nil
	return false
}

// compare returns what the API server has of everything that is cached; an
// error if a cache shows anything else.
func (s *settling) compare(ctx context.Context) ([]map[framework.Key]string, error) {
	caches := s.manager.Caches()
	all := make([]map[framework.Key]string, 0, len(caches))
	for _, cached := range caches {
		list, err := s.live.Resource(cached.Resource).Namespace(cached.Namespace).
			List(ctx, metav1.ListOptions{LabelSelector: cached.Selector})
		if cached.State != framework.Served {
			if err == nil {
				return nil, fmt.Errorf("%s can be listed, but the cache is %s", cached.Resource.GroupResource(), cached.State)
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", cached.Resource.GroupResource(), err)
		}
		versions := make(map[framework.Key]string, len(list.Items))
		for i := range list.Items {
			versions[framework.Key{Namespace: list.Items[i].Namespace, Name: list.Items[i].Name}] = list.Items[i].ResourceVersion
		}
		if !maps.Equal(versions, cached.Versions) {
			return nil, fmt.Errorf("the cache of %s differs from the API server (-live +cached):\n%s",
				cached.Resource.GroupResource(), lineDiff(versionLines(versions), versionLines(cached.Versions)))
		}
		all = append(all, versions)
	}
	return all, nil
}

func versionLines(versions map[framework.Key]string) string {
	lines := ""
	for _, key := range slices.SortedFunc(maps.Keys(versions), func(a, b framework.Key) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	}) {
		lines += key.String() + " " + versions[key] + "\n"
	}
	return lines
}
