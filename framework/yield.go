package framework

import (
	"context"
	"errors"
)

// errYielded is why a resource is dormant although its API may be served.
var errYielded = errors.New("another version is looked at in its place")

// preferred is a resource as one that yields to it sees it.
type preferred interface {
	source
	view
	nudge()
	discover(context.Context) (State, error)
}

// yieldTo has the resource hear of the version that is preferred.
func (r *Resource[T]) yieldTo() {
	if r.YieldsTo == nil {
		return
	}
	r.log = r.log.With("version", r.Resource.Version)
	r.YieldsTo.OnTurn(func() {
		r.tellDormant()
		r.nudge()
	})
}

// yields reports whether the preferred version is served.
func (r *Resource[T]) yields() bool { return r.YieldsTo != nil && r.YieldsTo.State() == Served }

// needed waits while the preferred version is not absent; false when ctx ends
// first.
func (r *Resource[T]) needed(ctx context.Context) bool {
	for r.YieldsTo != nil && r.YieldsTo.State() != Absent && ctx.Err() == nil {
		if r.YieldsTo.looked() {
			r.turn(Unknown, errYielded, nil)
		}
		select {
		case <-ctx.Done():
		case <-r.nudged:
		}
	}
	return ctx.Err() == nil
}

// absent makes sure that a version that is absent is not just being replaced
// by the preferred one: no reader may take the one moment in which neither is
// read for the absence of the kind.
func (r *Resource[T]) absent(ctx context.Context) (State, error) {
	if r.YieldsTo == nil {
		return Absent, nil
	}
	state, err := r.YieldsTo.discover(ctx)
	switch {
	case state == Absent:
		return Absent, nil
	case err == nil:
		// The preferred version is looked for now and then; here it is.
		r.YieldsTo.nudge()
		err = errYielded
	}
	return Unknown, err
}

func (r *Resource[T]) discover(ctx context.Context) (State, error) { return r.presence.check(ctx) }

// showing is the cache that shows what was written here, if any does. The
// versions of a kind show one storage, and their objects have one version.
func (r *Resource[T]) showing() (view, bool) {
	switch {
	case r.verdict.Load().store != nil:
		return r, true
	case r.YieldsTo != nil:
		return r.YieldsTo.showing()
	}
	return nil, false
}

// tellDormant counts a kind as dormant while no version of it is served.
func (r *Resource[T]) tellDormant() {
	r.mu.Lock()
	defer r.mu.Unlock()
	dormant := r.State() != Served && !r.yields()
	r.metrics.dormant.WithLabelValues(r.Resource.GroupResource().String()).Set(boolAsFloat(dormant))
}
