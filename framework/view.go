package framework

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func (r *Resource[T]) restartWatch() { r.restart() }

func (r *Resource[T]) relist() {
	select {
	case r.relive <- struct{}{}:
	default:
	}
}

func (r *Resource[T]) seen() string {
	now := r.verdict.Load()
	if now.store == nil {
		return ""
	}
	return now.store.LastStoreSyncResourceVersion()
}

func (r *Resource[T]) look(key Key) (sight, bool) {
	obj, there := r.Get(key.Namespace, key.Name)
	if !there {
		return sight{}, false
	}
	return r.sightOf(obj), true
}

func (r *Resource[T]) probe(ctx context.Context, key Key) (sight, bool, error) {
	obj, err := r.Client.Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case gone(err):
		return sight{}, false, nil
	case err != nil:
		return sight{}, false, fmt.Errorf("probing %s %s: %w", r.resourceName(), key, err)
	}
	return r.sightOf(obj), true, nil
}

func (r *Resource[T]) sightOf(obj T) sight {
	return sight{
		uid:         obj.GetUID(),
		version:     obj.GetResourceVersion(),
		terminating: obj.GetDeletionTimestamp() != nil,
		outOfScope:  !r.shows(obj),
	}
}

// shows reports whether the informer can show obj: only writes to such
// objects are worth waiting for.
func (r *Resource[T]) shows(obj T) bool {
	return obj.GetNamespace() == r.Namespace &&
		(r.Selector == nil || r.Selector.Matches(labels.Set(obj.GetLabels())))
}
