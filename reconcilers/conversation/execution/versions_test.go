package execution

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1beta1 "polychrome.dev/controller/apis/agentsandbox/v1beta1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
	applyv1beta1 "polychrome.dev/controller/generated/applyconfiguration/agentsandbox/v1beta1"
)

// newerClaims is an API of v1beta1 with one claim at most.
type newerClaims struct {
	state   framework.State
	err     error
	claim   *agentsandboxv1beta1.SandboxClaim
	applied []any
	deleted int
}

func (f *newerClaims) State() framework.State { return f.state }

func (f *newerClaims) Err() error { return f.err }

func (f *newerClaims) Find(string, string) (*agentsandboxv1beta1.SandboxClaim, bool, framework.State) {
	return f.claim, f.claim != nil && f.state == framework.Served, f.state
}

func (f *newerClaims) Look(owners.Owner, any) (framework.Child[*agentsandboxv1beta1.SandboxClaim], error) {
	return framework.Child[*agentsandboxv1beta1.SandboxClaim]{}, nil
}

func (f *newerClaims) Apply(_ context.Context, _ owners.Owner, config any) (*agentsandboxv1beta1.SandboxClaim, bool, error) {
	f.applied = append(f.applied, config)
	return f.claim, true, nil
}

func (f *newerClaims) Delete(context.Context, *agentsandboxv1beta1.SandboxClaim) error {
	f.deleted++
	return nil
}

// somePools are the warm pools that exist.
type somePools map[string]bool

func (p somePools) Find(_, name string) (*metav1.PartialObjectMetadata, bool, framework.State) {
	return nil, p[name], framework.Served
}

func TestWhichVersionIsUsed(t *testing.T) {
	const absent, served, unknown = framework.Absent, framework.Served, framework.Unknown
	cases := []struct {
		name                         string
		newer, older                 framework.State
		wantUnserved                 bool
		wantErr                      error
		wantNewer, wantOlder         int
		wantNewerTorn, wantOlderTorn int
		wantVersion                  string
	}{
		{name: "the newest that is served", newer: served, older: served, wantNewer: 1, wantNewerTorn: 1, wantVersion: V1beta1},
		{name: "the older while the newer is absent", newer: absent, older: served, wantOlder: 1, wantOlderTorn: 1, wantVersion: V1alpha1},
		{name: "the newer alone", newer: served, older: absent, wantNewer: 1, wantNewerTorn: 1, wantVersion: V1beta1},
		{name: "the newer, to which the older has yielded", newer: served, older: unknown, wantNewer: 1, wantNewerTorn: 1, wantVersion: V1beta1},
		{name: "the older until the newer is there", newer: unknown, older: served, wantOlder: 1, wantOlderTorn: 1, wantVersion: V1alpha1},
		{name: "none: that is absence", newer: absent, older: absent, wantUnserved: true, wantVersion: "none"},
		{name: "one that is not known is no absence", newer: unknown, older: absent, wantErr: errTest, wantNewerTorn: 1},
		{name: "nor are two", newer: unknown, older: unknown, wantErr: errTest, wantNewerTorn: 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			newer, older := &newerClaims{state: c.newer, err: errTest}, &fakeClaims{state: c.older, err: errTest}
			claims := Claims{V1beta1: newer, V1alpha1: older, WarmPools: somePools{}}
			b := NewSandboxClaims(SandboxClaimOptions{Claims: claims, Template: template, WarmPool: warmPool, Log: slog.New(slog.DiscardHandler)})
			u, err := b.Observe(conversation())
			if !errors.Is(err, c.wantErr) || u.Unserved != c.wantUnserved {
				t.Errorf("want unserved %t and error %v, got %t and %v", c.wantUnserved, c.wantErr, u.Unserved, err)
			}
			if _, err := b.Ensure(t.Context(), conversation()); (err == nil) != (c.wantNewer+c.wantOlder > 0) {
				t.Errorf("ensuring: %v", err)
			}
			if len(newer.applied) != c.wantNewer || len(older.applied) != c.wantOlder {
				t.Errorf("want applied %d and %d, got %d and %d", c.wantNewer, c.wantOlder, len(newer.applied), len(older.applied))
			}
			if err := b.Teardown(t.Context(), conversation(), Ref{Name: "c1", UID: "uid-claim", Version: "7"}); err != nil {
				t.Errorf("tearing down: %v", err)
			}
			if newer.deleted != c.wantNewerTorn || len(older.deleted) != c.wantOlderTorn {
				t.Errorf("want torn down %d and %d, got %d and %d", c.wantNewerTorn, c.wantOlderTorn, newer.deleted, len(older.deleted))
			}
			if version, why := claims.inUse(); version != c.wantVersion || (version == "") != (why == "") {
				t.Errorf("want version %q in use, got %q, because %q", c.wantVersion, version, why)
			}
		})
	}
}

func TestAForcedVersionIsTheOnlyOneLookedAt(t *testing.T) {
	older := &fakeClaims{state: framework.Served, claim: ownClaim()}
	claims := Claims{V1alpha1: older}
	if version, why := claims.inUse(); version != V1alpha1 || why != "no other one may be used" {
		t.Errorf("want the one version, got %s because %s", version, why)
	}
	newer := Claims{V1beta1: &newerClaims{state: framework.Absent}}
	b := NewSandboxClaims(SandboxClaimOptions{Claims: newer, Template: template, WarmPool: warmPool, Log: slog.New(slog.DiscardHandler)})
	if u, err := b.Observe(conversation()); err != nil || !u.Unserved {
		t.Errorf("want the backend absent, got %+v and %v", u, err)
	}
}

func TestTheClaimOfV1beta1NamesAPool(t *testing.T) {
	f := &newerClaims{state: framework.Served}
	b := NewSandboxClaims(SandboxClaimOptions{
		Claims:   Claims{V1beta1: f, WarmPools: somePools{"shadow-pool-" + template: true}},
		Template: template, WarmPool: warmPool, Generation: generation, Log: slog.New(slog.DiscardHandler),
	})
	if _, err := b.Ensure(t.Context(), conversation()); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(f.applied[0].(*applyv1beta1.SandboxClaimApplyConfiguration))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := built(t, conversation(), "c1", generation)
	want["apiVersion"] = "extensions.agents.x-k8s.io/v1beta1"
	spec := want["spec"].(map[string]any)
	delete(spec, "sandboxTemplateRef")
	spec["warmPoolRef"] = map[string]any{"name": "shadow-pool-" + template}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claim (-want +got):\n%s", diff)
	}
}

func TestWhichVersionWasChosenIsSaidOnce(t *testing.T) {
	newer, older := &newerClaims{state: framework.Absent}, &fakeClaims{state: framework.Served}
	var said []string
	announce := Claims{V1beta1: newer, V1alpha1: older}.Announce(slog.New(&saidTo{&said}))
	for _, state := range []framework.State{framework.Absent, framework.Absent, framework.Unknown, framework.Served, framework.Served, framework.Absent} {
		newer.state = state
		announce()
	}
	want := []string{V1alpha1, V1beta1, V1alpha1}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

// saidTo keeps the version of each line.
type saidTo struct{ said *[]string }

func (s *saidTo) Enabled(context.Context, slog.Level) bool { return true }

func (s *saidTo) WithAttrs([]slog.Attr) slog.Handler { return s }

func (s *saidTo) WithGroup(string) slog.Handler { return s }

func (s *saidTo) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "version" {
			*s.said = append(*s.said, a.Value.String())
		}
		return true
	})
	return nil
}
