package framework

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Delete deletes obj if it is still the very version obj shows. An object
// that is gone already is success; any other version is a conflict.
func (r *Resource[T]) Delete(ctx context.Context, obj T) error {
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	background := metav1.DeletePropagationBackground
	err := r.Client.Delete(ctx, obj.GetName(), metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
		PropagationPolicy: &background,
	})
	r.count(ctx, "delete", err)
	rec := recorderOf(ctx)
	if err == nil || gone(err) {
		rec.note(note{kind: noteGone, view: r, key: keyOf(obj), uid: uid, terminatingIsGone: err == nil})
		rec.touch(r.Kind, obj.GetName(), mark{uid: uid}, "deleted")
		if uid == rec.uid {
			rec.gone = true
		}
		return nil
	}
	return r.failedOn(ctx, obj, fmt.Errorf("deleting %s %s: %w", r.Kind, obj.GetName(), err))
}

// AddFinalizer adds one finalizer and leaves all others as they are. It is a
// compare-and-swap: a list that has changed since obj was read is a conflict.
func (r *Resource[T]) AddFinalizer(ctx context.Context, obj T, finalizer string) error {
	old := obj.GetFinalizers()
	if slices.Contains(old, finalizer) {
		return nil
	}
	if obj.GetDeletionTimestamp() != nil {
		return fmt.Errorf("adding the finalizer of %s %s: it is being deleted", r.Kind, obj.GetName())
	}
	return r.swapFinalizers(ctx, obj, append(slices.Clone(old), finalizer), "adding the finalizer of")
}

// RemoveFinalizer removes one finalizer, as often as it is listed, and leaves
// all others as they are. An object that is gone already is success.
func (r *Resource[T]) RemoveFinalizer(ctx context.Context, obj T, finalizer string) error {
	old := obj.GetFinalizers()
	if !slices.Contains(old, finalizer) {
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(old), func(f string) bool { return f == finalizer })
	return r.swapFinalizers(ctx, obj, kept, "removing the finalizer of")
}

// patchStep is one step of a JSON patch.
type patchStep struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// removeStep is a JSON patch step that carries no value.
type removeStep struct {
	Op   string `json:"op"`
	Path string `json:"path"`
}

func (r *Resource[T]) swapFinalizers(ctx context.Context, obj T, finalizers []string, attempt string) error {
	body, err := finalizerPatch(obj.GetUID(), obj.GetFinalizers(), finalizers)
	if err != nil {
		return fmt.Errorf("%s %s %s: %w", attempt, r.Kind, obj.GetName(), err)
	}
	out, err := r.Client.Patch(ctx, obj.GetName(), types.JSONPatchType, body,
		metav1.PatchOptions{FieldManager: r.names.FieldManager})
	r.count(ctx, "finalizer", err)
	last := len(finalizers) == 0 && obj.GetDeletionTimestamp() != nil
	rec := recorderOf(ctx)
	if last && (err == nil || gone(err)) {
		// The answer's version is one the store may already have passed, so
		// only the end of the UID tells that it was seen.
		rec.note(note{kind: noteGone, view: r, key: keyOf(obj), uid: obj.GetUID()})
		rec.gone = true
		return nil
	}
	if err != nil {
		return r.failedOn(ctx, obj, fmt.Errorf("%s %s %s: %w", attempt, r.Kind, obj.GetName(), err))
	}
	r.noteSeen(ctx, out, "metadata.finalizers")
	return nil
}

// failedOn is failed for a write to an object that the cache shows: not
// finding it is a conflict too.
func (r *Resource[T]) failedOn(ctx context.Context, obj T, err error) error {
	conflicted := moved(r, keyOf(obj), obj, true)
	if gone(err) {
		r.nudge()
		recorderOf(ctx).note(conflicted)
		return &conflictError{cause: err}
	}
	return r.failed(ctx, conflicted, err)
}

// finalizerPatch tests that the object and its list are the ones read, then
// sets the new list. A test of an absent list is a test for null.
func finalizerPatch(uid types.UID, old, finalizers []string) ([]byte, error) {
	var read any
	if len(old) > 0 {
		read = old
	}
	steps := []any{
		patchStep{Op: "test", Path: "/metadata/uid", Value: uid},
		patchStep{Op: "test", Path: "/metadata/finalizers", Value: read},
	}
	if len(finalizers) == 0 {
		steps = append(steps, removeStep{Op: "remove", Path: "/metadata/finalizers"})
	} else {
		steps = append(steps, patchStep{Op: "add", Path: "/metadata/finalizers", Value: finalizers})
	}
	return json.Marshal(steps)
}

// patchStatus writes the changed fields of a status, on the condition that
// the object is still the version that was judged: the list of conditions is
// replaced whole, and a UID in a status patch is not checked by the server.
func (r *Resource[T]) patchStatus(ctx context.Context, obj T, version string, status map[string]any, paths []string) (T, error) {
	var none T
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": version},
		"status":   status,
	})
	if err != nil {
		return none, fmt.Errorf("writing the status of %s %s: %w", r.Kind, obj.GetName(), err)
	}
	out, err := r.Client.Patch(ctx, obj.GetName(), types.MergePatchType, body,
		metav1.PatchOptions{FieldManager: r.names.FieldManager}, "status")
	r.count(ctx, "status", err)
	if err != nil {
		return none, r.failedOn(ctx, obj, fmt.Errorf("writing the status of %s %s: %w", r.Kind, obj.GetName(), err))
	}
	r.noteSeen(ctx, out, paths...)
	return out, nil
}
