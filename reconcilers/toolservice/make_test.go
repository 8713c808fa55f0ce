package toolservice

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/conditions"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// now is the time at which most tests look.
var now = time.Unix(1_800_000_000, 0).UTC()

// canary is a token; it must be seen nowhere.
const canary = "canary-5f1c"

type option func(*polychromev1alpha1.ToolService)

// bare is a ToolService that nobody has looked at.
func bare(options ...option) *polychromev1alpha1.ToolService {
	ts := &polychromev1alpha1.ToolService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "chat", Name: "weather", UID: "uid-weather", Generation: 1},
		Spec: polychromev1alpha1.ToolServiceSpec{
			Name:    "com.example/weather",
			Remotes: []polychromev1alpha1.ToolServiceRemote{{Type: "streamable-http", URL: "http://weather.tools/mcp"}},
		},
	}
	for _, change := range options {
		change(ts)
	}
	return ts
}

// held is a ToolService with our finalizer.
func held(options ...option) *polychromev1alpha1.ToolService {
	return bare(append([]option{func(ts *polychromev1alpha1.ToolService) {
		ts.Finalizers = []string{polychromev1alpha1.ToolServiceFinalizer}
	}}, options...)...)
}

// told is a held ToolService whose status tells of a probe of its spec.
func told(reason polychromev1alpha1.Reason, options ...option) *polychromev1alpha1.ToolService {
	return held(append([]option{func(ts *polychromev1alpha1.ToolService) {
		if reason == polychromev1alpha1.ReasonCatalogListed {
			list(&ts.Status, listed(two...))
		}
		tell(&ts.Status, ts.Generation, now.Add(-time.Hour), verdict{reason, "as told"})
	}}, options...)...)
}

func named(name string) option {
	return func(ts *polychromev1alpha1.ToolService) { ts.Name, ts.UID = name, types.UID("uid-"+name) }
}

func generation(n int64) option {
	return func(ts *polychromev1alpha1.ToolService) { ts.Generation = n }
}

func annotated(value string) option {
	return func(ts *polychromev1alpha1.ToolService) {
		ts.Annotations = map[string]string{polychromev1alpha1.ProbeAnnotation: value}
	}
}

func deleting(ts *polychromev1alpha1.ToolService) { ts.DeletionTimestamp = &metav1.Time{Time: now} }

func remotes(list ...polychromev1alpha1.ToolServiceRemote) option {
	return func(ts *polychromev1alpha1.ToolService) { ts.Spec.Remotes = list }
}

func every(seconds int32) option {
	return func(ts *polychromev1alpha1.ToolService) {
		ts.Spec.Probe = &polychromev1alpha1.ToolServiceProbe{IntervalSeconds: seconds, TimeoutSeconds: 10}
	}
}

func bearer(name, key string) option {
	return func(ts *polychromev1alpha1.ToolService) {
		ts.Spec.Auth = &polychromev1alpha1.ToolServiceAuth{BearerSecretRef: &polychromev1alpha1.SecretKeyReference{Name: name, Key: key}}
	}
}

func tool(name string) probe.Tool {
	return probe.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(`{"type":"object"}`), DestructiveHint: new(false)}
}

var two = []probe.Tool{tool("forecast"), tool("alerts")}

// listed is a good outcome.
func listed(tools ...probe.Tool) *Outcome {
	return &Outcome{
		Ask: Ask{Generation: 1}, At: now, Count: 1, Reason: polychromev1alpha1.ReasonCatalogListed, Message: "as listed",
		Catalog: catalogOf(tools, false), Server: probe.ServerInfo{Name: "weather", Version: "1.2", ProtocolVersion: "2025-11-25"},
	}
}

// failed is a bad outcome after so many failures in a row.
func failed(reason polychromev1alpha1.Reason, failures int) *Outcome {
	return &Outcome{Ask: Ask{Generation: 1}, At: now, Count: failures, Reason: reason, Message: "it failed", Failures: failures, Tries: failures}
}

func after(last *Outcome) Memory { return Memory{Since: now.Add(-time.Hour), Last: last} }

func good(tools ...probe.Tool) probe.Result {
	return probe.Result{Reachable: true, Reason: polychromev1alpha1.ReasonCatalogListed, Message: "the tools are listed", Tools: tools}
}

var refused = probe.Result{Reason: polychromev1alpha1.ReasonConnectionRefused, Message: "nothing listens there"}

