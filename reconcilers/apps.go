package reconcilers

import (
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// ServiceDefinitions makes the resource of ServiceDefinitions. One controller
// reconciles them and another one makes them: both are given the same
// resource, so that there is one watch and one cache.
func ServiceDefinitions(m *framework.Manager, c Clients, namespace string) *framework.Resource[*polychromev1alpha1.ServiceDefinition] {
	return framework.NewResource(m, framework.ResourceOptions[*polychromev1alpha1.ServiceDefinition]{
		Resource:  polychromev1alpha1.SchemeGroupVersion.WithResource("servicedefinitions"),
		Kind:      "ServiceDefinition",
		Namespace: namespace,
		Client:    c.Unary.PolychromeV1alpha1().ServiceDefinitions(namespace),
		Informer: tolerant(c.Watch, c.Watch.PolychromeV1alpha1().RESTClient(), namespace,
			"servicedefinitions", &polychromev1alpha1.ServiceDefinition{}),
		CheckSchema: true,
		Hints:       hints("manifests/apps-namespace"),
	})
}
