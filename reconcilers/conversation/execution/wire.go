package execution

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	agentsandboxv1beta1 "polychrome.dev/controller/apis/agentsandbox/v1beta1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

// The versions of the SandboxClaim API.
const (
	V1alpha1 = "v1alpha1"
	V1beta1  = "v1beta1"
)

// errUnserved says that an API is absent, as discovery has it.
var errUnserved = errors.New("not served")

// errUnread stands in where no cause is known.
var errUnread = errors.New("not known yet")

// claim is what a SandboxClaim says alike in all versions.
type claim struct {
	metav1.Object
	conditions []metav1.Condition
	// sandbox is the name of the sandbox that serves it, podIPs are where.
	sandbox string
	podIPs  []string
	// pool is the warm pool that it names, if it names one.
	pool string
}

func fromV1alpha1(c *agentsandboxv1alpha1.SandboxClaim) claim {
	return claim{Object: c, conditions: c.Status.Conditions, sandbox: c.Status.Sandbox.Name, podIPs: c.Status.Sandbox.PodIPs}
}

func fromV1beta1(c *agentsandboxv1beta1.SandboxClaim) claim {
	return claim{
		Object: c, conditions: c.Status.Conditions, sandbox: c.Status.Sandbox.Name, podIPs: c.Status.Sandbox.PodIPs,
		pool: c.Spec.WarmPoolRef.Name,
	}
}

// wire is one version of the API.
type wire interface {
	version() string
	// find reads the cache. An error means that there is none: errUnserved
	// that the API is absent, any other that nothing is known.
	find(namespace, name string) (claim, bool, error)
	// drift names the paths in which the cached claim is not what is wanted.
	drift(owner owners.Owner, want desired) ([]string, error)
	apply(ctx context.Context, owner owners.Owner, want desired) error
	// remove deletes the claim if it is still what ref says.
	remove(ctx context.Context, namespace string, ref Ref) error
}

// wireOf is a version whose objects are Ts.
type wireOf[T framework.Object] struct {
	claims ClaimAPI[T]
	name   string
	// empty makes an object with that metadata and nothing else.
	empty func(metav1.ObjectMeta) T
	// read and write translate from and to the version.
	read  func(T) claim
	write func(desired) any
}

func (w wireOf[T]) version() string { return w.name }

func (w wireOf[T]) find(namespace, name string) (claim, bool, error) {
	found, exists, state := w.claims.Find(namespace, name)
	switch {
	case state == framework.Absent:
		return claim{}, false, errUnserved
	case state != framework.Served:
		if err := w.claims.Err(); err != nil {
			return claim{}, false, err
		}
		return claim{}, false, errUnread
	case !exists:
		return claim{}, false, nil
	}
	return w.read(found), true, nil
}

func (w wireOf[T]) drift(owner owners.Owner, want desired) ([]string, error) {
	child, err := w.claims.Look(owner, w.write(want))
	return child.Drift, err
}

func (w wireOf[T]) apply(ctx context.Context, owner owners.Owner, want desired) error {
	_, _, err := w.claims.Apply(ctx, owner, w.write(want))
	return err
}

func (w wireOf[T]) remove(ctx context.Context, namespace string, ref Ref) error {
	return w.claims.Delete(ctx, w.empty(metav1.ObjectMeta{
		Namespace: namespace, Name: ref.Name, UID: ref.UID, ResourceVersion: ref.Version,
	}))
}
