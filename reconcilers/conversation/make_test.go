package conversation

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/conditions"
	"polychrome.dev/controller/reconcilers/conversation/execution"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

// now is the time at which most tests look, in Unix seconds.
const now int64 = 1_800_000_000

const (
	oldGeneration = "2026.6.0"
	newGeneration = "2026.7.0"
)

type option func(*polychromev1alpha1.Conversation)

// bare is a conversation that nobody has looked at.
func bare(options ...option) *polychromev1alpha1.Conversation {
	conv := &polychromev1alpha1.Conversation{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "chat", Name: "c1", UID: "uid-c1", ResourceVersion: "42", Generation: 1,
		},
		Spec: polychromev1alpha1.ConversationSpec{Model: "fast-2", PrincipalRef: "someone", IdleTimeoutSeconds: 300},
	}
	for _, change := range options {
		change(conv)
	}
	return conv
}

// held is a conversation with our finalizer.
func held(options ...option) *polychromev1alpha1.Conversation {
	return bare(append([]option{func(c *polychromev1alpha1.Conversation) {
		c.Finalizers = []string{polychromev1alpha1.ConversationFinalizer}
	}}, options...)...)
}

// recorded is a held conversation whose unit is recorded.
func recorded(options ...option) *polychromev1alpha1.Conversation {
	return held(append([]option{status(func(s *polychromev1alpha1.ConversationStatus) { s.SandboxClaimName = "c1" })}, options...)...)
}

// healthy is a conversation that is settled as ready.
func healthy(options ...option) *polychromev1alpha1.Conversation {
	return recorded(append([]option{status(func(s *polychromev1alpha1.ConversationStatus) {
		s.ObservedGeneration = 1
		s.Phase, s.PodIP, s.HarnessReady = polychromev1alpha1.ConversationReady, "10.4.2.7", true
		s.Conditions = triadOf(true, false, false, polychromev1alpha1.ReasonHarnessReady)
	})}, options...)...)
}

// shut is a conversation that is closed and settled.
func shut(options ...option) *polychromev1alpha1.Conversation {
	return held(append([]option{status(func(s *polychromev1alpha1.ConversationStatus) {
		s.ObservedGeneration = 1
		s.Closed, s.Phase = true, polychromev1alpha1.ConversationClosing
		s.Conditions = triadOf(false, false, false, polychromev1alpha1.ReasonClosed)
	})}, options...)...)
}

func status(change func(*polychromev1alpha1.ConversationStatus)) option {
	return func(c *polychromev1alpha1.Conversation) { change(&c.Status) }
}

func closedAt(at int64) option {
	return status(func(s *polychromev1alpha1.ConversationStatus) { s.ClosedAt = &at })
}

func activeAt(at int64) option {
	return status(func(s *polychromev1alpha1.ConversationStatus) { s.LastActivityUnix = &at })
}

func ofGeneration(generation string) option {
	return status(func(s *polychromev1alpha1.ConversationStatus) { s.HarnessImageGeneration = generation })
}

// lost is a count of lost units, in a window that began some seconds ago and
// had its last loss some seconds ago.
func lost(count int32, beganAgo, lastAgo int64) *polychromev1alpha1.UnitRecreations {
	return &polychromev1alpha1.UnitRecreations{Count: count, WindowStart: now - beganAgo, LastAt: now - lastAgo}
}

func losing(count int32, beganAgo, lastAgo int64) option {
	return status(func(s *polychromev1alpha1.ConversationStatus) { s.UnitRecreations = lost(count, beganAgo, lastAgo) })
}

// rollingFor is a conversation whose roll began some seconds ago.
func rollingFor(seconds int64) option {
	return status(func(s *polychromev1alpha1.ConversationStatus) {
		s.RollingHarness, s.RollStartedAt = true, new(now-seconds)
	})
}

func saying(reason polychromev1alpha1.Reason) option {
	return status(func(s *polychromev1alpha1.ConversationStatus) {
		s.Conditions = triadOf(false, true, true, reason)
	})
}

func busyFor(seconds int64) option {
	return annotated(polychromev1alpha1.BusyUntilAnnotation, time.Unix(now+seconds, 0).UTC().Format(time.RFC3339))
}

func annotated(key, value string) option {
	return func(c *polychromev1alpha1.Conversation) { c.Annotations = map[string]string{key: value} }
}

func deletedFor(seconds int64) option {
	return func(c *polychromev1alpha1.Conversation) {
		at := metav1.NewTime(time.Unix(now-seconds, 0))
		c.DeletionTimestamp = &at
	}
}

// aged is when conditions made by these tests were set.
var aged = metav1.NewTime(time.Unix(now-3600, 0))

func triadOf(ready, progressing, degraded bool, reason polychromev1alpha1.Reason) []metav1.Condition {
	says := map[polychromev1alpha1.ConditionType]bool{
		polychromev1alpha1.ConditionReady: ready, polychromev1alpha1.ConditionProgressing: progressing, polychromev1alpha1.ConditionDegraded: degraded,
	}
	var list []metav1.Condition
	for _, kind := range []polychromev1alpha1.ConditionType{polychromev1alpha1.ConditionReady, polychromev1alpha1.ConditionProgressing, polychromev1alpha1.ConditionDegraded} {
		list = append(list, metav1.Condition{
			Type: string(kind), Status: conditions.Status(says[kind]), Reason: string(reason),
			Message: "as it was", LastTransitionTime: aged, ObservedGeneration: 1,
		})
	}
	return list
}

