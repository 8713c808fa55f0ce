package execution

import (
	"context"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

const (
	template   = "polychrome-harness-default"
	generation = "2026.7.0"
	warmPool   = "polychrome-harness-warm"
)

func conversation(options ...func(*polychromev1alpha1.Conversation)) *polychromev1alpha1.Conversation {
	conv := &polychromev1alpha1.Conversation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "chat", Name: "c1", UID: "uid-c1", Generation: 1},
		Spec:       polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 300},
	}
	for _, change := range options {
		change(conv)
	}
	return conv
}

// ownClaim is the claim of conversation().
func ownClaim(options ...func(*agentsandboxv1alpha1.SandboxClaim)) *agentsandboxv1alpha1.SandboxClaim {
	yes := true
	claim := &agentsandboxv1alpha1.SandboxClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "chat", Name: "c1", UID: "uid-claim", ResourceVersion: "7",
			CreationTimestamp: metav1.NewTime(time.Unix(1000, 0)),
			Labels:            map[string]string{polychromev1alpha1.ConversationUIDLabel: "uid-c1"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "polychrome.dev/v1alpha1", Kind: "Conversation", Name: "c1", UID: "uid-c1", Controller: &yes,
			}},
		},
	}
	for _, change := range options {
		change(claim)
	}
	return claim
}

func unreferenced(c *agentsandboxv1alpha1.SandboxClaim) { c.OwnerReferences = nil }

func unlabelled(c *agentsandboxv1alpha1.SandboxClaim) { c.Labels = nil }

func terminating(c *agentsandboxv1alpha1.SandboxClaim) {
	c.DeletionTimestamp = &metav1.Time{Time: time.Unix(2000, 0)}
	c.Finalizers = []string{"example.com/hold"}
}

func addressed(ips ...string) func(*agentsandboxv1alpha1.SandboxClaim) {
	return func(c *agentsandboxv1alpha1.SandboxClaim) { c.Status.Sandbox.PodIPs = ips }
}

func saying(kind string, status metav1.ConditionStatus, reason string) func(*agentsandboxv1alpha1.SandboxClaim) {
	return func(c *agentsandboxv1alpha1.SandboxClaim) {
		c.Status.Conditions = append(c.Status.Conditions,
			metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "says " + reason})
	}
}

func madeWith(generation string) func(*agentsandboxv1alpha1.SandboxClaim) {
	return func(c *agentsandboxv1alpha1.SandboxClaim) {
		c.Annotations = map[string]string{polychromev1alpha1.HarnessImageGenerationAnnotation: generation}
	}
}

// fakeClaims holds one claim and remembers what was asked of it.
type fakeClaims struct {
	state    framework.State
	err      error
	claim    *agentsandboxv1alpha1.SandboxClaim
	paths    []string
	writeErr error
	compared int
	applied  []any
	deleted  []*agentsandboxv1alpha1.SandboxClaim
}

func (f *fakeClaims) State() framework.State { return f.state }

func (f *fakeClaims) Err() error { return f.err }

func (f *fakeClaims) Find(namespace, name string) (*agentsandboxv1alpha1.SandboxClaim, bool, framework.State) {
	if f.claim == nil || f.claim.Namespace != namespace || f.claim.Name != name {
		return nil, false, f.state
	}
	return f.claim, true, f.state
}

func (f *fakeClaims) Look(owners.Owner, any) (framework.Child[*agentsandboxv1alpha1.SandboxClaim], error) {
	f.compared++
	return framework.Child[*agentsandboxv1alpha1.SandboxClaim]{Drift: f.paths}, f.err
}

func (f *fakeClaims) Apply(_ context.Context, _ owners.Owner, config any) (*agentsandboxv1alpha1.SandboxClaim, bool, error) {
	f.applied = append(f.applied, config)
	return f.claim, true, f.writeErr
}

func (f *fakeClaims) Delete(_ context.Context, claim *agentsandboxv1alpha1.SandboxClaim) error {
	f.deleted = append(f.deleted, claim)
	return f.writeErr
}

func backendOn(f *fakeClaims) *SandboxClaims {
	return NewSandboxClaims(SandboxClaimOptions{
		Claims: Claims{V1alpha1: f}, Template: template, WarmPool: warmPool, Generation: generation, Log: slog.New(slog.DiscardHandler),
	})
}
