package framework

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"polychrome.dev/controller/framework/drift"
)

// Share has a second field manager own fields of child, as config has them.
// It comes before an Apply that no longer names them: a field whose only owner
// gives it up is dropped, or goes back to its default, whatever it was. A
// field that somebody else owns at another value is theirs already, and stays
// as it is; that is success.
func (r *Resource[T]) Share(ctx context.Context, child T, manager string, config any) error {
	fields, err := drift.Normalise(config, newObject[T]())
	if err != nil {
		return fmt.Errorf("normalising the shared fields of a %s: %w", r.Kind, err)
	}
	body, err := applyBody(fields, r.Resource.GroupVersion().String(), r.Kind, map[string]any{
		"name": child.GetName(), "uid": string(child.GetUID()),
	})
	if err != nil {
		return fmt.Errorf("sharing fields of %s %s: %w", r.Kind, child.GetName(), err)
	}
	out, err := r.Client.Patch(ctx, child.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: manager})
	r.count(ctx, "apply", err)
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		return nil
	case err != nil:
		return r.failed(ctx, moved(r, keyOf(child), child, true), fmt.Errorf("sharing fields of %s %s: %w", r.Kind, child.GetName(), err))
	}
	r.noteSeen(ctx, out, "metadata.managedFields")
	return nil
}
