package conversation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/execution"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

// The errors an API server gives.
var (
	errTest      = errors.New("the backend is out")
	claims       = schema.GroupResource{Group: "extensions.agents.x-k8s.io", Resource: "sandboxclaims"}
	errForbidden = apierrors.NewForbidden(claims, "c1", errTest)
	errThrottled = apierrors.NewTooManyRequests("slow down", 3)
	errServer    = apierrors.NewInternalError(errTest)
	errInvalid   = apierrors.NewInvalid(schema.GroupKind{Kind: "SandboxClaim"}, "c1", nil)
	errConflict  = apierrors.NewConflict(claims, "c1", errTest)
)

func TestActOnFinalizers(t *testing.T) {
	cases := []struct {
		name   string
		action Action
		err    error
		want   []string
	}{
		{"ours is added", Action{Kind: AddFinalizer}, nil, []string{"add polychrome.dev/cleanup"}},
		{"ours is removed", Action{Kind: RemoveFinalizer}, nil, []string{"remove polychrome.dev/cleanup"}},
		{"a refused addition fails", Action{Kind: AddFinalizer}, errForbidden, []string{"add polychrome.dev/cleanup"}},
		{"a refused removal fails", Action{Kind: RemoveFinalizer}, errConflict, []string{"remove polychrome.dev/cleanup"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, off, 1)
			g.conversations.err = c.err
			_, err := g.Act(t.Context(), held(), c.action)
			if !errors.Is(err, c.err) {
				t.Errorf("want error %v, got %v", c.err, err)
			}
			if diff := cmp.Diff(c.want, g.conversations.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestActOnAnUnknownAction(t *testing.T) {
	if _, err := newRig(t, off, 1).Act(t.Context(), held(), Action{Kind: "Dance"}); err == nil {
		t.Error("want an error, got none")
	}
}

func TestEnsureUnit(t *testing.T) {
	g := newRig(t, on, 1)
	g.backend.made = execution.Made{Created: true, Generation: newGeneration}
	got, err := g.Act(t.Context(), held(), makeUnit)
	if err != nil {
		t.Fatal(err)
	}
	want := framework.Result{Learned: Learned{Made: execution.Made{Created: true, Generation: newGeneration}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	for _, failure := range []error{errForbidden, errThrottled, errServer, errConflict, errInvalid} {
		g.backend.ensureErr = failure
		if _, err := g.Act(t.Context(), held(), makeUnit); !errors.Is(err, failure) {
			t.Errorf("want error %v, got %v", failure, err)
		}
	}
}

func TestTeardownUnit(t *testing.T) {
	teardown := Action{Kind: TeardownUnit, Unit: refReady}
	lastChance := Action{Kind: TeardownUnit, Unit: refReady, LastChance: true}
	cases := []struct {
		name     string
		action   Action
		err      error
		wantErr  bool
		wantLeak bool
	}{
		{"a success is one", teardown, nil, false, false},
		{"a failure fails", teardown, errServer, true, false},
		{"a refusal fails", teardown, errForbidden, true, false},
		{"a success on the last chance leaks nothing", lastChance, nil, false, false},
		{"a failure on the last chance lets go", lastChance, errServer, false, true},
		{"a refusal on the last chance lets go", lastChance, errForbidden, false, true},
		{"an unreadable unit on the last chance lets go", lastChance, errTest, false, true},
		{"a conflict on the last chance does not count", lastChance, errConflict, true, false},
		{"a busy server on the last chance does not count", lastChance, errThrottled, true, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, off, 1)
			g.backend.tearErr = c.err
			got, err := g.Act(t.Context(), recorded(deletedFor(0)), c.action)
			if (err != nil) != c.wantErr {
				t.Errorf("want error %t, got %v", c.wantErr, err)
			}
			leaked := len(got.Events) == 1 && got.Events[0].Warning && got.Events[0].Reason == "ExecutionUnitLeaked"
			if leaked != c.wantLeak {
				t.Errorf("want a leak told %t, got %+v", c.wantLeak, got.Events)
			}
			if diff := cmp.Diff([]string{"teardown uid-claim 8"}, g.backend.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeleteConversation(t *testing.T) {
	cases := []struct {
		name     string
		err      error
		wantErr  bool
		wantWait time.Duration
	}{
		{"the version that was judged is deleted", nil, false, 0},
		{"a conflict is benign: it was probably resumed", errConflict, false, 5 * time.Second},
		{"anything else is not", errForbidden, true, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, on, 1)
			g.conversations.err = c.err
			got, err := g.Act(t.Context(), shut(closedAt(0)), Action{Kind: DeleteConversation})
			if (err != nil) != c.wantErr || got.Wait != c.wantWait {
				t.Errorf("want error %t and a wait of %s, got %v and %s", c.wantErr, c.wantWait, err, got.Wait)
			}
			if diff := cmp.Diff([]string{"delete uid-c1 42"}, g.conversations.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRollUnit(t *testing.T) {
	roll := Action{Kind: RollUnit, Unit: refReady}
	mend := Action{Kind: RollUnit, Unit: refReady, Drift: []string{"spec"}}
	busy := Action{Kind: RollUnit, Unit: refReady, Busy: true}
	deferral := framework.Result{Wait: 15 * time.Second, Learned: Learned{Deferred: true}}
	cases := []struct {
		name      string
		action    Action
		full      bool
		want      framework.Result
		wantCalls []string
	}{
		{"with a slot the unit is torn down once", roll, false, framework.Result{Wait: time.Second}, []string{"teardown uid-claim 8"}},
		{"without a slot nothing is torn down", roll, true, deferral, nil},
		{"without a slot drift is mended", mend, true, deferral, []string{"ensure"}},
		{"with a slot drift is not worth mending", mend, false, framework.Result{Wait: time.Second}, []string{"teardown uid-claim 8"}},
		{"while busy nothing is torn down", busy, false, deferral, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, on, 1)
			if c.full {
				g.slots.Reserve(healthy(named("other")), false)
			}
			got, err := g.Act(t.Context(), healthy(ofGeneration(oldGeneration)), c.action)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.wantCalls, g.backend.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRollUnitGivesItsSlotBackOnlyWhenNothingHappened(t *testing.T) {
	cases := []struct {
		name     string
		err      error
		wantBack bool
	}{
		{"a conflict did nothing", errConflict, true},
		{"a busy server did nothing", errThrottled, true},
		{"a refusal did nothing", errForbidden, true},
		{"an invalid request did nothing", errInvalid, true},
		{"a server error may have done something", errServer, false},
		{"a broken connection may have done something", context.DeadlineExceeded, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, on, 1)
			g.backend.tearErr = c.err
			if _, err := g.Act(t.Context(), healthy(ofGeneration(oldGeneration)), Action{Kind: RollUnit, Unit: refReady}); err == nil {
				t.Fatal("want an error, got none")
			}
			back := g.slots.Reserve(healthy(named("other")), false) == slots.Admitted
			if back != c.wantBack {
				t.Errorf("slot given back: want %t, got %t", c.wantBack, back)
			}
		})
	}
}

func TestRollUnitKeepsASlotThatAnEarlierAttemptMayHaveUsed(t *testing.T) {
	g := newRig(t, on, 1)
	conv, roll := healthy(ofGeneration(oldGeneration)), Action{Kind: RollUnit, Unit: refReady}
	for _, failure := range []error{errServer, errConflict} {
		g.backend.tearErr = failure
		if _, err := g.Act(t.Context(), conv, roll); err == nil {
			t.Fatal("want an error, got none")
		}
	}
	if g.slots.Reserve(healthy(named("other")), false) != slots.Deferred {
		t.Error("the slot was given away although the first teardown may have worked")
	}
}

func TestRollUnitDeferralReportsAFailedMending(t *testing.T) {
	g := newRig(t, on, 1)
	g.slots.Reserve(healthy(named("other")), false)
	g.backend.ensureErr = errForbidden
	_, err := g.Act(t.Context(), healthy(ofGeneration(oldGeneration)), Action{Kind: RollUnit, Drift: []string{"spec"}})
	if !errors.Is(err, errForbidden) {
		t.Errorf("want error %v, got %v", errForbidden, err)
	}
}

func TestABusyConversationIsRolledAfterTenMinutes(t *testing.T) {
	g := newRig(t, on, 1)
	conv, roll := healthy(ofGeneration(oldGeneration)), Action{Kind: RollUnit, Unit: refReady, Busy: true}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {5 * time.Minute, 0}, {5*time.Minute - time.Second, 0}, {time.Second, 1}} {
		g.clock = g.clock.Add(step.after)
		if _, err := g.Act(t.Context(), conv, roll); err != nil {
			t.Fatal(err)
		}
		if got := len(g.backend.calls); got != step.want {
			t.Errorf("at %s: want %d teardowns, got %d", g.clock, step.want, got)
		}
	}
}

func TestObserve(t *testing.T) {
	cases := []struct {
		name    string
		conv    *polychromev1alpha1.Conversation
		err     error
		want    execution.Unit
		wantErr bool
	}{
		{"the unit as the backend has it", healthy(), nil, readyUnit, false},
		{"an unreadable unit ends the pass", healthy(), errTest, execution.Unit{}, true},
		{"except while closed, where it does too", shut(), errTest, execution.Unit{}, true},
		{"while deleting it is carried on", healthy(deletedFor(0)), errTest, noUnit, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, off, 1)
			g.backend.unit, g.backend.observeErr = readyUnit, c.err
			got, err := g.Observe(t.Context(), c.conv)
			if (err != nil) != c.wantErr {
				t.Fatalf("want error %t, got %v", c.wantErr, err)
			}
			if diff := cmp.Diff(c.want, got.Unit); diff != "" {
				t.Errorf("unit (-want +got):\n%s", diff)
			}
			if carried := errors.Is(got.Unread, errTest); !c.wantErr && carried != (c.err != nil) {
				t.Errorf("want the error carried %t, got %v", c.err != nil, got.Unread)
			}
		})
	}
}

func named(name string) option {
	return func(c *polychromev1alpha1.Conversation) {
		c.Name, c.UID = name, types.UID("uid-"+name)
	}
}
