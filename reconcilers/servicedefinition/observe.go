package servicedefinition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// World is everything a pass knows beside the ServiceDefinition itself.
type World struct {
	// Deployment and Service are the children.
	Deployment framework.Child[*appsv1.Deployment]
	Service    framework.Child[*corev1.Service]
	// Pods are those of the Deployment, by name; read only while it is not
	// rolled out.
	Pods []*corev1.Pod
}

// Observe reads the children and, where they may say why the Deployment is not
// rolled out, its pods.
func (r *Reconciler) Observe(_ context.Context, svc *polychromev1alpha1.ServiceDefinition) (World, error) {
	deployment, deploymentErr := r.deployments.Look(ownerOf(svc), deploymentFor(svc))
	service, serviceErr := r.services.Look(ownerOf(svc), serviceFor(svc))
	if err := errors.Join(deploymentErr, serviceErr); err != nil {
		return World{}, fmt.Errorf("looking at the children of service definition %s: %w", svc.Name, err)
	}
	w := World{Deployment: deployment, Service: service}
	if d := own(deployment); d != nil && !rolloutOf(svc, d).complete() {
		w.Pods = r.podsOf(svc)
	}
	return w, nil
}

// podsOf looks through all pods, which settled services are spared.
func (r *Reconciler) podsOf(svc *polychromev1alpha1.ServiceDefinition) []*corev1.Pod {
	var found []*corev1.Pod
	for _, pod := range r.pods.List() {
		if madeFor(svc, pod) {
			found = append(found, pod)
		}
	}
	slices.SortFunc(found, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return found
}
