package framework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// lookEvery is how often an API that cannot be read is looked for, times a
// random factor in [0.8, 1.2).
const lookEvery = 5 * time.Second

// nudgeEvery is the least time between two looks at an API that is served.
const nudgeEvery = time.Second

// retellEvery is how often the log is told at most that an API still cannot be
// read.
const retellEvery = 5 * time.Minute

// syncSlow is how long a cache may take to fill before the state says so.
const syncSlow = 30 * time.Second

// run follows the API through its lives until ctx ends: nothing is watched
// before the API answers, and a stopped informer is never used again.
func (r *Resource[T]) run(ctx context.Context) {
	for r.needed(ctx) {
		state, err := r.presence.check(ctx)
		if state == Served {
			state, err = r.live(ctx)
		}
		if state == Absent {
			state, err = r.absent(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		r.forgetLife(r.turn(state, err, nil))
		if errors.Is(err, errRelive) || errors.Is(err, errYielded) {
			continue
		}
		r.pause(ctx, lookEvery*8/10+rand.N(lookEvery*4/10), r.nudged)
	}
}

// errRelive ends a life whose cache has missed an event.
var errRelive = errors.New("filling the cache anew")

// live is one life: from a fresh informer to the day the API goes. It
// returns what has come in its place.
func (r *Resource[T]) live(ctx context.Context) (State, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.CheckSchema {
		r.lookAtSchema(ctx)
	}
	informer := r.Informer(r.decoded)
	if err := informer.SetTransform(stripManagedFields); err != nil {
		return Unknown, fmt.Errorf("preparing the cache of %s: %w", r.resourceName(), err)
	}
	if err := informer.SetWatchErrorHandlerWithContext(r.watchFailed); err != nil {
		return Unknown, fmt.Errorf("preparing the cache of %s: %w", r.resourceName(), err)
	}
	typed := cache.NewTypedSharedIndexInformer[T](informer)
	registration, err := typed.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[T]{
		AddFunc:    func(obj T) { r.changed(obj, false) },
		UpdateFunc: r.updated,
		DeleteFunc: r.deleted,
	})
	if err != nil {
		return Unknown, fmt.Errorf("preparing the cache of %s: %w", r.resourceName(), err)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		informer.RunWithContext(ctx)
	}()
	defer func() {
		cancel()
		<-stopped
	}()
	return r.follow(ctx, registration, informer.GetIndexer())
}

// follow waits for the cache to fill, then until the API is gone.
func (r *Resource[T]) follow(ctx context.Context, registration cache.ResourceEventHandlerRegistration, store cache.Indexer) (State, error) {
	synced := registration.HasSyncedChecker().Done()
	slow := time.NewTimer(syncSlow)
	defer slow.Stop()
	schemas := time.NewTicker(schemaLookEvery)
	defer schemas.Stop()
	for {
		select {
		case <-ctx.Done():
			return Unknown, ctx.Err()
		case <-synced:
			synced = nil
			r.filled(store)
		case <-slow.C:
			if synced != nil {
				r.turn(Unknown, fmt.Errorf("filling the cache of %s: not done after %s", r.resourceName(), syncSlow), nil)
			}
		case <-r.relive:
			return Unknown, errRelive
		case <-schemas.C:
			r.lookForSchema(ctx)
		case <-r.nudged:
			if r.yields() {
				return Unknown, errYielded
			}
			if state, err := r.stillThere(ctx); state == Absent || apierrors.IsForbidden(err) {
				return state, err
			}
			r.pause(ctx, nudgeEvery, nil)
		}
	}
}

// lookForSchema has everything looked at anew once a schema that lacked
// something has changed.
func (r *Resource[T]) lookForSchema(ctx context.Context) {
	if r.known() && r.lookAtSchema(ctx) {
		r.log.Info("the served schema has changed")
		r.tellTurned()
	}
}

// filled publishes the cache.
func (r *Resource[T]) filled(store cache.Indexer) {
	if !tellsVersions(store.LastStoreSyncResourceVersion()) {
		r.log.Warn("the cache cannot tell its version; own writes are not waited for")
	}
	r.turn(Served, nil, store)
}

// stillThere looks at an API that seems gone. An outage is no absence: what is
// cached stays good.
func (r *Resource[T]) stillThere(ctx context.Context) (State, error) {
	state, err := r.presence.check(ctx)
	if state != Served {
		return state, err
	}
	if refused := r.refusal.Swap(nil); refused != nil {
		r.log.Warn("the API may be listed but not watched; the cache is refreshed by lists alone", "error", causeChain(*refused))
	}
	return state, err
}

// turn publishes a new verdict, tells who depends on it, and returns the cache
// that went with the old one.
func (r *Resource[T]) turn(state State, err error, store cache.Indexer) cache.Indexer {
	old := r.verdict.Swap(&verdict{state: state, err: err, looked: true, store: store})
	same := old.looked && old.state == state && (old.err == nil) == (err == nil)
	if !same || r.stillDormant(state, err) {
		r.tellState(state, err)
	}
	if old.looked && old.state == state {
		// Another reason for the same state changes nothing for anybody, and
		// some reasons are worded anew at each look.
		return old.store
	}
	r.tellDormant()
	r.tellTurned()
	return old.store
}

// stillDormant reports whether it is time to say once more that a kind that
// controllers need cannot be read.
func (r *Resource[T]) stillDormant(state State, err error) bool {
	return state != Served && !r.Optional && !errors.Is(err, errYielded) && time.Since(r.told) >= retellEvery
}

// tellState tells the log of a verdict.
func (r *Resource[T]) tellState(state State, err error) {
	r.told = time.Now()
	switch {
	case state == Served:
		r.log.Info("cache synced")
	case errors.Is(err, errYielded):
		r.log.Info("dormant", "because", causeChain(err))
	case err != nil:
		r.hinting(r.Hints.Access).Warn("cannot read the API", "state", state.String(), "error", causeChain(err))
	default:
		r.hinting(r.Hints.Schema).Warn("the API is not served", "state", state.String())
	}
}

// hinting is the log for what a hint helps with.
func (r *Resource[T]) hinting(hint string) *slog.Logger {
	if hint == "" {
		return r.log
	}
	return r.log.With("hint", hint)
}

// tellTurned has those who depend on the resource look at everything anew.
func (r *Resource[T]) tellTurned() {
	r.mu.Lock()
	turns := r.turns
	r.mu.Unlock()
	for _, turned := range turns {
		turned()
	}
}

// nudge asks for a look at whether the API is still served. It never blocks.
func (r *Resource[T]) nudge() {
	select {
	case r.nudged <- struct{}{}:
	default:
	}
}

func (r *Resource[T]) watchFailed(ctx context.Context, _ *cache.Reflector, err error) {
	switch {
	case ctx.Err() != nil:
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		r.refusal.Store(&err)
		r.nudge()
	case errors.Is(err, io.EOF), apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		r.log.Debug("watch ended", "error", causeChain(err))
	default:
		r.log.Warn("watch failed", "error", causeChain(err))
	}
}

// pause waits for a time, or less when something arrives early.
func (r *Resource[T]) pause(ctx context.Context, wait time.Duration, early <-chan struct{}) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-early:
	}
}