// The units that most tests meet.
var (
	noUnit      = execution.Unit{Name: "c1"}
	noBackend   = execution.Unit{Name: "c1", Unserved: true}
	othersUnit  = execution.Unit{Name: "c1", Standing: execution.Foreign}
	bootingUnit = execution.Unit{Name: "c1", Standing: execution.Own, UID: "uid-claim", Version: "7", CreatedAt: now - 10}
	readyUnit   = execution.Unit{
		Name: "c1", Standing: execution.Own, UID: "uid-claim", Version: "8", CreatedAt: now - 3600,
		Ready: true, Address: "10.4.2.7",
	}
	goingUnit = execution.Unit{
		Name: "c1", Standing: execution.Own, UID: "uid-claim", Version: "9", CreatedAt: now - 3600,
		Ready: true, Address: "10.4.2.7", Terminating: true, HeldBy: []string{"example.com/hold", "example.com/drain"},
	}
)

// haltedRolls is how rolls stand when too many have failed.
var haltedRolls = slots.Standing{Failed: 3, Halted: true}

func containsAll(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// endedUnit is one whose pod has failed.
var endedUnit = with(bootingUnit, func(u *execution.Unit) { u.EndedBy, u.EndedText = "PodFailed", "exit code 1" })

func with(u execution.Unit, change func(*execution.Unit)) execution.Unit {
	change(&u)
	return u
}

// judged is the verdict of a pass of a program that rolls nothing.
func judged(conv *polychromev1alpha1.Conversation, u execution.Unit, chosen row, o outcome) verdict {
	want, _ := off.desired(now, conv, u, chosen, o)
	return off.judge(scene{outcome: o, now: now, conv: conv, world: World{Unit: u}, chosen: chosen, want: want})
}

func drifted(u execution.Unit) execution.Unit {
	return with(u, func(u *execution.Unit) { u.Drift = []string{"spec.sandboxTemplateRef.name"} })
}

func made(u execution.Unit, generation string) execution.Unit {
	return with(u, func(u *execution.Unit) { u.Generation = generation })
}

// fakeBackend says and does what it is told, and remembers what was asked.
type fakeBackend struct {
	unit       execution.Unit
	observeErr error
	made       execution.Made
	ensureErr  error
	tearErr    error
	calls      []string
	onTeardown func(*polychromev1alpha1.Conversation)
}

func (b *fakeBackend) Observe(*polychromev1alpha1.Conversation) (execution.Unit, error) {
	return b.unit, b.observeErr
}

func (b *fakeBackend) Ensure(context.Context, *polychromev1alpha1.Conversation) (execution.Made, error) {
	b.calls = append(b.calls, "ensure")
	return b.made, b.ensureErr
}

func (b *fakeBackend) Teardown(_ context.Context, conv *polychromev1alpha1.Conversation, ref execution.Ref) error {
	b.calls = append(b.calls, "teardown "+string(ref.UID)+" "+ref.Version)
	if b.tearErr == nil && b.onTeardown != nil {
		b.onTeardown(conv)
	}
	return b.tearErr
}

func (b *fakeBackend) Kind() string { return "fake" }

func (b *fakeBackend) ReadyPollInterval() time.Duration { return 5 * time.Minute }

// fakeConversations remembers writes to conversations.
type fakeConversations struct {
	err      error
	calls    []string
	handlers []func(*polychromev1alpha1.Conversation, bool)
}

func (f *fakeConversations) OnChange(handler func(*polychromev1alpha1.Conversation, bool)) {
	f.handlers = append(f.handlers, handler)
}

func (f *fakeConversations) AddFinalizer(_ context.Context, _ *polychromev1alpha1.Conversation, finalizer string) error {
	f.calls = append(f.calls, "add "+finalizer)
	return f.err
}

func (f *fakeConversations) RemoveFinalizer(_ context.Context, _ *polychromev1alpha1.Conversation, finalizer string) error {
	f.calls = append(f.calls, "remove "+finalizer)
	return f.err
}

func (f *fakeConversations) Delete(_ context.Context, conv *polychromev1alpha1.Conversation) error {
	f.calls = append(f.calls, "delete "+string(conv.UID)+" "+conv.ResourceVersion)
	return f.err
}

// on makes rules with the new generation desired and a retention of a minute.
var on = rules{generation: newGeneration, retention: 60, readyPoll: 5 * time.Minute}

// off makes rules with everything switched off.
var off = rules{readyPoll: 5 * time.Minute}

type rig struct {
	*Reconciler
	conversations *fakeConversations
	backend       *fakeBackend
	clock         time.Time
}

func newRig(t *testing.T, r rules, limit int) *rig {
	t.Helper()
	g := &rig{conversations: &fakeConversations{}, backend: &fakeBackend{}, clock: time.Unix(now, 0)}
	g.Reconciler = &Reconciler{
		rules: r, conversations: g.conversations, backend: g.backend,
		slots: slots.New(slots.Options{Limit: limit, Generation: r.generation, Now: func() time.Time { return g.clock }}),
		now:   func() time.Time { return g.clock },
		log:   slog.New(slog.DiscardHandler),
	}
	return g
}

func (p rules) reconciler() *Reconciler { return &Reconciler{rules: p} }
