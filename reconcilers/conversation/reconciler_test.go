package conversation

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	agentsandboxv1beta1 "polychrome.dev/controller/apis/agentsandbox/v1beta1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// What the framework provides must fit what is asked for here.
var (
	_ Conversations = (*framework.Resource[*polychromev1alpha1.Conversation])(nil)
	_               = execution.Claims{
		V1alpha1: (*framework.Resource[*agentsandboxv1alpha1.SandboxClaim])(nil),
		V1beta1:  (*framework.Resource[*agentsandboxv1beta1.SandboxClaim])(nil),
	}
)

// oneClaim is a served API with at most one claim.
type oneClaim struct {
	claim    *agentsandboxv1alpha1.SandboxClaim
	compares int
	deletes  int
}

func (o *oneClaim) State() framework.State { return framework.Served }

func (o *oneClaim) Err() error { return nil }

func (o *oneClaim) Find(string, string) (*agentsandboxv1alpha1.SandboxClaim, bool, framework.State) {
	return o.claim, o.claim != nil, framework.Served
}

func (o *oneClaim) Look(owners.Owner, any) (framework.Child[*agentsandboxv1alpha1.SandboxClaim], error) {
	o.compares++
	return framework.Child[*agentsandboxv1alpha1.SandboxClaim]{}, nil
}

func (o *oneClaim) Apply(context.Context, owners.Owner, any) (*agentsandboxv1alpha1.SandboxClaim, bool, error) {
	return o.claim, true, nil
}

func (o *oneClaim) Delete(context.Context, *agentsandboxv1alpha1.SandboxClaim) error {
	o.deletes++
	return nil
}

func TestNewFillsInDefaults(t *testing.T) {
	r := New(Options{Conversations: &fakeConversations{}, Claims: execution.Claims{V1alpha1: &oneClaim{}}, RetentionSeconds: -7})
	want := rules{readyPoll: 5 * time.Minute}
	if diff := cmp.Diff(want, r.rules, cmp.AllowUnexported(rules{})); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	for i := range DefaultRollConcurrency + 1 {
		got, err := r.Act(t.Context(), healthy(named(string(rune('a'+i)))), Action{Kind: RollUnit, Unit: refReady})
		if err != nil {
			t.Fatal(err)
		}
		if deferred := got.Learned != nil; deferred != (i == DefaultRollConcurrency) {
			t.Errorf("roll %d: deferred %t", i, deferred)
		}
	}
}

func TestNewKeepsWhatIsGiven(t *testing.T) {
	r := New(Options{
		Conversations: &fakeConversations{}, Claims: execution.Claims{V1alpha1: &oneClaim{}},
		Generation: newGeneration, RetentionSeconds: 60,
	})
	if diff := cmp.Diff(on, r.rules, cmp.AllowUnexported(rules{})); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestNewCountsRollsFromTheCacheAndWakesTheWaiting(t *testing.T) {
	var woken []framework.Key
	conversations, claims := &fakeConversations{}, &oneClaim{}
	r := New(Options{
		Conversations: conversations, Claims: execution.Claims{V1alpha1: claims}, Generation: newGeneration, RollConcurrency: 1,
		Wake: func(keys ...framework.Key) { woken = append(woken, keys...) },
	})
	seen := func(conv *polychromev1alpha1.Conversation, deleted bool) {
		for _, handler := range conversations.handlers {
			handler(conv, deleted)
		}
	}
	other := healthy(named("other"), status(func(s *polychromev1alpha1.ConversationStatus) { s.RollingHarness = true }))
	seen(other, false)
	waits := healthy(ofGeneration(oldGeneration))
	seen(waits, false)
	if _, err := r.Act(t.Context(), waits, Action{Kind: RollUnit, Unit: refReady}); err != nil || claims.deletes != 0 {
		t.Fatalf("want the roll deferred, got %d teardowns and %v", claims.deletes, err)
	}
	seen(other, true)
	if diff := cmp.Diff([]framework.Key{{Namespace: "chat", Name: "c1"}}, woken); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}

func TestNewForgetsWhatIsGone(t *testing.T) {
	claims := &oneClaim{claim: &agentsandboxv1alpha1.SandboxClaim{}}
	claims.claim.Labels = map[string]string{polychromev1alpha1.ConversationUIDLabel: "uid-c1"}
	conversations := &fakeConversations{}
	r := New(Options{Conversations: conversations, Claims: execution.Claims{V1alpha1: claims}})
	for range 2 {
		if _, err := r.Observe(t.Context(), healthy()); err != nil {
			t.Fatal(err)
		}
	}
	conversations.handlers[0](healthy(), true)
	if _, err := r.Observe(t.Context(), healthy()); err != nil {
		t.Fatal(err)
	}
	if claims.compares != 2 {
		t.Errorf("want 2 compares, got %d", claims.compares)
	}
}

func TestActionsRenderForPeople(t *testing.T) {
	cases := map[string]Action{
		"AddFinalizer":         {Kind: AddFinalizer},
		"EnsureUnit c1":        makeUnit,
		"EnsureUnit c1 (spec)": {Kind: EnsureUnit, Unit: refReady, Drift: []string{"spec"}},
		"TeardownUnit c1":      {Kind: TeardownUnit, Unit: refReady, LastChance: true},
	}
	for want, action := range cases {
		if got := action.String(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}