func (r *Resource[T]) changed(obj T, deleted bool) {
	r.mended(obj)
	for _, handler := range r.handlers {
		handler(obj, deleted)
	}
}

// updated tells of a change; who watched the object as it was hears of it too.
func (r *Resource[T]) updated(old, obj T) {
	r.changed(obj, false)
	if maps.Equal(old.GetLabels(), obj.GetLabels()) && reflect.DeepEqual(old.GetOwnerReferences(), obj.GetOwnerReferences()) {
		return
	}
	for _, handler := range r.moved {
		handler(old)
	}
}

// mended forgets that older versions of obj did not decode.
func (r *Resource[T]) mended(obj T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.broken[obj.GetUID()]
	if len(known) == 0 {
		return
	}
	known = slices.DeleteFunc(known, func(bad undecodable) bool { return behind(bad.version, obj.GetResourceVersion()) })
	if r.broken[obj.GetUID()] = known; len(known) == 0 {
		delete(r.broken, obj.GetUID())
	}
}

// deleted hands on the last known state; where not even that is known, the
// key alone in an empty object.
func (r *Resource[T]) deleted(gone cache.DeletedObject[T]) {
	var none T
	obj := gone.OptionalObj
	if obj == none {
		obj = newObject[T]()
		obj.SetNamespace(gone.GetNamespace())
		obj.SetName(gone.GetName())
	}
	r.compared.Delete(obj.GetUID())
	r.rejected.Delete(obj.GetUID())
	r.mu.Lock()
	delete(r.broken, obj.GetUID())
	r.mu.Unlock()
	r.changed(obj, true)
}

// decoded keeps the table of objects that do not fit their type.
func (r *Resource[T]) decoded(obj T, raw []byte, err error) {
	var none T
	switch {
	case err == nil:
		return
	case obj == none:
		r.hinting(r.Hints.Schema).Error("an object has no readable metadata; it is passed over", "error", err)
		return
	}
	r.hinting(r.Hints.Schema).Error("an object does not decode; it is left alone until it is mended", "object", obj.GetName(), "error", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	known := slices.DeleteFunc(r.broken[obj.GetUID()], func(bad undecodable) bool { return bad.version == obj.GetResourceVersion() })
	r.broken[obj.GetUID()] = append(known, undecodable{version: obj.GetResourceVersion(), err: err, conditions: conditionsIn(raw)})
}

// forgetLife drops all that was learnt from a cache that is gone. Its objects
// are told as deleted: some may not be there when the API is back, and then no
// event would tell.
func (r *Resource[T]) forgetLife(store cache.Indexer) {
	if store != nil {
		for _, obj := range store.List() {
			r.changed(obj.(T), true)
		}
	}
	r.compared.Clear()
	r.rejected.Clear()
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.broken)
}

// conditionsIn reads what can be read of the conditions of an object whose
// other fields do not decode.
func conditionsIn(raw []byte) []metav1.Condition {
	var partial struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &partial); err != nil {
		return nil
	}
	return partial.Status.Conditions
}

// stripManagedFields keeps caches small; the server keeps its own copy.
func stripManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

func boolAsFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
