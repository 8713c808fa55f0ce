package execution

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	applyagentsandbox "polychrome.dev/controller/generated/applyconfiguration/agentsandbox/v1alpha1"
)

var errTest = errors.New("out of order")

func TestObserve(t *testing.T) {
	recordedAs := func(name string) *polychromev1alpha1.Conversation {
		return conversation(func(c *polychromev1alpha1.Conversation) { c.Status.SandboxClaimName = name })
	}
	other := ownClaim(func(c *agentsandboxv1alpha1.SandboxClaim) { c.Name = "other" })
	unit := Unit{Name: "c1", Standing: Own, UID: "uid-claim", Version: "7", CreatedAt: 1000}
	drifted, renamed := unit, unit
	drifted.Drift, renamed.Name = []string{"spec"}, "other"
	cases := []struct {
		name    string
		claims  fakeClaims
		conv    *polychromev1alpha1.Conversation
		want    Unit
		wantErr error
	}{
		{"absent", fakeClaims{state: framework.Served}, conversation(), Unit{Name: "c1"}, nil},
		{"present", fakeClaims{state: framework.Served, claim: ownClaim()}, conversation(), unit, nil},
		{"drifted", fakeClaims{state: framework.Served, claim: ownClaim(), paths: []string{"spec"}}, conversation(), drifted, nil},
		{"foreign claims are not compared", fakeClaims{state: framework.Served, claim: ownClaim(unreferenced, unlabelled), paths: []string{"spec"}},
			conversation(), Unit{Name: "c1", Standing: Foreign}, nil},
		{"going claims are not compared", fakeClaims{state: framework.Served, claim: ownClaim(terminating), paths: []string{"spec"}},
			conversation(), Unit{Name: "c1", Standing: Own, UID: "uid-claim", Version: "7", CreatedAt: 1000, Terminating: true, HeldBy: []string{"example.com/hold"}}, nil},
		{"the recorded name is the one looked at", fakeClaims{state: framework.Served, claim: other}, recordedAs("other"), renamed, nil},
		{"and no other", fakeClaims{state: framework.Served, claim: ownClaim()}, recordedAs("other"), Unit{Name: "other"}, nil},
		{"404 is absence of the backend", fakeClaims{state: framework.Absent, claim: ownClaim()}, conversation(), Unit{Name: "c1", Unserved: true}, nil},
		{"403 or an outage is an error, not absence", fakeClaims{state: framework.Unknown, err: errTest}, conversation(), Unit{}, errTest},
		{"a cache that is not filled is an error too", fakeClaims{state: framework.Unknown}, conversation(), Unit{}, errUnread},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := backendOn(&c.claims).Observe(c.conv)
			if !errors.Is(err, c.wantErr) {
				t.Fatalf("want error %v, got %v", c.wantErr, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("unit (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObserveComparesOnlyWhatMoved(t *testing.T) {
	f := &fakeClaims{state: framework.Served, claim: ownClaim()}
	b, conv := backendOn(f), conversation()
	look := func(want int, why string) {
		t.Helper()
		if _, err := b.Observe(conv); err != nil {
			t.Fatal(err)
		}
		if f.compared != want {
			t.Errorf("%s: want %d compares, got %d", why, want, f.compared)
		}
	}
	look(1, "the first look")
	look(1, "nothing moved")
	conv = conversation(func(c *polychromev1alpha1.Conversation) { c.Generation = 2 })
	look(2, "the spec moved")
	f.claim = ownClaim(func(c *agentsandboxv1alpha1.SandboxClaim) { c.ResourceVersion = "8" })
	look(3, "the claim moved")
	f.claim = ownClaim(func(c *agentsandboxv1alpha1.SandboxClaim) { c.ResourceVersion, c.UID = "8", "uid-another" })
	look(4, "another claim came")
	b.Forget(conv.UID)
	look(5, "the memory was dropped")
	conv = conversation(func(c *polychromev1alpha1.Conversation) { c.Generation, c.Status.Closed = 3, true })
	look(5, "a closed conversation is not compared")
}

func TestEnsure(t *testing.T) {
	cases := []struct {
		name           string
		claim          *agentsandboxv1alpha1.SandboxClaim
		want           Made
		wantAnnotation string
	}{
		{"a claim that is made gets the generation desired", nil, Made{Created: true, Generation: generation}, generation},
		{"a claim that is there keeps the one it was made with", ownClaim(madeWith("old")), Made{Generation: "old"}, "old"},
		{"a claim that was found without one stays without", ownClaim(), Made{}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeClaims{state: framework.Served, claim: c.claim}
			got, err := backendOn(f).Ensure(t.Context(), conversation())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("made (-want +got):\n%s", diff)
			}
			if len(f.applied) != 1 {
				t.Fatalf("want one apply, got %d", len(f.applied))
			}
			config := f.applied[0].(*applyagentsandbox.SandboxClaimApplyConfiguration)
			if carried := config.Annotations[polychromev1alpha1.HarnessImageGenerationAnnotation]; carried != c.wantAnnotation {
				t.Errorf("want annotation %q, got %q", c.wantAnnotation, carried)
			}
		})
	}
}

func TestEnsureFails(t *testing.T) {
	f := &fakeClaims{state: framework.Served, writeErr: errTest}
	if made, err := backendOn(f).Ensure(t.Context(), conversation()); !errors.Is(err, errTest) || made != (Made{}) {
		t.Errorf("want error %v and nothing made, got %v and %+v", errTest, err, made)
	}
}

func TestTeardownIsPinnedToWhatWasJudged(t *testing.T) {
	f := &fakeClaims{state: framework.Served, claim: ownClaim(func(c *agentsandboxv1alpha1.SandboxClaim) { c.ResourceVersion = "99" })}
	ref := Ref{Name: "c1", UID: "uid-claim", Version: "7"}
	if err := backendOn(f).Teardown(t.Context(), conversation(), ref); err != nil {
		t.Fatal(err)
	}
	want := []*agentsandboxv1alpha1.SandboxClaim{{ObjectMeta: metav1.ObjectMeta{
		Namespace: "chat", Name: "c1", UID: "uid-claim", ResourceVersion: "7",
	}}}
	if diff := cmp.Diff(want, f.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

func TestTeardown(t *testing.T) {
	ref := Ref{Name: "c1", UID: "uid-claim", Version: "7"}
	cases := []struct {
		name        string
		claims      fakeClaims
		ref         Ref
		wantErr     error
		wantDeletes int
	}{
		{"without a backend there is nothing to do", fakeClaims{state: framework.Absent}, ref, nil, 0},
		{"a unit that could not be read is not torn down", fakeClaims{state: framework.Unknown, err: errTest}, Ref{Name: "c1"}, errTest, 0},
		{"not even when it can be read by now", fakeClaims{state: framework.Served}, Ref{Name: "c1"}, errUnread, 0},
		{"what was judged is torn down although the cache is out of order", fakeClaims{state: framework.Unknown, err: errTest}, ref, nil, 1},
		{"a refusal is an error", fakeClaims{state: framework.Served, writeErr: errTest}, ref, errTest, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := backendOn(&c.claims).Teardown(t.Context(), conversation(), c.ref); !errors.Is(err, c.wantErr) {
				t.Errorf("want error %v, got %v", c.wantErr, err)
			}
			if got := len(c.claims.deleted); got != c.wantDeletes {
				t.Errorf("want %d deletes, got %d", c.wantDeletes, got)
			}
		})
	}
}

func TestTheBackendsWords(t *testing.T) {
	b := backendOn(&fakeClaims{})
	if b.Kind() != "sandboxclaim" || b.ReadyPollInterval() != 5*time.Minute || TightPoll != 30*time.Second {
		t.Errorf("want sandboxclaim, 5m and 30s, got %s, %s and %s", b.Kind(), b.ReadyPollInterval(), TightPoll)
	}
}

func TestMapClaim(t *testing.T) {
	key := func(name string) framework.Key { return framework.Key{Namespace: "chat", Name: name} }
	owned := func(name, apiVersion, kind string) func(*agentsandboxv1alpha1.SandboxClaim) {
		return func(c *agentsandboxv1alpha1.SandboxClaim) {
			c.OwnerReferences[0].Name, c.OwnerReferences[0].APIVersion, c.OwnerReferences[0].Kind = name, apiVersion, kind
		}
	}
	cases := []struct {
		name  string
		claim *agentsandboxv1alpha1.SandboxClaim
		want  []framework.Key
	}{
		{"its owner of the same name, once", ownClaim(), []framework.Key{key("c1")}},
		{"its name and its owner", ownClaim(owned("c2", "polychrome.dev/v1alpha1", "Conversation")), []framework.Key{key("c1"), key("c2")}},
		{"an owner of another version", ownClaim(owned("c2", "polychrome.dev/v2", "Conversation")), []framework.Key{key("c1"), key("c2")}},
		{"an owner of another group", ownClaim(owned("c2", "example.com/v1", "Conversation")), []framework.Key{key("c1")}},
		{"an owner of another kind", ownClaim(owned("c2", "polychrome.dev/v1alpha1", "Agent")), []framework.Key{key("c1")}},
		{"without an owner its name alone", ownClaim(unreferenced), []framework.Key{key("c1")}},
		{"an owner whose version is no version", ownClaim(owned("c2", "a/b/c", "Conversation")), []framework.Key{key("c1")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, MapClaim(c.claim)); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}
