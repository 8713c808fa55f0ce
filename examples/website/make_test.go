package main

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// site makes a Website of two replicas and the fifth generation.
func site(with ...func(*webv1alpha1.Website)) *webv1alpha1.Website {
	made := &webv1alpha1.Website{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hello", UID: "uid-1", Generation: 5},
		Spec:       webv1alpha1.WebsiteSpec{HTML: "<h1>Hello</h1>", Replicas: 2},
	}
	for _, change := range with {
		change(made)
	}
	return made
}

func deleting(made *webv1alpha1.Website) { made.DeletionTimestamp = &metav1.Time{Time: now} }

// settled makes a world in which nothing is left to do.
func settled(with ...func(*world)) world {
	made := world{
		page:       framework.Child[*corev1.ConfigMap]{Object: &corev1.ConfigMap{}, Present: true, Ownership: owners.Ours},
		deployment: framework.Child[*appsv1.Deployment]{Object: deployment(), Present: true, Ownership: owners.Ours},
	}
	for _, change := range with {
		change(&made)
	}
	return made
}

// deployment makes one that is rolled out with two replicas.
func deployment(with ...func(*appsv1.Deployment)) *appsv1.Deployment {
	made := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 3}, Status: appsv1.DeploymentStatus{
		ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2,
	}}
	for _, change := range with {
		change(made)
	}
	return made
}

// rolling is in the middle of a rollout: its own controller has not seen the
// newest spec, though all looks well.
func rolling(d *appsv1.Deployment) { d.Generation++ }
