package servicedefinition

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

// Children are the objects of one kind of child; a framework.Resource provides
// them.
type Children[C framework.Object] interface {
	Look(owner owners.Owner, config any) (framework.Child[C], error)
	Apply(ctx context.Context, owner owners.Owner, config any) (C, bool, error)
}

// Deployments are children of which a field can be handed over.
type Deployments interface {
	Children[*appsv1.Deployment]
	Share(ctx context.Context, child *appsv1.Deployment, manager string, config any) error
}

// Pods are read only.
type Pods interface {
	List() []*corev1.Pod
}

// Options are what a Reconciler is made of.
type Options struct {
	// Deployments reads and writes the Deployments. Required.
	Deployments Deployments
	// Services reads and writes the Services. Required.
	Services Children[*corev1.Service]
	// Pods reads the pods; it lists none where they may not be read, and only
	// their words are missing then. Required.
	Pods Pods
}

// Reconciler drives ServiceDefinitions. It implements framework.Reconciler.
type Reconciler struct {
	deployments Deployments
	services    Children[*corev1.Service]
	pods        Pods
}

var _ framework.Reconciler[*polychromev1alpha1.ServiceDefinition, World, Action] = (*Reconciler)(nil)

// New makes a Reconciler.
func New(o Options) *Reconciler {
	return &Reconciler{deployments: o.Deployments, services: o.Services, pods: o.Pods}
}

// MapChild maps a Deployment or a Service to the ServiceDefinition of its name.
// It does not ask for the owner: that an object of somebody else has gone
// concerns the ServiceDefinition too. A key without one costs nothing.
func MapChild[C metav1.Object](child C) []framework.Key {
	return []framework.Key{{Namespace: child.GetNamespace(), Name: child.GetName()}}
}

// MapPod maps a pod to the ServiceDefinition that its label names.
func MapPod(pod *corev1.Pod) []framework.Key {
	name := pod.Labels[polychromev1alpha1.ServiceDefinitionLabel]
	if name == "" {
		return nil
	}
	return []framework.Key{{Namespace: pod.Namespace, Name: name}}
}
