package framework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const decodeDeadline = 20 * time.Second

func TestListShowsAllButTheBadOne(t *testing.T) {
	server := newListWatchServer(t)
	for i := range 10 {
		server.put(goodPod(fmt.Sprintf("good-%d", i), "1"))
	}
	server.put(badPod("bad", "1", `"spec":{"containers":[{"name":"a"},{"name":"b","image":7}]}`))
	informer, seen := server.informer(t)
	informer.wait("ten good ones and a stub", func() bool { return len(informer.List()) == 11 })

	stub := informer.pod("bad")
	want := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "bad", Namespace: "apps", UID: "uid-bad", ResourceVersion: stub.ResourceVersion,
			Labels: map[string]string{"a": "b"}},
	}
	if diff := cmp.Diff(want, stub); diff != "" {
		t.Errorf("stub (-want +got):\n%s", diff)
	}
	err := seen.last("bad")
	for _, part := range []string{"Pod apps/bad", ".spec.containers[1].image"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not name %s", err, part)
		}
	}
	if got := informer.pod("good-3").Spec.NodeName; got != "node" {
		t.Errorf("a good object has node %q, want it whole", got)
	}
}

func TestErrorsNameTheField(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"a wrong type":          {`"spec":{"nodeName":7}`, ".spec.nodeName"},
		"a type of its own":     {`"spec":{"overhead":{"cpu":"1","memory":"much"}}`, ".spec.overhead.memory"},
		"a bad time":            {`"status":{"startTime":"yesterday"}`, ".status.startTime"},
		"an object for a list":  {`"spec":{"containers":{"name":"a"}}`, ".spec.containers"},
		"the whole spec":        {`"spec":"none"`, ".spec"},
		"deep in the third one": {`"spec":{"volumes":[{"name":"a"},{"name":"b"},{"name":"c","secret":{"defaultMode":"x"}}]}`, ".spec.volumes[2].secret.defaultMode"},
	} {
		t.Run(name, func(t *testing.T) {
			d := itemDecoder[*corev1.Pod]{}
			stub, known, err := d.decode([]byte(badPod("bad", "1", test.body).raw("7")))
			if !known || stub.Name != "bad" || stub.UID != "uid-bad" || stub.ManagedFields != nil {
				t.Errorf("decode = %v, %v, want the stub", stub, known)
			}
			if err == nil || !strings.Contains(err.Error(), "field "+test.want+":") {
				t.Errorf("error = %v, want field %s", err, test.want)
			}
		})
	}
}

