package main

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/conditions"
)

// Status is the Website as it should be seen after this pass.
func (r *reconciler) Status(now time.Time, site *webv1alpha1.Website, w world, done []framework.Done[action]) *webv1alpha1.Website {
	if site.DeletionTimestamp != nil {
		return site
	}
	deployment := &appsv1.Deployment{}
	if w.deployment.Present && !w.deployment.Foreign() {
		deployment = w.deployment.Object
	}
	var failure error
	for _, d := range done {
		failure = d.Err
		if applied, ok := d.Result.Learned.(*appsv1.Deployment); ok {
			deployment = applied
		}
	}
	ready := metav1.Condition{Type: framework.ConditionReady, Status: metav1.ConditionFalse}
	ready.Reason, ready.Message = judge(site, w, deployment, failure)
	if ready.Reason == webv1alpha1.ReasonServing {
		ready.Status = metav1.ConditionTrue
	}
	out := site.DeepCopy()
	out.Status.ObservedGeneration = site.Generation
	out.Status.ReadyReplicas = deployment.Status.ReadyReplicas
	out.Status.Conditions = conditions.Set(out.Status.Conditions, now, site.Generation, ready)
	return out
}

// judge is the reason of Ready and its message; the first that fits wins.
func judge(site *webv1alpha1.Website, w world, deployment *appsv1.Deployment, failure error) (reason, message string) {
	switch {
	case w.page.Foreign():
		return webv1alpha1.ReasonNameConflict, "the ConfigMap " + site.Name + " exists and belongs to somebody else"
	case w.deployment.Foreign():
		return webv1alpha1.ReasonNameConflict, "the Deployment " + site.Name + " exists and belongs to somebody else"
	case failure != nil:
		return webv1alpha1.ReasonApplyFailed, failure.Error()
	case !rolledOut(site, deployment):
		return webv1alpha1.ReasonRollingOut, fmt.Sprintf("waiting for the Deployment to serve the page with %d replicas", site.Spec.Replicas)
	}
	return webv1alpha1.ReasonServing, fmt.Sprintf("serving the page with %d replicas", site.Spec.Replicas)
}

// rolledOut believes the status only once the Deployment's own controller has
// seen the present spec: just after an apply it still speaks of the last one.
func rolledOut(site *webv1alpha1.Website, d *appsv1.Deployment) bool {
	s := d.Status
	return s.ObservedGeneration >= d.Generation &&
		s.UpdatedReplicas == site.Spec.Replicas && s.Replicas == s.UpdatedReplicas && s.AvailableReplicas == s.Replicas
}
