package routine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// World is everything a pass knows beside the routine itself.
type World struct {
	// Leftovers are the objects that have the names of the trigger of older
	// releases, whosever they are, in the order in which they would be removed.
	Leftovers []Found
}

// Found is one object that may be a leftover.
type Found struct {
	// Kind is what it is.
	Kind Leftover
	// Object is its metadata; it is read-only.
	Object *metav1.PartialObjectMetadata
}

// Observe reads the leftovers. What cannot be seen, for want of rights, counts
// as absent: it is not this routine's work to need it.
func (r *Reconciler) Observe(_ context.Context, routine *polychromev1alpha1.Routine) (World, error) {
	var w World
	for _, kind := range leftovers {
		if obj, found, _ := r.leftovers[kind].Find(routine.Namespace, leftoverName(routine.Name)); found {
			w.Leftovers = append(w.Leftovers, Found{kind, obj})
		}
	}
	return w, nil
}
