package framework

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"polychrome.dev/controller/framework/owners"
)

// Client is the part of a generated typed client that a Resource uses.
type Client[T Object] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
}

// ResourceOptions describe one kind in one namespace.
type ResourceOptions[T Object] struct {
	// Resource is the group, version and plural name. Required.
	Resource schema.GroupVersionResource
	// Kind is the Go type's kind, as in apiVersion/kind. Required.
	Kind string
	// Namespace is where the objects are. Required.
	Namespace string
	// Client writes; a generated typed client of the namespace on the
	// unary connection. Required.
	Client Client[T]
	// Informer makes a fresh informer of the namespace on the watch
	// connection; it is called once for each life of the resource.
	// An informer on TolerantListWatch passes decoded on. Required.
	Informer func(decoded func(obj T, raw []byte, err error)) cache.SharedIndexInformer
	// Selector is the label selector of Informer. Nil selects all.
	Selector labels.Selector
	// Optional lets controllers work while the API is not served.
	Optional bool
	// YieldsTo is the same kind in a version that is preferred: a Resource of
	// the manager. This one is dormant, its state Unknown, unless that one is
	// absent; nothing is asked of its API until then. Once served it goes on
	// until that one is served, its cache full. Nil yields to none.
	YieldsTo preferred
	// CheckSchema compares the type with the schema that the API server
	// serves, and says which fields it lacks. It is for kinds that are
	// defined by a CustomResourceDefinition.
	CheckSchema bool
	// Hints go with what is logged of the kind. None by default.
	Hints Hints
}

// Hints are advice for people, such as what to apply.
type Hints struct {
	// Access is for a kind that may not be read, or whose namespace is not
	// there.
	Access string
	// Schema is for a kind that is not served, and for an object or a served
	// schema that does not fit the type.
	Schema string
}

// newObject makes an empty object: T is a pointer to a struct.
func newObject[T Object]() T { return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T) }

// State is whether a resource can be read.
type State int

const (
	// Unknown is not looked at yet, no right, or no answer; see Err.
	Unknown State = iota
	// Absent is what discovery says when the API is not served.
	Absent
	// Served is a cache that is synced and followed.
	Served
)

// String names the state for logs and metrics.
func (s State) String() string {
	return [...]string{"unknown", "absent", "served"}[s]
}

// Resource is one kind that this process reads from a cache and writes: the
// one place through which controllers touch the API. It is safe for
// concurrent use.
type Resource[T Object] struct {
	ResourceOptions[T]
	names    Names
	log      *slog.Logger
	metrics  *metrics
	presence presence
	restart  func()

	verdict atomic.Pointer[verdict]
	// told is when the log was last told of the state.
	told   time.Time
	nudged chan struct{}
	relive chan struct{}
	// refusal is the watch's, until the API has been looked at.
	refusal  atomic.Pointer[error]
	compared sync.Map // types.UID -> comparison
	rejected sync.Map // types.UID -> comparison
	skew

	mu       sync.Mutex
	handlers []func(T, bool)
	// moved are those handlers that also want an object as it was before a
	// change of its labels or owners: it may have concerned somebody else.
	moved []func(T)
	turns []func()
	// broken has every version of an object that did not decode and that
	// the cache may still show: a newer one is here before it is there.
	broken map[types.UID][]undecodable
}

// verdict is the last word on a resource: its state and, while it is served,
// the cache that goes with it. They change together, so that no reader takes
// the empty cache of an API that is gone for the absence of its objects.
type verdict struct {
	state  State
	err    error
	looked bool
	store  cache.Indexer
}

// undecodable is a version of an object that does not fit its type.
type undecodable struct {
	version    string
	err        error
	conditions []metav1.Condition
}

// NewResource makes a resource that the manager starts and stops with the
// API it reads.
func NewResource[T Object](m *Manager, o ResourceOptions[T]) *Resource[T] {
	r := &Resource[T]{
		ResourceOptions: o,
		names:           m.Names,
		log:             m.Log.With("resource", o.Resource.GroupResource().String(), "namespace", o.Namespace),
		metrics:         m.metrics,
		presence:        presence{rest: m.discovery, resource: o.Resource, namespace: o.Namespace},
		restart:         m.restarter(o.Resource.GroupResource(), o.Namespace),
		nudged:          make(chan struct{}, 1),
		relive:          make(chan struct{}, 1),
		broken:          map[types.UID][]undecodable{},
	}
	r.verdict.Store(&verdict{state: Unknown, err: fmt.Errorf("%s: not looked at yet", o.Resource.GroupResource())})
	r.yieldTo()
	m.add(r)
	return r
}

