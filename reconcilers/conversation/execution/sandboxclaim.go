package execution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// claimPoll is for the day on which the watch does not tell of a change.
const claimPoll = 5 * time.Minute

// SandboxClaims provides each conversation with one SandboxClaim.
type SandboxClaims struct {
	SandboxClaimOptions
	wires []wire
	pools pools
	// compared remembers the last compare of each conversation's claim, so
	// that a steady conversation costs no configuration per pass.
	compared sync.Map // types.UID of the conversation -> comparison
}

// SandboxClaimOptions are what SandboxClaims is made of. All are required but
// for the generation.
type SandboxClaimOptions struct {
	// Claims reads and writes the claims.
	Claims Claims
	// Template is what claims of v1alpha1 name, and WarmPool what those of
	// v1beta1 do unless only the pool of the template exists.
	Template, WarmPool string
	// Generation is what new claims carry, if it is not empty.
	Generation string
	// Log takes what happens.
	Log *slog.Logger
}

var _ Backend = (*SandboxClaims)(nil)

// comparison is what a compare said.
type comparison struct {
	basis basis
	paths []string
}

// basis is all that a compare depends on and that can change. Versions of the
// API show an object at the same version.
type basis struct {
	generation int64
	claim      types.UID
	version    string
	wire       string
	source     string
}

// NewSandboxClaims makes a backend.
func NewSandboxClaims(o SandboxClaimOptions) *SandboxClaims {
	return &SandboxClaims{SandboxClaimOptions: o, wires: o.Claims.wires(), pools: poolsFor(o.WarmPool, o.Template)}
}

// Kind is sandboxclaim.
func (b *SandboxClaims) Kind() string { return "sandboxclaim" }

// ReadyPollInterval is long: the claims are watched.
func (b *SandboxClaims) ReadyPollInterval() time.Duration { return claimPoll }

// Forget drops what is remembered of a conversation that is gone.
func (b *SandboxClaims) Forget(conv types.UID) { b.compared.Delete(conv) }

// find reads the claim in the newest version that is served. A version that is
// absent leaves it to the next one, and so does one of which nothing is known:
// the next one is served only where it may be relied on. With none served, it
// returns the first version of which nothing is known, and why; with all of
// them absent none, and errUnserved.
func (b *SandboxClaims) find(namespace, name string) (w wire, c claim, found bool, err error) {
	err = errUnserved
	for _, next := range b.wires {
		c, found, nextErr := next.find(namespace, name)
		switch {
		case nextErr == nil:
			return next, c, found, nil
		case w == nil && !errors.Is(nextErr, errUnserved):
			w, err = next, nextErr
		}
	}
	return w, claim{}, false, fmt.Errorf("reading SandboxClaim %s: %w", name, err)
}

// source is what the claim is to be made from.
func (b *SandboxClaims) source(w wire, namespace string, c claim) string {
	if w.version() == V1alpha1 {
		return b.Template
	}
	return poolFor(b.pools, c, b.poolSight(namespace))
}

func (b *SandboxClaims) poolSight(namespace string) poolSight {
	if b.Claims.WarmPools == nil {
		return poolSight{}
	}
	_, warm, warmState := b.Claims.WarmPools.Find(namespace, b.pools.warm)
	_, shadow, shadowState := b.Claims.WarmPools.Find(namespace, b.pools.shadow)
	return poolSight{readable: warmState == framework.Served && shadowState == framework.Served, warm: warm, shadow: shadow}
}

// Observe reads the claim. Only an open conversation needs to know whether
// it has drifted.
func (b *SandboxClaims) Observe(conv *polychromev1alpha1.Conversation) (Unit, error) {
	name := NameOf(conv)
	w, c, found, err := b.find(conv.Namespace, name)
	switch {
	case errors.Is(err, errUnserved):
		return Unit{Name: name, Unserved: true}, nil
	case err != nil:
		return Unit{}, err
	case !found:
		return Unit{Name: name}, nil
	}
	u := readClaim(ownerOf(conv), c)
	if !u.Live() || conv.Status.Closed || conv.DeletionTimestamp != nil {
		return u, nil
	}
	u.Drift, err = b.drift(w, conv, u, b.source(w, conv.Namespace, c))
	return u, err
}

// drift names the paths in which the claim is not what it should be.
func (b *SandboxClaims) drift(w wire, conv *polychromev1alpha1.Conversation, u Unit, source string) ([]string, error) {
	on := basis{generation: conv.Generation, claim: u.UID, version: u.Version, wire: w.version(), source: source}
	if known, ok := b.compared.Load(conv.UID); ok && known.(comparison).basis == on {
		return known.(comparison).paths, nil
	}
	paths, err := w.drift(ownerOf(conv), claimFor(conv, u.Name, source, u.Generation))
	if err != nil {
		return nil, fmt.Errorf("comparing SandboxClaim %s: %w", u.Name, err)
	}
	b.compared.Store(conv.UID, comparison{basis: on, paths: paths})
	return paths, nil
}

// Ensure applies the claim. The one that exists keeps the generation it was
// made with.
func (b *SandboxClaims) Ensure(ctx context.Context, conv *polychromev1alpha1.Conversation) (Made, error) {
	name, generation := NameOf(conv), b.Generation
	w, c, found, err := b.find(conv.Namespace, name)
	if err != nil {
		return Made{}, fmt.Errorf("ensuring the execution unit of conversation %s: %w", conv.Name, err)
	}
	source := b.source(w, conv.Namespace, c)
	if found {
		generation = generationOf(c)
	} else {
		b.Log.InfoContext(ctx, "creating the execution unit", "conversation", conv.Name, "namespace", conv.Namespace,
			"backend", b.Kind(), "version", w.version(), "unit", name, "from", source, "generation", generation,
			"parent", conv.Spec.ParentConversationID)
	}
	if err := w.apply(ctx, ownerOf(conv), claimFor(conv, name, source, generation)); err != nil {
		return Made{}, fmt.Errorf("ensuring the execution unit of conversation %s: %w", conv.Name, err)
	}
	return Made{Created: !found, Generation: generation}, nil
}

// Teardown is a compare-and-swap on the claim that was judged: another
// version, or another claim of the name, is a conflict. It may have been
// judged in another version of the API; all show the same object.
func (b *SandboxClaims) Teardown(ctx context.Context, conv *polychromev1alpha1.Conversation, ref Ref) error {
	w, _, _, err := b.find(conv.Namespace, ref.Name)
	switch {
	case w == nil:
		return nil
	case ref.UID == "":
		return cmp.Or(err, fmt.Errorf("tearing down SandboxClaim %s: %w", ref.Name, errUnread))
	}
	if err := w.remove(ctx, conv.Namespace, ref); err != nil {
		return fmt.Errorf("tearing down the execution unit of conversation %s: %w", conv.Name, err)
	}
	return nil
}