func TestAnObjectWithoutMetadataIsLeftOut(t *testing.T) {
	for name, raw := range map[string]string{
		"bad metadata": `{"kind":"Pod","metadata":{"name":7}}`,
		"no name":      `{"kind":"Pod","metadata":{},"spec":7}`,
		"no object":    `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			var told []error
			d := itemDecoder[*corev1.Pod]{
				decoded: func(obj *corev1.Pod, _ []byte, err error) {
					if obj == nil {
						told = append(told, err)
					}
				}}
			list, err := d.list([]byte(`{"kind":"PodList","metadata":{"resourceVersion":"9","continue":"more","remainingItemCount":4},"items":[` +
				raw + `,{"metadata":{"name":"good"}}]}`))
			if err != nil {
				t.Fatal(err)
			}
			if len(told) != 1 || told[0] == nil {
				t.Errorf("told %v, want one error without an object", told)
			}
			items, err := meta.ExtractList(list)
			if err != nil || len(items) != 1 || items[0].(*corev1.Pod).Name != "good" {
				t.Errorf("items = %v, %v, want the good one", items, err)
			}
			accessor, err := meta.ListAccessor(list)
			if err != nil || accessor.GetResourceVersion() != "9" || accessor.GetContinue() != "more" || *accessor.GetRemainingItemCount() != 4 {
				t.Errorf("list metadata = %v, %v, want it kept", accessor, err)
			}
		})
	}
}

func TestGoodTurnsBadTurnsGood(t *testing.T) {
	server := newListWatchServer(t)
	server.put(goodPod("other", "1"))
	server.put(goodPod("pod", "1"))
	informer, seen := server.informer(t)
	informer.wait("two pods", func() bool { return len(informer.List()) == 2 })

	server.put(badPod("pod", "2", `"spec":{"nodeName":[]}`))
	informer.wait("the stub", func() bool { return informer.pod("pod").Labels["version"] == "2" })
	if pod := informer.pod("pod"); pod.Spec.NodeName != "" || seen.last("pod") == nil {
		t.Errorf("bad pod = %v, told %v, want a stub and an error", pod.Spec, seen.last("pod"))
	}
	server.put(goodPod("other", "3"))
	informer.wait("the other one, still followed", func() bool { return informer.pod("other").Labels["version"] == "3" })

	server.put(goodPod("pod", "4"))
	informer.wait("the good one", func() bool { return informer.pod("pod").Labels["version"] == "4" })
	if pod := informer.pod("pod"); pod.Spec.NodeName != "node" || seen.last("pod") != nil {
		t.Errorf("good pod = %v, told %v, want it whole and no error", pod.Spec, seen.last("pod"))
	}

	server.put(badPod("late", "5", `"spec":7`))
	informer.wait("a new bad one", func() bool { return informer.pod("late") != nil })
	server.remove("late")
	server.remove("other")
	informer.wait("both gone", func() bool { return len(informer.List()) == 1 })
	if lists := server.count("list"); lists != 0 {
		t.Errorf("%d lists, want none: the initial state comes by watch", lists)
	}
}

func TestBookmarksMoveTheStore(t *testing.T) {
	server := newListWatchServer(t)
	server.put(goodPod("pod", "1"))
	informer, seen := server.informer(t)
	informer.wait("the pod", func() bool { return len(informer.List()) == 1 })
	told := seen.count()
	server.send(watch.Bookmark, `{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"900","creationTimestamp":null},"spec":{"containers":null},"status":{}}`)
	informer.wait("the bookmark", func() bool { return informer.GetStore().LastStoreSyncResourceVersion() == "900" })
	if got := seen.count(); got != told {
		t.Errorf("told of %d objects, want %d: a bookmark is none", got, told)
	}
}

func TestAnExpiredWatchIsBegunAnew(t *testing.T) {
	server := newListWatchServer(t)
	server.put(goodPod("pod", "1"))
	informer, _ := server.informer(t)
	informer.wait("the pod", func() bool { return len(informer.List()) == 1 })
	server.send(watch.Error, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old"}`)
	server.put(badPod("bad", "2", `"spec":7`))
	informer.wait("what came meanwhile", func() bool { return len(informer.List()) == 2 })
	if got := server.count("watch"); got != 2 {
		t.Errorf("%d watches, want 2: one that expired and one anew", got)
	}
}

func TestWithoutStreamingListsItListsInPages(t *testing.T) {
	server := newListWatchServer(t)
	server.refuseStreaming = true
	for i := range 5 {
		server.put(goodPod(fmt.Sprintf("pod-%d", i), "1"))
	}
	server.pageSize = 2
	informer, _ := server.informer(t)
	informer.wait("all pages", func() bool { return len(informer.List()) == 5 })
	if got := server.count("list"); got != 3 {
		t.Errorf("%d lists, want 3 pages", got)
	}
	server.put(goodPod("pod-0", "2"))
	informer.wait("a change", func() bool { return informer.pod("pod-0").Labels["version"] == "2" })
}

func TestErrorsAreThoseOfTheOrdinaryClient(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGone)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old"}`)
	}))
	defer server.Close()
	lw := cache.ToListerWatcherWithContext(podListWatch(t, server.URL, nil))
	if _, err := lw.ListWithContext(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("list: %v, want expired", err)
	}
	if _, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("watch: %v, want expired", err)
	}
}

