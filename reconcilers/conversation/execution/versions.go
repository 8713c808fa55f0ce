package execution

import (
	"context"
	"log/slog"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	agentsandboxv1beta1 "polychrome.dev/controller/apis/agentsandbox/v1beta1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

// ClaimReader reads SandboxClaims of one version from a cache.
type ClaimReader[T framework.Object] interface {
	State() framework.State
	Err() error
	Find(namespace, name string) (claim T, found bool, state framework.State)
	Look(owner owners.Owner, config any) (framework.Child[T], error)
}

// ClaimWriter writes SandboxClaims of one version.
type ClaimWriter[T framework.Object] interface {
	Apply(ctx context.Context, owner owners.Owner, config any) (T, bool, error)
	Delete(ctx context.Context, claim T) error
}

// ClaimAPI is what is asked of SandboxClaims of one version; a
// framework.Resource provides it.
type ClaimAPI[T framework.Object] interface {
	ClaimReader[T]
	ClaimWriter[T]
}

// WarmPools reads SandboxWarmPools from a cache; a framework.Resource provides
// it.
type WarmPools interface {
	Find(namespace, name string) (pool *metav1.PartialObjectMetadata, found bool, state framework.State)
}

// Claims are the versions of the SandboxClaim API that may be used. The newest
// one that is served is; nil is never looked at.
type Claims struct {
	// V1beta1 has claims that name a warm pool.
	V1beta1 ClaimAPI[*agentsandboxv1beta1.SandboxClaim]
	// V1alpha1 has claims that name a template.
	V1alpha1 ClaimAPI[*agentsandboxv1alpha1.SandboxClaim]
	// WarmPools tells which pools there are, for V1beta1.
	WarmPools WarmPools
}

// wires are the versions, newest first.
func (c Claims) wires() []wire {
	var wires []wire
	if c.V1beta1 != nil {
		wires = append(wires, wireOf[*agentsandboxv1beta1.SandboxClaim]{
			claims: c.V1beta1, name: V1beta1, read: fromV1beta1, write: inV1beta1,
			empty: func(meta metav1.ObjectMeta) *agentsandboxv1beta1.SandboxClaim {
				return &agentsandboxv1beta1.SandboxClaim{ObjectMeta: meta}
			},
		})
	}
	if c.V1alpha1 != nil {
		wires = append(wires, wireOf[*agentsandboxv1alpha1.SandboxClaim]{
			claims: c.V1alpha1, name: V1alpha1, read: fromV1alpha1, write: inV1alpha1,
			empty: func(meta metav1.ObjectMeta) *agentsandboxv1alpha1.SandboxClaim {
				return &agentsandboxv1alpha1.SandboxClaim{ObjectMeta: meta}
			},
		})
	}
	return wires
}

// states are those of the versions; Absent for one that is never looked at.
func (c Claims) states() (v1beta1, v1alpha1 framework.State) {
	v1beta1, v1alpha1 = framework.Absent, framework.Absent
	if c.V1beta1 != nil {
		v1beta1 = c.V1beta1.State()
	}
	if c.V1alpha1 != nil {
		v1alpha1 = c.V1alpha1.State()
	}
	return v1beta1, v1alpha1
}

// inUse tells which version is used and why. Both are empty while that is not
// known.
func (c Claims) inUse() (version, why string) {
	forced := c.V1beta1 == nil || c.V1alpha1 == nil
	switch v1beta1, v1alpha1 := c.states(); {
	case forced && (v1beta1 == framework.Served || v1alpha1 == framework.Served):
		why = "no other one may be used"
		if v1beta1 == framework.Served {
			return V1beta1, why
		}
		return V1alpha1, why
	case v1beta1 == framework.Served:
		return V1beta1, "it is the newest one that is served"
	case v1alpha1 == framework.Served:
		return V1alpha1, "no newer one is served"
	case v1beta1 == framework.Absent && v1alpha1 == framework.Absent:
		return "none", "none that may be used is served"
	}
	return "", ""
}

// Announce returns what is to be called whenever the state of a version has
// changed: it logs which one is used, once for each change.
func (c Claims) Announce(log *slog.Logger) func() {
	var (
		mu   sync.Mutex
		said string
	)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		version, why := c.inUse()
		if version == "" || version == said {
			return
		}
		said = version
		log.Info("the version of the SandboxClaim API was chosen", "version", version, "because", why)
	}
}