// condition is a condition as status, reason and message.
func condition(ts *polychromev1alpha1.ToolService, kind polychromev1alpha1.ConditionType) string {
	c := meta.FindStatusCondition(ts.Status.Conditions, string(kind))
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// fakeServices is a cache with the objects that it is told of, and nothing
// behind it.
type fakeServices struct {
	handlers []func(*polychromev1alpha1.ToolService, bool)
	err      error
	calls    []string
}

func (f *fakeServices) OnChange(handler func(*polychromev1alpha1.ToolService, bool)) {
	f.handlers = append(f.handlers, handler)
}

func (f *fakeServices) AddFinalizer(_ context.Context, ts *polychromev1alpha1.ToolService, finalizer string) error {
	f.calls = append(f.calls, "add "+finalizer+" to "+ts.Name)
	return f.err
}

func (f *fakeServices) RemoveFinalizer(_ context.Context, ts *polychromev1alpha1.ToolService, finalizer string) error {
	f.calls = append(f.calls, "remove "+finalizer+" from "+ts.Name)
	return f.err
}

func (f *fakeServices) shows(ts *polychromev1alpha1.ToolService) {
	for _, handler := range f.handlers {
		handler(ts, false)
	}
}

func (f *fakeServices) loses(ts *polychromev1alpha1.ToolService) {
	for _, handler := range f.handlers {
		handler(ts, true)
	}
}

// fakeSecrets has Secrets by name, and counts who reads them.
type fakeSecrets struct {
	secrets map[string]*corev1.Secret
	err     error
	reads   []string
}

func (f *fakeSecrets) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Secret, error) {
	f.reads = append(f.reads, name)
	if f.err != nil {
		return nil, f.err
	}
	if secret, there := f.secrets[name]; there {
		return secret, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource("secrets"), name)
}

func secretOf(kind corev1.SecretType, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{Type: kind, Data: data}
}

// house runs passes like the framework: what waits comes back after its wait,
// and what is woken at once. It lives in a synctest bubble, whose time is the
// clock.
type house struct {
	t        *testing.T
	r        *Reconciler
	services *fakeServices
	secrets  *fakeSecrets
	objects  map[framework.Key]*polychromev1alpha1.ToolService
	due      chan framework.Key
	// writes counts what was written to each object; events are what was told.
	writes map[string]int
	events []framework.Event
	// decisions are what was decided and done, as people read it.
	decisions []string
	stop      context.CancelFunc
	stopped   chan struct{}
}

func newHouse(t *testing.T, ask func(context.Context, probe.Target) probe.Result) *house {
	t.Helper()
	h := &house{
		t: t, services: &fakeServices{}, secrets: &fakeSecrets{}, objects: map[framework.Key]*polychromev1alpha1.ToolService{},
		due: make(chan framework.Key, 10_000), writes: map[string]int{}, stopped: make(chan struct{}),
	}
	h.r = New(Options{ToolServices: h.services, Secrets: h.secrets, Probe: ask, Log: slog.New(slog.DiscardHandler), Wake: func(keys ...framework.Key) {
		for _, key := range keys {
			h.due <- key
		}
	}})
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go func() {
		defer close(h.stopped)
		h.r.Probes().Run(ctx)
	}()
	t.Cleanup(h.end)
	return h
}

func (h *house) end() {
	h.stop()
	<-h.stopped
}

// has shows an object to the reconciler, as it is now.
func (h *house) has(objects ...*polychromev1alpha1.ToolService) {
	for _, ts := range objects {
		h.objects[keyOf(ts)] = ts
		h.services.shows(ts)
		h.due <- keyOf(ts)
	}
}

// run runs passes for so long.
func (h *house) run(d time.Duration) {
	over := time.After(d)
	for {
		select {
		case key := <-h.due:
			h.pass(key)
		case <-over:
			return
		}
	}
}

func (h *house) pass(key framework.Key) {
	h.t.Helper()
	ts, there := h.objects[key]
	if !there {
		return
	}
	world, err := h.r.Observe(h.t.Context(), ts)
	if err != nil {
		h.t.Fatal(err)
	}
	at := time.Now()
	plan := h.r.Plan(at, ts, world)
	var done []framework.Done[Action]
	for _, action := range plan.Actions {
		_, err := h.r.Act(h.t.Context(), ts, action)
		done = append(done, framework.Done[Action]{Action: action, Err: err})
		if action.Kind == AddFinalizer {
			ts = ts.DeepCopy()
			ts.Finalizers = append(ts.Finalizers, polychromev1alpha1.ToolServiceFinalizer)
			h.writes[ts.Name]++
			h.due <- key
		}
	}
	h.decisions = append(h.decisions, fmt.Sprint(key.Name, " ", plan.Decision, " ", plan.Actions))
	said := h.r.Status(at, ts, world, done)
	if said != ts {
		h.writes[ts.Name]++
		h.due <- key
	}
	h.objects[key] = said
	h.events = append(h.events, plan.Events...)
	if plan.Wait > 0 {
		time.AfterFunc(plan.Wait, func() { h.due <- key })
	}
}

func (h *house) get(name string) *polychromev1alpha1.ToolService {
	return h.objects[framework.Key{Namespace: "chat", Name: name}]
}

// foreign is a condition of somebody else.
func foreign(ts *polychromev1alpha1.ToolService) {
	ts.Status.Conditions = conditions.Set(slices.Clone(ts.Status.Conditions), now, 1,
		metav1.Condition{Type: "Elsewhere", Status: metav1.ConditionTrue, Reason: "Theirs"})
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *syncBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
