package framework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	testclock "k8s.io/utils/clock/testing"
)

var errNoRoute = errors.New("no route to host")

// fakeClient answers writes as told and remembers them.
type fakeClient[T Object] struct {
	requests []string
	patch    func(name string, pt types.PatchType, body []byte, sub ...string) (T, error)
	delete   func(name string, opts metav1.DeleteOptions) error
}

func (f *fakeClient[T]) Get(context.Context, string, metav1.GetOptions) (T, error) {
	var none T
	return none, apierrors.NewNotFound(schema.GroupResource{}, "")
}

func (f *fakeClient[T]) Patch(_ context.Context, name string, pt types.PatchType, body []byte, _ metav1.PatchOptions, sub ...string) (T, error) {
	f.requests = append(f.requests, fmt.Sprintf("%s%v %s", pt, sub, body))
	return f.patch(name, pt, body, sub...)
}

func (f *fakeClient[T]) Delete(_ context.Context, name string, opts metav1.DeleteOptions) error {
	f.requests = append(f.requests, fmt.Sprintf("delete %s uid=%s version=%s", name, *opts.Preconditions.UID, *opts.Preconditions.ResourceVersion))
	return f.delete(name, opts)
}

// scripted is a reconciler whose beats are the test's; it notes their order.
type scripted struct {
	beats   []string
	observe func() error
	plan    Plan[string]
	act     func(action string) (Result, error)
	status  func(svc *corev1.Service, done []Done[string]) *corev1.Service
}

func (s *scripted) Observe(context.Context, *corev1.Service) (int, error) {
	s.beats = append(s.beats, "observe")
	if s.observe != nil {
		return 0, s.observe()
	}
	return 0, nil
}

func (s *scripted) Plan(time.Time, *corev1.Service, int) Plan[string] {
	s.beats = append(s.beats, "plan")
	return s.plan
}

func (s *scripted) Act(_ context.Context, _ *corev1.Service, action string) (Result, error) {
	s.beats = append(s.beats, "act "+action)
	if s.act != nil {
		return s.act(action)
	}
	return Result{}, nil
}

func (s *scripted) Status(_ time.Time, svc *corev1.Service, _ int, done []Done[string]) *corev1.Service {
	s.beats = append(s.beats, fmt.Sprintf("status after %d", len(done)))
	if s.status != nil {
		return s.status(svc, done)
	}
	return svc
}

// passWorld is one controller over one cached Service.
type passWorld struct {
	*Controller[*corev1.Service, int, string]
	svc      *corev1.Service
	client   *fakeClient[*corev1.Service]
	recorder *record.FakeRecorder
}

func newPassWorld(t testing.TB, s *scripted) *passWorld {
	t.Helper()
	events := record.NewFakeRecorder(100)
	m, err := NewManager(ManagerOptions{
		Names: Names{Domain: "example.test", FieldManager: "example.test/controller", MetricPrefix: "example"},
		Log:   slog.New(slog.DiscardHandler), Clock: testclock.NewFakeClock(time.Unix(1000, 0)), Events: events,
	})
	if err != nil {
		t.Fatal(err)
	}
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "svc", UID: "u", ResourceVersion: "7", Generation: 3}}
	client := &fakeClient[*corev1.Service]{
		patch: func(_ string, _ types.PatchType, body []byte, sub ...string) (*corev1.Service, error) {
			out := svc.DeepCopy()
			if len(sub) > 0 {
				if err := json.Unmarshal(body, out); err != nil {
					return nil, err
				}
			}
			out.ResourceVersion = "8"
			return out, nil
		},
		delete: func(string, metav1.DeleteOptions) error { return nil },
	}
	r := NewResource(m, ResourceOptions[*corev1.Service]{
		Resource: corev1.SchemeGroupVersion.WithResource("services"), Kind: "Service", Namespace: "n",
		Client: client,
	})
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	if err := store.Add(svc); err != nil {
		t.Fatal(err)
	}
	r.verdict.Store(&verdict{state: Served, looked: true, store: store})
	c := New(m, Options[*corev1.Service]{
		Name: "service", Resource: r,
		Conditions: func(svc *corev1.Service) *[]metav1.Condition { return &svc.Status.Conditions },
	}, s)
	return &passWorld{Controller: c, svc: svc, client: client, recorder: events}
}

func (w *passWorld) run(t *testing.T) outcome {
	t.Helper()
	return w.pass(t.Context(), keyOf(w.svc), visit{})
}

func (w *passWorld) events() []string {
	var got []string
	for len(w.recorder.Events) > 0 {
		got = append(got, <-w.recorder.Events)
	}
	return got
}

