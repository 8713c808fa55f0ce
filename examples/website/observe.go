package main

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/framework"
)

// world is everything a pass knows beside the Website itself.
type world struct {
	page       framework.Child[*corev1.ConfigMap]
	deployment framework.Child[*appsv1.Deployment]
}

// Observe reads both children from the caches.
func (r *reconciler) Observe(_ context.Context, site *webv1alpha1.Website) (world, error) {
	owner := r.websites.Owner(site)
	page, pageErr := r.pages.Look(owner, pageFor(site))
	deployment, deploymentErr := r.deployments.Look(owner, deploymentFor(site))
	return world{page, deployment}, errors.Join(pageErr, deploymentErr)
}