// OnChange calls handler with each object that comes, changes or (deleted)
// goes, from the informer's goroutine: it must be quick and must not change
// the object. One that panics loses that event and no other; a lock that it
// holds must be released by a defer. Handlers are added before the manager
// runs.
func (r *Resource[T]) OnChange(handler func(obj T, deleted bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handlers = append(r.handlers, r.surviving(handler))
}

// surviving keeps a panic of a handler from ending the process, as it would
// again after each restart. The first one is logged, all are counted.
func (r *Resource[T]) surviving(handler func(T, bool)) func(T, bool) {
	var first sync.Once
	return func(obj T, deleted bool) {
		defer func() {
			value := recover()
			if value == nil {
				return
			}
			r.metrics.panics.WithLabelValues(r.resourceName()).Inc()
			first.Do(func() {
				r.log.Error("a handler of events panicked; no further panic of it is logged", "object", keyOf(obj).String(),
					"deleted", deleted, "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
			})
		}()
		handler(obj, deleted)
	}
}

// onMoved calls handler with an object as it was before its labels or owners
// changed.
func (r *Resource[T]) onMoved(handler func(T)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	surviving := r.surviving(func(obj T, _ bool) { handler(obj) })
	r.moved = append(r.moved, func(obj T) { surviving(obj, false) })
}

// OnTurn calls turned when the state has changed. It must be quick. It is
// added before the manager runs.
func (r *Resource[T]) OnTurn(turned func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns = append(r.turns, turned)
}

// State is whether the resource can be read now.
func (r *Resource[T]) State() State { return r.verdict.Load().state }

// Err says why the state is Unknown; nil otherwise.
func (r *Resource[T]) Err() error { return r.verdict.Load().err }

// Get reads the cache. The object is read-only. Nothing is found while the
// resource is not served; Find tells the two apart.
func (r *Resource[T]) Get(namespace, name string) (T, bool) {
	obj, found, _ := r.Find(namespace, name)
	return obj, found
}

// Find reads the cache and tells in the same moment whether there is one:
// unless the state is Served, not finding an object says nothing of it. The
// object is read-only.
func (r *Resource[T]) Find(namespace, name string) (obj T, found bool, state State) {
	now := r.verdict.Load()
	if now.store == nil {
		return obj, false, now.state
	}
	cached, exists, err := now.store.GetByKey(Key{Namespace: namespace, Name: name}.String())
	if err != nil || !exists {
		return obj, false, now.state
	}
	return cached.(T), true, now.state
}

// List reads all objects from the cache; they are read-only.
func (r *Resource[T]) List() []T {
	now := r.verdict.Load()
	if now.store == nil {
		return nil
	}
	return typed[T](now.store.List())
}

func typed[T Object](objects []any) []T {
	out := make([]T, 0, len(objects))
	for _, obj := range objects {
		out = append(out, obj.(T))
	}
	return out
}

// Owner is an object of this resource as the owner of its children.
func (r *Resource[T]) Owner(obj T) owners.Owner {
	return owners.Owner{APIVersion: r.Resource.GroupVersion().String(), Kind: r.Kind, Name: obj.GetName(), UID: obj.GetUID()}
}

// resourceName tells the versions of one kind apart.
func (r *Resource[T]) resourceName() string {
	if r.YieldsTo != nil {
		return r.Resource.Resource + "." + r.Resource.Version + "." + r.Resource.Group
	}
	return r.Resource.GroupResource().String()
}

func (r *Resource[T]) optional() bool { return r.Optional }

// looked reports whether the state has been found out at least once.
func (r *Resource[T]) looked() bool { return r.verdict.Load().looked }

// brokenBy tells whether the cached object is the stub of one that does not
// decode. The version counts: table and cache do not change in one moment.
func (r *Resource[T]) brokenBy(obj T) (undecodable, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, bad := range r.broken[obj.GetUID()] {
		if bad.version == obj.GetResourceVersion() {
			return bad, true
		}
	}
	return undecodable{}, false
}