// ready returns a status that sets Ready.
func ready(status metav1.ConditionStatus, reason string) func(*corev1.Service, []Done[string]) *corev1.Service {
	return func(svc *corev1.Service, _ []Done[string]) *corev1.Service {
		svc = svc.DeepCopy()
		svc.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: status, Reason: reason, Message: "said"}}
		return svc
	}
}

func TestPassRunsTheBeatsInOrder(t *testing.T) {
	s := &scripted{plan: Plan[string]{Actions: []string{"a", "b"}, Wait: time.Minute}}
	s.act = func(action string) (Result, error) {
		if action == "b" {
			return Result{Wait: time.Second}, nil
		}
		return Result{Wait: time.Hour}, nil
	}
	out := newPassWorld(t, s).run(t)
	if diff := cmp.Diff([]string{"observe", "plan", "act a", "act b", "status after 2"}, s.beats); diff != "" {
		t.Errorf("beats (-want +got):\n%s", diff)
	}
	if out.err != nil || out.wait != time.Second {
		t.Errorf("want the soonest wait and no error, got %s, %v", out.wait, out.err)
	}
}

func TestFailedActionEndsActingAndIsReported(t *testing.T) {
	s := &scripted{plan: Plan[string]{Actions: []string{"a", "b", "c"}, Wait: time.Minute}}
	s.act = func(action string) (Result, error) {
		if action == "b" {
			return Result{}, errNoRoute
		}
		return Result{}, nil
	}
	var seen []error
	s.status = func(svc *corev1.Service, done []Done[string]) *corev1.Service {
		for _, d := range done {
			seen = append(seen, d.Err)
		}
		return ready(metav1.ConditionFalse, "Trying")(svc, done)
	}
	w := newPassWorld(t, s)
	out := w.run(t)
	if diff := cmp.Diff([]string{"observe", "plan", "act a", "act b", "status after 2"}, s.beats); diff != "" {
		t.Errorf("beats (-want +got):\n%s", diff)
	}
	if len(seen) != 2 || seen[0] != nil || !errors.Is(seen[1], errNoRoute) {
		t.Errorf("want status told that b failed, got %v", seen)
	}
	if len(w.client.requests) != 1 {
		t.Errorf("want the status written after the failed action, got %v", w.client.requests)
	}
	if !errors.Is(out.err, errNoRoute) || out.wait != 0 {
		t.Errorf("want a retry without a wait, got %v, %s", out.err, out.wait)
	}
}

func TestFailedObserveDecidesNothing(t *testing.T) {
	s := &scripted{observe: func() error { return errNoRoute }}
	out := newPassWorld(t, s).run(t)
	if diff := cmp.Diff([]string{"observe"}, s.beats); diff != "" {
		t.Errorf("beats (-want +got):\n%s", diff)
	}
	if !errors.Is(out.err, errNoRoute) {
		t.Errorf("want the error, got %v", out.err)
	}
}

