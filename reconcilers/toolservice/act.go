package toolservice

import (
	"context"
	"fmt"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// Act carries out one action.
func (r *Reconciler) Act(ctx context.Context, ts *polychromev1alpha1.ToolService, a Action) (framework.Result, error) {
	switch a.Kind {
	case AddFinalizer:
		return framework.Result{}, r.toolServices.AddFinalizer(ctx, ts, polychromev1alpha1.ToolServiceFinalizer)
	case Probe:
		return framework.Result{}, r.beginProbe(ts)
	case RemoveFinalizer:
		r.prober.drop(ts)
		return framework.Result{}, r.toolServices.RemoveFinalizer(ctx, ts, polychromev1alpha1.ToolServiceFinalizer)
	}
	return framework.Result{}, fmt.Errorf("acting on tool service %s: no such action: %s", ts.Name, a.Kind)
}

// beginProbe does not wait for the probe, nor does it read the Secret: both
// are the prober's.
func (r *Reconciler) beginProbe(ts *polychromev1alpha1.ToolService) error {
	url, wrong := r.target(&ts.Spec)
	if wrong.reason != "" {
		return fmt.Errorf("beginning a probe of tool service %s: %s", ts.Name, wrong.reason)
	}
	r.prober.begin(ts, order{ask: askOf(ts), url: url, timeout: timeoutOf(ts), bearer: bearerOf(&ts.Spec)})
	return nil
}
