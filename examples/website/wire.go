package main

import (
	"errors"
	"log/slog"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/examples/website/generated/clientset/versioned"
	"polychrome.dev/controller/framework"
)

// component is the program in events and metrics.
const component = "website-controller"

// newManager puts everything together for one namespace.
func newManager(config *rest.Config, namespace string, log *slog.Logger, events record.EventRecorder) (*framework.Manager, error) {
	connections := framework.Connect(config)
	manager, err := framework.NewManager(framework.ManagerOptions{
		Names: framework.Names{
			Domain: webv1alpha1.GroupName, FieldManager: webv1alpha1.GroupName + "/controller",
			MetricPrefix: "website", Component: component,
		},
		Connections: connections, Log: log, Events: events,
	})
	if err != nil {
		return nil, err
	}
	// Requests have a deadline, watches have none: each has its connection.
	kube, kubeWatch, kubeErr := framework.Clients(connections, kubernetes.NewForConfig)
	web, webWatch, webErr := framework.Clients(connections, versioned.NewForConfig)
	if err := errors.Join(kubeErr, webErr); err != nil {
		return nil, err
	}
	r := &reconciler{
		websites:    websites(manager, web, webWatch, namespace),
		pages:       configMaps(manager, kube, kubeWatch, namespace),
		deployments: deployments(manager, kube, kubeWatch, namespace),
	}
	framework.New(manager, framework.Options[*webv1alpha1.Website]{
		Name:     "website",
		Resource: r.websites,
		Watches: []framework.Watch{
			framework.Watches(r.pages, namesake[*corev1.ConfigMap]),
			framework.Watches(r.deployments, namesake[*appsv1.Deployment]),
		},
		Conditions: func(site *webv1alpha1.Website) *[]metav1.Condition { return &site.Status.Conditions },
	}, r)
	return manager, nil
}

// websites decodes each Website by itself, so that one which does not fit its
// type, after a change of the definition, hides no other.
func websites(m *framework.Manager, web, watch versioned.Interface, namespace string) *framework.Resource[*webv1alpha1.Website] {
	return framework.NewResource(m, framework.ResourceOptions[*webv1alpha1.Website]{
		Resource: webv1alpha1.SchemeGroupVersion.WithResource("websites"), Kind: "Website", Namespace: namespace,
		CheckSchema: true, Client: web.WebV1alpha1().Websites(namespace),
		Informer: func(decoded func(*webv1alpha1.Website, []byte, error)) cache.SharedIndexInformer {
			source := framework.TolerantListWatch(watch.WebV1alpha1().RESTClient(), namespace, "websites", decoded)
			return cache.NewSharedIndexInformer(source, &webv1alpha1.Website{}, 0, cache.Indexers{})
		},
	})
}

// configMaps are all of the namespace: those of somebody else must be seen,
// too, to be left alone.
func configMaps(m *framework.Manager, kube, watch kubernetes.Interface, namespace string) *framework.Resource[*corev1.ConfigMap] {
	return framework.NewResource(m, framework.ResourceOptions[*corev1.ConfigMap]{
		Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap", Namespace: namespace,
		Client: kube.CoreV1().ConfigMaps(namespace),
		Informer: func(func(*corev1.ConfigMap, []byte, error)) cache.SharedIndexInformer {
			return coreinformers.NewConfigMapInformer(watch, namespace, 0, cache.Indexers{})
		},
	})
}

func deployments(m *framework.Manager, kube, watch kubernetes.Interface, namespace string) *framework.Resource[*appsv1.Deployment] {
	return framework.NewResource(m, framework.ResourceOptions[*appsv1.Deployment]{
		Resource: appsv1.SchemeGroupVersion.WithResource("deployments"), Kind: "Deployment", Namespace: namespace,
		Client: kube.AppsV1().Deployments(namespace),
		Informer: func(func(*appsv1.Deployment, []byte, error)) cache.SharedIndexInformer {
			return appsinformers.NewDeploymentInformer(watch, namespace, 0, cache.Indexers{})
		},
	})
}