func TestStatusIsOnePatchOfWhatChangedAtTheVersionJudged(t *testing.T) {
	w := newPassWorld(t, &scripted{status: ready(metav1.ConditionTrue, "Good")})
	w.svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	out := w.run(t)
	want := []string{`application/merge-patch+json[status] {"metadata":{"resourceVersion":"7"},"status":{"conditions":[{"message":"said","reason":"Good","status":"True","type":"Ready"}]}}`}
	if diff := cmp.Diff(want, w.client.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if len(out.notes) != 1 || out.notes[0].kind != noteSeen || out.notes[0].version != "8" {
		t.Errorf("want a note of version 8, got %+v", out.notes)
	}
}

func TestSettledPassCostsNoRequestAndNoEvent(t *testing.T) {
	w := newPassWorld(t, &scripted{status: ready(metav1.ConditionTrue, "Good")})
	w.svc.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Good", Message: "said"}}
	if out := w.run(t); out.err != nil || out.notes != nil {
		t.Errorf("want nothing done, got %+v", out)
	}
	if got := append(w.client.requests, w.events()...); got != nil {
		t.Errorf("want no request and no event, got %v", got)
	}
}

func TestTransitionsAreToldAfterTheWriteAndOnlyThen(t *testing.T) {
	w := newPassWorld(t, &scripted{status: ready(metav1.ConditionTrue, "Good")})
	works := w.client.patch
	w.client.patch = func(string, types.PatchType, []byte, ...string) (*corev1.Service, error) { return nil, errNoRoute }
	w.run(t)
	if got := w.events(); got != nil {
		t.Errorf("want no event while the write fails, got %v", got)
	}
	w.client.patch = works
	w.run(t)
	w.run(t)
	if diff := cmp.Diff([]string{"Normal Good said", "Normal Good said"}, w.events()); diff != "" {
		t.Errorf("one event per written transition (-want +got):\n%s", diff)
	}
}

func TestPlansEventsAreToldOncePerObject(t *testing.T) {
	s := &scripted{plan: Plan[string]{Events: []Event{{Warning: true, Reason: "Odd", Message: "ignored"}}, Actions: []string{"a"}}}
	s.act = func(string) (Result, error) { return Result{Events: []Event{{Reason: "Did", Message: "it"}}}, nil }
	w := newPassWorld(t, s)
	for range 3 {
		w.run(t)
	}
	if diff := cmp.Diff([]string{"Warning Odd ignored", "Normal Did it"}, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	w.svc.UID = "another"
	w.run(t)
	if got := len(w.events()); got != 2 {
		t.Errorf("want both told of a namesake too, got %d", got)
	}
}

func TestRefusalAndVerdictShowInReady(t *testing.T) {
	resource := schema.GroupResource{Resource: "pods"}
	type said struct{ Type, Status, Reason string }
	cases := map[string]struct {
		err  error
		want []said
	}{
		"a quota forbids":       {apierrors.NewForbidden(resource, "a", errors.New("exceeded quota")), []said{{"Ready", "False", "APIRefused"}}},
		"a webhook refuses":     {status(422, metav1.StatusReasonInvalid, "no", metav1.StatusCause{Field: "spec.a"}), []said{{"Ready", "False", "APIRefused"}}},
		"our own verdict":       {Terminal("InvalidSpec", "write a number"), []said{{"Ready", "False", "InvalidSpec"}, {"Stalled", "True", "InvalidSpec"}}},
		"an older schema":       {status(500, "", "failed to create typed patch object (x): .spec.a: field not declared in schema"), []said{{"Ready", "False", "TypedPatchRefused"}, {"Stalled", "True", "TypedPatchRefused"}, {"SchemaSkew", "True", "TypedPatchRefused"}}},
		"a passing fault":       {errNoRoute, []said{{"Ready", "True", "Good"}}},
		"the server throttling": {apierrors.NewTooManyRequests("busy", 1), []said{{"Ready", "True", "Good"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := &scripted{plan: Plan[string]{Actions: []string{"a"}}, status: ready(metav1.ConditionTrue, "Good")}
			s.act = func(string) (Result, error) { return Result{}, c.err }
			w := newPassWorld(t, s)
			desired := withRemark(w.Options, w.svc, s.Status(time.Time{}, w.svc, 0, nil), remark{err: c.err}, time.Unix(5, 0))
			var got []said
			for _, condition := range desired.Status.Conditions {
				got = append(got, said{condition.Type, string(condition.Status), condition.Reason})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if w.svc.Status.Conditions != nil {
				t.Error("the cached object was changed")
			}
			if out := w.run(t); Classify(out.err) != Classify(c.err) || len(w.client.requests) != 1 {
				t.Errorf("want the class kept and the status written, got %v and %v", out.err, w.client.requests)
			}
		})
	}
}

func TestAVerdictIsTheLastWordOnlyOnceItIsWritten(t *testing.T) {
	verdict := Terminal("InvalidSpec", "write a number")
	cases := map[string]*scripted{
		"of an action": {plan: Plan[string]{Actions: []string{"a"}}, act: func(string) (Result, error) { return Result{}, verdict }},
		"of observing": {observe: func() error { return verdict }},
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			w := newPassWorld(t, s)
			works := w.client.patch
			w.client.patch = func(string, types.PatchType, []byte, ...string) (*corev1.Service, error) {
				return nil, apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "svc", errors.New("moved"))
			}
			if out := w.run(t); Classify(out.err) != ClassConflict {
				t.Errorf("want the pass that writes it to come, got %v", out.err)
			}
			w.client.patch = works
			if out := w.run(t); Classify(out.err) != ClassTerminal {
				t.Errorf("want the verdict, got %v", out.err)
			}
			if diff := cmp.Diff([]string{"Warning InvalidSpec write a number"}, w.events()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatAFailureSaidGoesWithIt(t *testing.T) {
	w := newPassWorld(t, &scripted{status: ready(metav1.ConditionTrue, "Good")})
	said := func(kind, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason}
	}
	theirs := said("Theirs", "Kept")
	cases := map[string]struct{ stored, want []metav1.Condition }{
		"a verdict that is over": {
			[]metav1.Condition{said("Ready", "Good"), theirs, said("Stalled", "InvalidSpec"), said("SchemaSkew", "Undecodable")},
			[]metav1.Condition{said("Ready", "Good"), theirs},
		},
		"a verdict that is the reconciler's": {
			[]metav1.Condition{said("Ready", "NameConflict"), said("Stalled", "NameConflict")},
			[]metav1.Condition{said("Ready", "NameConflict"), said("Stalled", "NameConflict")},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			svc := w.svc.DeepCopy()
			svc.Status.Conditions = c.stored
			before := svc.DeepCopy()
			desired := withRemark(w.Options, svc, svc, remark{}, time.Unix(5, 0))
			if diff := cmp.Diff(c.want, desired.Status.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, svc); diff != "" {
				t.Errorf("the cached object was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPanicIsOneFailedPass(t *testing.T) {
	s := &scripted{plan: Plan[string]{Actions: []string{"a"}}}
	s.act = func(string) (Result, error) { panic("a nil map") }
	out := newPassWorld(t, s).run(t)
	if Classify(out.err) != ClassPanic || stackOf(out.err) == "" {
		t.Errorf("want a panic with its stack, got %v", out.err)
	}
}

func TestFinalizersAreSwappedOneByOne(t *testing.T) {
	cases := map[string]struct {
		has      []string
		deleting bool
		add      bool
		want     []string
		wantErr  bool
		wantGone bool
	}{
		"the first":                          {add: true, want: []string{`application/json-patch+json[] [{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers","value":null},{"op":"add","path":"/metadata/finalizers","value":["ours"]}]`}},
		"beside another":                     {has: []string{"theirs"}, add: true, want: []string{`application/json-patch+json[] [{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers","value":["theirs"]},{"op":"add","path":"/metadata/finalizers","value":["theirs","ours"]}]`}},
		"there already":                      {has: []string{"ours"}, add: true},
		"never while deleting":               {deleting: true, add: true, wantErr: true},
		"removing the last ends the object":  {has: []string{"ours"}, deleting: true, wantGone: true, want: []string{`application/json-patch+json[] [{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers","value":["ours"]},{"op":"remove","path":"/metadata/finalizers"}]`}},
		"removing leaves others' alone":      {has: []string{"a", "ours", "b"}, deleting: true, want: []string{`application/json-patch+json[] [{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers","value":["a","ours","b"]},{"op":"add","path":"/metadata/finalizers","value":["a","b"]}]`}},
		"removing takes duplicates with it":  {has: []string{"ours", "b", "ours"}, want: []string{`application/json-patch+json[] [{"op":"test","path":"/metadata/uid","value":"u"},{"op":"test","path":"/metadata/finalizers","value":["ours","b","ours"]},{"op":"add","path":"/metadata/finalizers","value":["b"]}]`}},
		"removing what is not there is done": {has: []string{"b"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newPassWorld(t, &scripted{})
			w.svc.Finalizers = c.has
			if c.deleting {
				w.svc.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			rec := &recorder{uid: w.svc.UID, version: "7", unchanged: func(metav1.Object) bool { return true }}
			change := w.Resource.RemoveFinalizer
			if c.add {
				change = w.Resource.AddFinalizer
			}
			if err := change(withRecorder(t.Context(), rec), w.svc, "ours"); (err != nil) != c.wantErr {
				t.Fatalf("error: want %t, got %v", c.wantErr, err)
			}
			if diff := cmp.Diff(c.want, w.client.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if rec.gone != c.wantGone {
				t.Errorf("gone: want %t, got %t", c.wantGone, rec.gone)
			}
			if len(c.want) > 0 && !c.wantGone && rec.version != "8" {
				t.Errorf("want the version carried forward, got %s", rec.version)
			}
		})
	}
}

func TestDeleteCarriesItsPreconditions(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "svc", errors.New("moved"))
	cases := map[string]struct {
		err          error
		wantConflict bool
		wantNote     noteKind
	}{
		"deleted":      {nil, false, noteGone},
		"gone already": {apierrors.NewNotFound(schema.GroupResource{}, "svc"), false, noteGone},
		"moved":        {conflict, true, noteMoved},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newPassWorld(t, &scripted{})
			w.client.delete = func(string, metav1.DeleteOptions) error { return c.err }
			rec := &recorder{}
			err := w.Resource.Delete(withRecorder(t.Context(), rec), w.svc)
			if IsConflict(err) != c.wantConflict || (err != nil) != c.wantConflict {
				t.Errorf("conflict: want %t, got %v", c.wantConflict, err)
			}
			if diff := cmp.Diff([]string{"delete svc uid=u version=7"}, w.client.requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if len(rec.notes) != 1 || rec.notes[0].kind != c.wantNote {
				t.Errorf("want a note of kind %d, got %+v", c.wantNote, rec.notes)
			}
		})
	}
}
