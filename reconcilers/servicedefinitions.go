package reconcilers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/servicedefinition"
)

// AddServiceDefinitions puts the ServiceDefinition reconciler on a manager.
// Definitions are the manager's, from ServiceDefinitions, and workers is how
// many passes run at once, 0 for the framework's default. It returns whether
// all work is done, for tests.
func AddServiceDefinitions(
	m *framework.Manager, c Clients, definitions *framework.Resource[*polychromev1alpha1.ServiceDefinition], workers int,
) (idle func() bool) {
	namespace := definitions.Namespace
	deployments, services, pods := deployments(m, c, namespace), services(m, c, namespace), pods(m, c, namespace)
	controller := framework.New(m, framework.Options[*polychromev1alpha1.ServiceDefinition]{
		Name:     "servicedefinition",
		Resource: definitions,
		Watches: []framework.Watch{
			framework.Watches(deployments, servicedefinition.MapChild[*appsv1.Deployment]),
			framework.Watches(services, servicedefinition.MapChild[*corev1.Service]),
			framework.Watches(pods, servicedefinition.MapPod),
		},
		Conditions: func(svc *polychromev1alpha1.ServiceDefinition) *[]metav1.Condition { return &svc.Status.Conditions },
		Settled:    func(svc *polychromev1alpha1.ServiceDefinition) bool { return predates(svc.Status.Conditions) },
		Workers:    workers,
	}, servicedefinition.New(servicedefinition.Options{Deployments: deployments, Services: services, Pods: pods}))
	return controller.Idle
}

// deployments are all of the namespace: one of somebody else must be seen, too,
// to be left alone.
func deployments(m *framework.Manager, c Clients, namespace string) *framework.Resource[*appsv1.Deployment] {
	return framework.NewResource(m, framework.ResourceOptions[*appsv1.Deployment]{
		Resource:  appsv1.SchemeGroupVersion.WithResource("deployments"),
		Kind:      "Deployment",
		Namespace: namespace,
		Client:    c.UnaryKubernetes.AppsV1().Deployments(namespace),
		Informer: func(decoded[*appsv1.Deployment]) cache.SharedIndexInformer {
			return appsinformers.NewDeploymentInformer(c.WatchKubernetes, namespace, 0, cache.Indexers{})
		},
		Hints: hints("manifests/apps-namespace"),
	})
}

// services are all of the namespace, as deployments are.
func services(m *framework.Manager, c Clients, namespace string) *framework.Resource[*corev1.Service] {
	return framework.NewResource(m, framework.ResourceOptions[*corev1.Service]{
		Resource:  corev1.SchemeGroupVersion.WithResource("services"),
		Kind:      "Service",
		Namespace: namespace,
		Client:    c.UnaryKubernetes.CoreV1().Services(namespace),
		Informer: func(decoded[*corev1.Service]) cache.SharedIndexInformer {
			return coreinformers.NewServiceInformer(c.WatchKubernetes, namespace, 0, cache.Indexers{})
		},
		Hints: hints("manifests/apps-namespace"),
	})
}

// pods are those that our Deployments make. They are only read, and work goes
// on where that is not allowed.
func pods(m *framework.Manager, c Clients, namespace string) *framework.Resource[*corev1.Pod] {
	ours := labels.SelectorFromSet(labels.Set{polychromev1alpha1.ManagedByLabel: polychromev1alpha1.ManagedByValue})
	return framework.NewResource(m, framework.ResourceOptions[*corev1.Pod]{
		Resource:  corev1.SchemeGroupVersion.WithResource("pods"),
		Kind:      "Pod",
		Namespace: namespace,
		Client:    c.UnaryKubernetes.CoreV1().Pods(namespace),
		Informer: func(decoded[*corev1.Pod]) cache.SharedIndexInformer {
			return coreinformers.NewFilteredPodInformer(c.WatchKubernetes, namespace, 0, cache.Indexers{},
				func(o *metav1.ListOptions) { o.LabelSelector = ours.String() })
		},
		Selector: ours,
		Optional: true,
		Hints:    hints("manifests/apps-namespace"),
	})
}
