package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/framework"
)

// reconciler drives Websites: Observe, Plan, Act and Status each have a file.
type reconciler struct {
	websites    *framework.Resource[*webv1alpha1.Website]
	pages       *framework.Resource[*corev1.ConfigMap]
	deployments *framework.Resource[*appsv1.Deployment]
}

var _ framework.Reconciler[*webv1alpha1.Website, world, action] = (*reconciler)(nil)

// namesake maps a child to the Website of its name. It does not ask for the
// owner: that an object of somebody else has gone concerns the Website too.
// A key without a Website costs nothing.
func namesake[C metav1.Object](child C) []framework.Key {
	return []framework.Key{{Namespace: child.GetNamespace(), Name: child.GetName()}}
}
