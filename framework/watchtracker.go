package framework

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// maxSilence is how long a watch may say nothing. A server sends a bookmark
// about once a minute, so one that is silent for three is broken.
const maxSilence = 3 * time.Minute

// silenceCheck is how often the watchdog looks.
const silenceCheck = 15 * time.Second

// errWatchRestarted ends the request of a watch that is to begin anew.
var errWatchRestarted = errors.New("restarting the watch")

// watchTracker knows the open watches: when each last said anything, be it an
// event or a bookmark. It can end them, whereupon their informers watch on
// from where they were.
type watchTracker struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	open  map[*trackedWatch]struct{}
}

// trackedWatch is one watch request, from its sending to the closing of its
// body.
type trackedWatch struct {
	tracker   *watchTracker
	resource  schema.GroupResource
	namespace string
	cancel    context.CancelCauseFunc

	body io.ReadCloser
	// Both are guarded by the tracker's mutex.
	heard     time.Time
	restarted bool
}

func newWatchTracker() *watchTracker {
	return &watchTracker{clock: clock.RealClock{}, open: map[*trackedWatch]struct{}{}}
}

// restart ends the watches of a resource, those that show namespace: of it,
// and of all namespaces; an empty namespace means every watch of the
// resource. It returns how many there were. An informer sees an ordinary end
// and watches on at once, without a list.
func (t *watchTracker) restart(group, resource, namespace string) int {
	wanted := schema.GroupResource{Group: group, Resource: resource}
	return len(t.end(func(w *trackedWatch) bool {
		return w.resource == wanted && (namespace == "" || w.namespace == "" || w.namespace == namespace)
	}))
}

// ages tells for each resource with an open watch, as plural.group, for how
// long the quietest of its watches has said nothing.
func (t *watchTracker) ages(now time.Time) map[string]time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	ages := make(map[string]time.Duration, len(t.open))
	for watch := range t.open {
		name := watch.resource.String()
		ages[name] = max(ages[name], now.Sub(watch.heard))
	}
	return ages
}

// silent names the resources with a watch that has been silent for too long,
// sorted.
func (t *watchTracker) silent(now time.Time) []string {
	var silent []string
	for name, age := range t.ages(now) {
		if age > maxSilence {
			silent = append(silent, name)
		}
	}
	slices.Sort(silent)
	return silent
}

// run restarts watches that have been silent for too long, until ctx ends.
// Silence is measured by clock from then on.
func (t *watchTracker) run(ctx context.Context, clock clock.WithTicker) {
	t.measureBy(clock)
	ticker := clock.NewTicker(silenceCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			now := clock.Now()
			for _, watch := range t.end(func(w *trackedWatch) bool { return now.Sub(w.heard) > maxSilence }) {
				klog.FromContext(ctx).Info("restarting a silent watch",
					"resource", watch.resource.String(), "namespace", watch.namespace, "heard", watch.heard)
			}
		}
	}
}

func (t *watchTracker) measureBy(clock clock.PassiveClock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock = clock
	for watch := range t.open {
		watch.heard = clock.Now()
	}
}

// end ends the watches that are chosen and have not been ended yet.
func (t *watchTracker) end(chosen func(*trackedWatch) bool) []*trackedWatch {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ended []*trackedWatch
	for watch := range t.open {
		if !watch.restarted && chosen(watch) {
			watch.restarted = true
			watch.cancel(errWatchRestarted)
			ended = append(ended, watch)
		}
	}
	return ended
}

func (t *watchTracker) roundTrip(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	resource, namespace := resourceOfPath(req.URL.Path)
	ctx, cancel := context.WithCancelCause(req.Context())
	watch := &trackedWatch{tracker: t, resource: resource, namespace: namespace, cancel: cancel}
	t.mu.Lock()
	watch.heard = t.clock.Now()
	t.open[watch] = struct{}{}
	t.mu.Unlock()
	resp, err := next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if errors.Is(context.Cause(ctx), errWatchRestarted) {
			err = errWatchRestarted
		}
		watch.forget()
		return nil, err
	}
	watch.hear()
	watch.body = resp.Body
	resp.Body = watch
	return resp, nil
}

// Read counts what comes. A watch that was restarted ends like one that the
// server ended: anything else would make its informer list everything again.
func (w *trackedWatch) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 {
		w.hear()
	}
	if err != nil && w.wasRestarted() {
		err = io.EOF
	}
	return n, err
}

// Close ends the watch.
func (w *trackedWatch) Close() error {
	defer w.forget()
	return w.body.Close()
}

func (w *trackedWatch) hear() {
	w.tracker.mu.Lock()
	defer w.tracker.mu.Unlock()
	w.heard = w.tracker.clock.Now()
}

func (w *trackedWatch) wasRestarted() bool {
	w.tracker.mu.Lock()
	defer w.tracker.mu.Unlock()
	return w.restarted
}

func (w *trackedWatch) forget() {
	w.tracker.mu.Lock()
	defer w.tracker.mu.Unlock()
	delete(w.tracker.open, w)
	w.cancel(nil)
}

// resourcePath is the end of the path of a resource, behind whatever path the
// server itself is at: /api/v1 or /apis/GROUP/VERSION, perhaps a namespace,
// the resource, perhaps a name.
var resourcePath = regexp.MustCompile(`/(?:api|apis/([^/]+))/[^/]+(?:/namespaces/([^/]+))?/([^/]+)(?:/[^/]+)?$`)

func resourceOfPath(path string) (schema.GroupResource, string) {
	parts := resourcePath.FindStringSubmatch(path)
	if parts == nil {
		return schema.GroupResource{Resource: path}, ""
	}
	return schema.GroupResource{Group: parts[1], Resource: parts[3]}, parts[2]
}
