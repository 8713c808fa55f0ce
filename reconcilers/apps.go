package reconcilers

import (
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/workflow"
)

// AddApps puts the reconcilers of the apps' namespace on a manager:
// ServiceDefinition and Workflow. Workers is how many passes of each run at
// once, 0 for the framework's default. It returns whether all work is done,
// for tests.
func AddApps(m *framework.Manager, c Clients, namespace string, workers int) (idle func() bool) {
	definitions := ServiceDefinitions(m, c, namespace)
	services := AddServiceDefinitions(m, c, definitions, workers)
	workflows := AddWorkflows(m, c, definitions, workers, workflow.Options{Log: m.Log.With("controller", "workflow")})
	return func() bool { return services() && workflows() }
}

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