func TestOptionsReachTheServer(t *testing.T) {
	queries := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries <- r.URL.Path + "?" + r.URL.Query().Encode()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	}))
	defer server.Close()
	lw := cache.ToListerWatcherWithContext(podListWatch(t, server.URL, nil))
	timeout, initial := int64(60), true
	if _, err := lw.ListWithContext(t.Context(), metav1.ListOptions{LabelSelector: "a=b", Limit: 5, Continue: "c",
		ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchExact}); err != nil {
		t.Fatal(err)
	}
	w, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "7", AllowWatchBookmarks: true,
		SendInitialEvents: &initial, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, TimeoutSeconds: &timeout})
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	want := []string{
		"/api/v1/namespaces/apps/pods?continue=c&labelSelector=a%3Db&limit=5&resourceVersion=7&resourceVersionMatch=Exact",
		"/api/v1/namespaces/apps/pods?allowWatchBookmarks=true&resourceVersion=7&resourceVersionMatch=NotOlderThan" +
			"&sendInitialEvents=true&timeout=1m0s&timeoutSeconds=60&watch=true",
	}
	if diff := cmp.Diff(want, []string{<-queries, <-queries}); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestWatchEvents(t *testing.T) {
	stream := `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}`
	tests := map[string]struct {
		stream string
		want   func(watch.Event) bool
	}{
		"a status comes as it is": {stream, func(e watch.Event) bool {
			return e.Type == watch.Error && apierrors.IsResourceExpired(apierrors.FromObject(e.Object))
		}},
		"a broken stream is an error": {`{"type":"ADDED",`, func(e watch.Event) bool { return e == watch.Event{} }},
		"nonsense is an error": {`{"type":"ADDED"]`, func(e watch.Event) bool {
			return e.Type == watch.Error && apierrors.IsInternalError(apierrors.FromObject(e.Object))
		}},
		"an unknown type is an error": {`{"type":"GONE","object":{}}`, func(e watch.Event) bool {
			return e.Type == watch.Error && strings.Contains(apierrors.FromObject(e.Object).Error(), "GONE")
		}},
		"what has no metadata is passed over": {
			`{"type":"ADDED","object":7}{"type":"DELETED","object":7}{"type":"DELETED","object":{"metadata":{"name":"x"}}}`,
			func(e watch.Event) bool { return e.Type == watch.Deleted && e.Object.(*corev1.Pod).Name == "x" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, test.stream)
			}))
			defer server.Close()
			w, err := cache.ToListerWatcherWithContext(podListWatch(t, server.URL, nil)).WatchWithContext(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			if event := <-w.ResultChan(); !test.want(event) {
				t.Errorf("event = %v", event)
			}
		})
	}
}

// seenObjects is what the callback was told.
type seenObjects struct {
	mu   sync.Mutex
	errs map[string]error
	n    int
}

func (s *seenObjects) decoded(obj *corev1.Pod, _ []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs[obj.Name] = err
	s.n++
}

func (s *seenObjects) last(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err, told := s.errs[name]
	if !told {
		return errors.New("never told of")
	}
	return err
}

func (s *seenObjects) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

func podListWatch(t *testing.T, url string, decoded func(*corev1.Pod, []byte, error)) cache.ListerWatcher {
	t.Helper()
	return podListWatchVia(t, &rest.Config{Host: url}, decoded)
}

func podListWatchVia(t *testing.T, config *rest.Config, decoded func(*corev1.Pod, []byte, error)) cache.ListerWatcher {
	t.Helper()
	if decoded == nil {
		decoded = func(*corev1.Pod, []byte, error) {}
	}
	config.APIPath = "/api"
	config.ContentConfig = rest.ContentConfig{
		GroupVersion: &corev1.SchemeGroupVersion, NegotiatedSerializer: scheme.Codecs.WithoutConversion()}
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return TolerantListWatch(client, "apps", "pods", decoded)
}

// podInformer is a running shared informer.
type podInformer struct {
	cache.SharedIndexInformer
	t *testing.T
}

func (p *podInformer) List() []any { return p.GetStore().List() }

func (p *podInformer) pod(name string) *corev1.Pod {
	obj, _, _ := p.GetStore().GetByKey("apps/" + name)
	pod, _ := obj.(*corev1.Pod)
	return pod
}

func (p *podInformer) wait(what string, done func() bool) {
	p.t.Helper()
	deadline := time.NewTimer(decodeDeadline)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline.C:
			p.t.Fatalf("waiting for %s: not within %s; the store has %d", what, decodeDeadline, len(p.List()))
		case <-tick.C:
		}
	}
}

// storedPod is a pod as a server would keep it: JSON that need not fit.
type storedPod struct{ name, version, body string }

func goodPod(name, version string) storedPod {
	return storedPod{name, version, `"spec":{"nodeName":"node","containers":[]}`}
}

func badPod(name, version, body string) storedPod { return storedPod{name, version, body} }

