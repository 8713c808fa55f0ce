package execution

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

// claimPoll is for the day on which the watch does not tell of a change.
const claimPoll = 5 * time.Minute

// errUnread stands in where no cause is known.
var errUnread = errors.New("not known yet")

// ClaimReader reads SandboxClaims from a cache.
type ClaimReader interface {
	State() framework.State
	Err() error
	Find(namespace, name string) (claim *agentsandboxv1alpha1.SandboxClaim, found bool, state framework.State)
	Look(owner owners.Owner, config any) (framework.Child[*agentsandboxv1alpha1.SandboxClaim], error)
}

// ClaimWriter writes SandboxClaims.
type ClaimWriter interface {
	Apply(ctx context.Context, owner owners.Owner, config any) (*agentsandboxv1alpha1.SandboxClaim, bool, error)
	Delete(ctx context.Context, claim *agentsandboxv1alpha1.SandboxClaim) error
}

// Claims is what the reconciler asks of SandboxClaims; a framework.Resource
// provides it.
type Claims interface {
	ClaimReader
	ClaimWriter
}

// SandboxClaims provides each conversation with one SandboxClaim.
type SandboxClaims struct {
	claims     Claims
	template   string
	generation string
	log        *slog.Logger
	// compared remembers the last compare of each conversation's claim, so
	// that a steady conversation costs no configuration per pass.
	compared sync.Map // types.UID of the conversation -> comparison
}

var _ Backend = (*SandboxClaims)(nil)

// comparison is what a compare said.
type comparison struct {
	basis basis
	paths []string
}

// basis is all that a compare depends on and that can change.
type basis struct {
	generation int64
	claim      types.UID
	version    string
}

// NewSandboxClaims makes a backend whose claims come from a template and carry
// a generation, if it is not empty.
func NewSandboxClaims(claims Claims, template, generation string, log *slog.Logger) *SandboxClaims {
	return &SandboxClaims{claims: claims, template: template, generation: generation, log: log}
}

// Kind is sandboxclaim.
func (b *SandboxClaims) Kind() string { return "sandboxclaim" }

// ReadyPollInterval is long: the claims are watched.
func (b *SandboxClaims) ReadyPollInterval() time.Duration { return claimPoll }

// Forget drops what is remembered of a conversation that is gone.
func (b *SandboxClaims) Forget(conv types.UID) { b.compared.Delete(conv) }

// Observe reads the claim. Only an open conversation needs to know whether
// it has drifted.
func (b *SandboxClaims) Observe(conv *polychromev1alpha1.Conversation) (Unit, error) {
	name := NameOf(conv)
	claim, found, state := b.claims.Find(conv.Namespace, name)
	switch {
	case state == framework.Absent:
		return Unit{Name: name, Unserved: true}, nil
	case state != framework.Served:
		return Unit{}, b.unread(name)
	case !found:
		return Unit{Name: name}, nil
	}
	u := readClaim(ownerOf(conv), claim)
	if !u.Live() || conv.Status.Closed || conv.DeletionTimestamp != nil {
		return u, nil
	}
	var err error
	u.Drift, err = b.drift(conv, u)
	return u, err
}

// drift names the paths in which the claim is not what it should be.
func (b *SandboxClaims) drift(conv *polychromev1alpha1.Conversation, u Unit) ([]string, error) {
	on := basis{generation: conv.Generation, claim: u.UID, version: u.Version}
	if known, ok := b.compared.Load(conv.UID); ok && known.(comparison).basis == on {
		return known.(comparison).paths, nil
	}
	claim, err := b.claims.Look(ownerOf(conv), claimFor(conv, u.Name, b.template, u.Generation))
	if err != nil {
		return nil, fmt.Errorf("comparing SandboxClaim %s: %w", u.Name, err)
	}
	b.compared.Store(conv.UID, comparison{basis: on, paths: claim.Drift})
	return claim.Drift, nil
}

// Ensure applies the claim. The one that exists keeps the generation it was
// made with.
func (b *SandboxClaims) Ensure(ctx context.Context, conv *polychromev1alpha1.Conversation) (Made, error) {
	name, generation := NameOf(conv), b.generation
	claim, found, _ := b.claims.Find(conv.Namespace, name)
	if found {
		generation = claim.Annotations[polychromev1alpha1.HarnessImageGenerationAnnotation]
	} else {
		b.log.InfoContext(ctx, "creating the execution unit", "conversation", conv.Name, "namespace", conv.Namespace,
			"backend", b.Kind(), "unit", name, "template", b.template, "generation", generation,
			"parent", conv.Spec.ParentConversationID)
	}
	if _, _, err := b.claims.Apply(ctx, ownerOf(conv), claimFor(conv, name, b.template, generation)); err != nil {
		return Made{}, fmt.Errorf("ensuring the execution unit of conversation %s: %w", conv.Name, err)
	}
	return Made{Created: !found, Generation: generation}, nil
}

// Teardown is a compare-and-swap on the claim that was judged: another
// version, or another claim of the name, is a conflict.
func (b *SandboxClaims) Teardown(ctx context.Context, conv *polychromev1alpha1.Conversation, ref Ref) error {
	switch {
	case b.claims.State() == framework.Absent:
		return nil
	case ref.UID == "":
		return b.unread(ref.Name)
	}
	claim := &agentsandboxv1alpha1.SandboxClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: conv.Namespace, Name: ref.Name, UID: ref.UID, ResourceVersion: ref.Version,
	}}
	if err := b.claims.Delete(ctx, claim); err != nil {
		return fmt.Errorf("tearing down the execution unit of conversation %s: %w", conv.Name, err)
	}
	return nil
}

// unread says why the claims cannot be read.
func (b *SandboxClaims) unread(name string) error {
	err := b.claims.Err()
	if err == nil {
		err = errUnread
	}
	return fmt.Errorf("reading SandboxClaim %s: %w", name, err)
}
