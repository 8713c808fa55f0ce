package toolservice

import (
	"context"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// World is everything a pass knows beside the ToolService itself.
type World struct {
	// Memory is what came of its probes.
	Memory Memory
}

// Observe reads the memory of probes. It costs no request.
func (r *Reconciler) Observe(_ context.Context, ts *polychromev1alpha1.ToolService) (World, error) {
	return World{Memory: r.prober.look(ts)}, nil
}