func (p storedPod) raw(resourceVersion string) string {
	labels := `"labels":{"version":"` + p.version + `"},`
	if p.version == "1" {
		labels = `"labels":{"a":"b"},`
	}
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"apps","uid":%q,`+
		`"resourceVersion":%q,%s"managedFields":[{"manager":"m"}]},%s}`, p.name, types.UID("uid-"+p.name), resourceVersion, labels, p.body)
}

// watchLine is an event as sent, and the version it happened at.
type watchLine struct {
	version int
	text    string
}

// listWatchServer serves one collection to lists and watches, streaming lists
// among them.
type listWatchServer struct {
	url             string
	refuseStreaming bool
	pageSize        int

	mu       sync.Mutex
	changed  *sync.Cond
	version  int
	order    []string
	objects  map[string]string
	events   []watchLine
	requests map[string]int
	closed   bool
}

func newListWatchServer(t *testing.T) *listWatchServer {
	s := &listWatchServer{version: 100, objects: map[string]string{}, requests: map[string]int{}}
	s.changed = sync.NewCond(&s.mu)
	server := httptest.NewServer(s)
	s.url = server.URL
	t.Cleanup(func() {
		s.mu.Lock()
		s.closed = true
		s.changed.Broadcast()
		s.mu.Unlock()
		server.Close()
	})
	return s
}

func (s *listWatchServer) informer(t *testing.T) (*podInformer, *seenObjects) {
	t.Helper()
	seen := &seenObjects{errs: map[string]error{}}
	return runInformer(t, podListWatch(t, s.url, seen.decoded)), seen
}

func runInformer(t *testing.T, lw cache.ListerWatcher) *podInformer {
	t.Helper()
	informer := cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	if err := informer.SetTransform(func(obj any) (any, error) {
		obj.(*corev1.Pod).ManagedFields = nil
		return obj, nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		informer.RunWithContext(ctx)
	}()
	t.Cleanup(func() { cancel(); <-stopped })
	return &podInformer{informer, t}
}

func (s *listWatchServer) count(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[verb]
}

func (s *listWatchServer) put(pod storedPod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	kind := watch.Modified
	if _, known := s.objects[pod.name]; !known {
		kind = watch.Added
		s.order = append(s.order, pod.name)
	}
	s.objects[pod.name] = pod.raw(strconv.Itoa(s.version))
	s.event(kind, s.objects[pod.name])
}

func (s *listWatchServer) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.event(watch.Deleted, s.objects[name])
	delete(s.objects, name)
}

func (s *listWatchServer) send(kind watch.EventType, raw string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event(kind, raw)
}

func (s *listWatchServer) event(kind watch.EventType, raw string) {
	s.events = append(s.events, watchLine{s.version, fmt.Sprintf("{\"type\":%q,\"object\":%s}\n", kind, raw)})
	s.changed.Broadcast()
}

func (s *listWatchServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	query := r.URL.Query()
	switch {
	case query.Get("watch") != "true":
		s.list(w, query.Get("limit"), query.Get("continue"))
	case query.Get("sendInitialEvents") == "true" && s.refuseStreaming:
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
	default:
		from, _ := strconv.Atoi(query.Get("resourceVersion"))
		s.watch(w, r, from, query.Get("sendInitialEvents") == "true")
	}
}

func (s *listWatchServer) list(w http.ResponseWriter, limit, from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests["list"]++
	start, _ := strconv.Atoi(from)
	end := len(s.order)
	var more string
	if limit != "" && s.pageSize > 0 && start+s.pageSize < end {
		end = start + s.pageSize
		more = strconv.Itoa(end)
	}
	items := []json.RawMessage{}
	for _, name := range s.order[start:end] {
		items = append(items, json.RawMessage(s.objects[name]))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "PodList", "apiVersion": "v1",
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version), "continue": more}, "items": items})
}

func (s *listWatchServer) watch(w http.ResponseWriter, r *http.Request, from int, initial bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests["watch"]++
	stop := context.AfterFunc(r.Context(), func() { s.mu.Lock(); s.changed.Broadcast(); s.mu.Unlock() })
	defer stop()
	next := slices.IndexFunc(s.events, func(line watchLine) bool { return line.version > from })
	if initial || next < 0 {
		next = len(s.events)
	}
	if initial {
		s.requests["initial"]++
		for _, name := range s.order {
			if raw, there := s.objects[name]; there {
				fmt.Fprintf(w, "{\"type\":\"ADDED\",\"object\":%s}\n", raw)
			}
		}
		fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"%d",`+
			`"annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n", s.version)
	}
	for {
		for ; next < len(s.events); next++ {
			fmt.Fprint(w, s.events[next].text)
		}
		w.(http.Flusher).Flush()
		if r.Context().Err() != nil || s.closed {
			return
		}
		s.changed.Wait()
	}
}
