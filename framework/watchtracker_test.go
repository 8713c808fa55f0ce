package framework

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestResourceOfPath(t *testing.T) {
	for path, want := range map[string]struct{ resource, namespace string }{
		"/api/v1/pods":                                       {"pods", ""},
		"/api/v1/namespaces/apps/pods":                       {"pods", "apps"},
		"/api/v1/namespaces/apps/pods/one":                   {"pods", "apps"},
		"/api/v1/namespaces":                                 {"namespaces", ""},
		"/api/v1/namespaces/apps":                            {"namespaces", ""},
		"/apis/apps/v1/deployments":                          {"deployments.apps", ""},
		"/apis/example.com/v1beta2/namespaces/a/things":      {"things.example.com", "a"},
		"/k8s/clusters/c-1/api/v1/namespaces/apps/pods":      {"pods", "apps"},
		"/api/proxy/apis/apps/v1/namespaces/apps/daemonsets": {"daemonsets.apps", "apps"},
		"/healthz": {"/healthz", ""},
		"":         {"", ""},
	} {
		resource, namespace := resourceOfPath(path)
		if resource.String() != want.resource || namespace != want.namespace {
			t.Errorf("resourceOfPath(%q) = %s in %q, want %s in %q", path, resource, namespace, want.resource, want.namespace)
		}
	}
}

func TestAgesCountEventsAndBookmarks(t *testing.T) {
	w := newWatched(t)
	pods := w.watch("apps")
	other := w.watch("other")
	w.clock.Step(time.Minute)
	w.wantAges(map[string]time.Duration{"pods": time.Minute})
	w.server.say("apps", event("ADDED", "1"))
	<-pods.ResultChan()
	w.wantAges(map[string]time.Duration{"pods": time.Minute})
	w.server.say("other", event("BOOKMARK", "2"))
	<-other.ResultChan()
	w.wantAges(map[string]time.Duration{"pods": 0})

	w.clock.Step(maxSilence)
	if got := w.tracker.silent(w.clock.Now()); got != nil {
		t.Errorf("Silent = %v, want none yet", got)
	}
	w.clock.Step(time.Second)
	if diff := cmp.Diff([]string{"pods"}, w.tracker.silent(w.clock.Now())); diff != "" {
		t.Errorf("Silent (-want +got):\n%s", diff)
	}
	pods.Stop()
	other.Stop()
	for range pods.ResultChan() {
	}
	for range other.ResultChan() {
	}
	w.wantAges(map[string]time.Duration{})
}

func TestRestart(t *testing.T) {
	tests := map[string]struct {
		group, resource, namespace string
		want                       int
	}{
		"of a namespace, and of all":   {"", "pods", "apps", 2},
		"of a namespace not watched":   {"", "pods", "none", 1},
		"wherever it is":               {"", "pods", "", 3},
		"of another resource":          {"", "services", "", 0},
		"of another group's namesakes": {"apps", "pods", "", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t)
			watches := []watch.Interface{w.watch("apps"), w.watch("other"), w.watch("")}
			if got := w.tracker.restart(test.group, test.resource, test.namespace); got != test.want {
				t.Errorf("Restart = %d, want %d", got, test.want)
			}
			if got := w.tracker.restart(test.group, test.resource, test.namespace); got != 0 {
				t.Errorf("Restart again = %d, want 0: they are ending", got)
			}
			ended := make(chan int)
			for _, watching := range watches {
				go func() {
					said := 0
					for range watching.ResultChan() {
						said++
					}
					ended <- said
				}()
			}
			for range test.want {
				if said := <-ended; said != 0 {
					t.Errorf("a restarted watch said %d things, want an ordinary end", said)
				}
			}
			for _, watching := range watches {
				watching.Stop()
			}
			for range len(watches) - test.want {
				<-ended
			}
		})
	}
}

func TestAnInformerWatchesOnWithoutAList(t *testing.T) {
	server := newListWatchServer(t)
	server.put(goodPod("pod", "1"))
	c := Connect(&rest.Config{Host: server.url})
	tracker := c.watches
	informer := runInformer(t, podListWatchVia(t, c.Watch, nil))
	informer.wait("the pod", func() bool { return informer.pod("pod") != nil })
	// A watch that ends at once without an event counts as failed.
	server.put(goodPod("pod", "2"))
	informer.wait("a change", func() bool { return informer.pod("pod").Labels["version"] == "2" })
	if got := tracker.restart("", "pods", "apps"); got != 1 {
		t.Fatalf("Restart = %d, want 1", got)
	}
	server.put(goodPod("pod", "3"))
	informer.wait("a change after the restart", func() bool { return informer.pod("pod").Labels["version"] == "3" })
	if lists, streamed := server.count("list"), server.count("initial"); lists != 0 || streamed != 1 {
		t.Errorf("%d lists and %d streamed ones, want only the first of all", lists, streamed)
	}
}

