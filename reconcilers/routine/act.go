package routine

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// Act removes one leftover, if it still is the version that was judged. Where
// that is forbidden the routine is none the worse: it is said, and tried again
// with the next look.
func (r *Reconciler) Act(ctx context.Context, routine *polychromev1alpha1.Routine, a Action) (framework.Result, error) {
	kind, known := r.leftovers[a.Kind]
	if !known {
		return framework.Result{}, fmt.Errorf("acting on routine %s: no such leftover: %s", routine.Name, a.Kind)
	}
	err := kind.Delete(ctx, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: routine.Namespace, Name: a.Name, UID: a.UID, ResourceVersion: a.Version,
	}})
	switch {
	case framework.Classify(err) == framework.ClassForbidden:
		return framework.Result{Wait: longestWait, Events: []framework.Event{{
			Warning: true, Reason: "OldTriggerKept",
			Message: fmt.Sprintf("the %s %s of an older release may fire the routine a second time, and the controller may not delete it: "+
				"grant it that right, or delete the object", a.Kind, a.Name),
		}}}, nil
	case err != nil:
		return framework.Result{}, err
	}
	r.log.InfoContext(ctx, "removed the trigger of an older release", "routine", routine.Name, "namespace", routine.Namespace,
		"kind", string(a.Kind), "name", a.Name)
	return framework.Result{Events: []framework.Event{{
		Reason: "OldTriggerRemoved", Message: fmt.Sprintf("removed the %s %s of an older release", a.Kind, a.Name),
	}}}, nil
}
