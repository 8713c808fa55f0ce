package conversation

import (
	"context"
	"fmt"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

// World is everything a pass knows beside the conversation itself.
type World struct {
	// Unit is the execution unit.
	Unit execution.Unit
	// Rolls is how the rolls of all conversations stand; known only to one
	// that is not of the desired generation, or that rolls.
	Rolls slots.Standing
	// Unread says that the unit could not be read, and why. Only the pass of
	// a deleted conversation goes on without knowing its unit.
	Unread error
}

// Observe reads the execution unit. A unit that cannot be read ends the pass,
// except while deleting: there the teardown fails in its place, so that the
// time limit on a failing teardown holds for this failure too.
func (r *Reconciler) Observe(_ context.Context, conv *polychromev1alpha1.Conversation) (World, error) {
	found, err := r.backend.Observe(conv)
	switch {
	case err == nil:
		return World{Unit: found, Rolls: r.rolls(conv)}, nil
	case conv.DeletionTimestamp != nil:
		return World{Unit: execution.Unit{Name: execution.NameOf(conv)}, Unread: err}, nil
	}
	return World{}, fmt.Errorf("observing the execution unit of conversation %s: %w", conv.Name, err)
}

// rolls spares the settled conversations of a fleet a look at the others.
func (r *Reconciler) rolls(conv *polychromev1alpha1.Conversation) slots.Standing {
	if r.generation == "" || (conv.Status.HarnessImageGeneration == r.generation && !conv.Status.RollingHarness) {
		return slots.Standing{}
	}
	return r.slots.Standing()
}