func TestAWatchThatNeverBeginsCanBeRestarted(t *testing.T) {
	tracker := newWatchTracker()
	sent := make(chan struct{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://one/api/v1/pods?watch=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		_, err := (&watchTripper{tracker: tracker, next: tripFunc(func(req *http.Request) (*http.Response, error) {
			close(sent)
			<-req.Context().Done()
			return nil, req.Context().Err()
		})}).RoundTrip(req)
		failed <- err
	}()
	<-sent
	if got := tracker.restart("", "pods", ""); got != 1 {
		t.Errorf("Restart = %d, want 1", got)
	}
	if err := <-failed; !errors.Is(err, errWatchRestarted) {
		t.Errorf("RoundTrip: %v, want %v", err, errWatchRestarted)
	}
	if ages := tracker.ages(time.Now()); len(ages) != 0 {
		t.Errorf("Ages = %v, want none left", ages)
	}
}

func TestSilenceIsMeasuredByTheClockOfTheWatchdog(t *testing.T) {
	w := newWatched(t)
	open := w.watch("apps")
	defer open.Stop()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	ahead := clocktesting.NewFakeClock(w.clock.Now().Add(time.Hour))
	w.tracker.run(ended, ahead)
	if got := w.tracker.ages(ahead.Now())["pods"]; got != 0 {
		t.Errorf("age = %s, want none by the clock an hour ahead", got)
	}
}

func TestTheWatchdogRestartsSilentWatches(t *testing.T) {
	w := newWatched(t)
	silent, lively := w.watch("silent"), w.watch("lively")
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		w.tracker.run(ctx, w.clock)
	}()
	for waited := time.Duration(0); waited <= maxSilence; waited += silenceCheck {
		for !w.clock.HasWaiters() {
			w.yield()
		}
		w.clock.Step(silenceCheck)
		w.server.say("lively", event("BOOKMARK", "1"))
		if event, open := <-lively.ResultChan(); !open || event.Type != watch.Bookmark {
			t.Fatalf("the lively watch: %v, %v, want it to go on", event, open)
		}
	}
	if event, open := <-silent.ResultChan(); open {
		t.Errorf("the silent watch said %v, want it ended", event)
	}
	w.server.say("lively", event("ADDED", "2"))
	if event := <-lively.ResultChan(); event.Type != watch.Added || event.Object.(*corev1.Pod).ResourceVersion != "2" {
		t.Errorf("the lively watch: %v, want it to go on", event)
	}
	cancel()
	<-stopped
	silent.Stop()
	lively.Stop()
}

// watched is a client whose watches are tracked, by a clock of the test.
type watched struct {
	t       *testing.T
	server  *talkingServer
	tracker *watchTracker
	clock   *clocktesting.FakeClock
	clients kubernetes.Interface
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	talking := &talkingServer{lines: map[string]chan string{"": make(chan string), "apps": make(chan string),
		"other": make(chan string), "silent": make(chan string), "lively": make(chan string)}}
	server := newConnectionServer(t, talking.serve)
	c := Connect(server.config)
	clock := clocktesting.NewFakeClock(time.Now())
	c.watches.clock = clock
	return &watched{t, talking, c.watches, clock, clientsOf(t, c.Watch)}
}

func (w *watched) watch(namespace string) watch.Interface {
	w.t.Helper()
	watching, err := w.clients.CoreV1().Pods(namespace).Watch(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return watching
}

func (w *watched) wantAges(want map[string]time.Duration) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.tracker.ages(w.clock.Now())); diff != "" {
		w.t.Errorf("Ages (-want +got):\n%s", diff)
	}
}

// yield lets other goroutines get on, within the time of the test.
func (w *watched) yield() {
	select {
	case <-w.t.Context().Done():
		w.t.FailNow()
	case <-time.After(time.Millisecond):
	}
}

// talkingServer says in the watches of a namespace what it is told to.
type talkingServer struct{ lines map[string]chan string }

func (s *talkingServer) say(namespace, line string) { s.lines[namespace] <- line }

func (s *talkingServer) serve(w http.ResponseWriter, r *http.Request) {
	_, namespace := resourceOfPath(r.URL.Path)
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case line := <-s.lines[namespace]:
			fmt.Fprintln(w, line)
			w.(http.Flusher).Flush()
		}
	}
}

func event(kind, version string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"one","resourceVersion":%q}}}`, kind, version)
}
