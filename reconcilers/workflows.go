package reconcilers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/workflow"
)

// AddWorkflows puts the Workflow reconciler on a manager. It fills the
// resources of o; definitions are the manager's, from ServiceDefinitions, in
// whose namespace the workflows are, and workers is how many passes run at
// once, 0 for the framework's default. It returns whether all work is done,
// for tests.
func AddWorkflows(
	m *framework.Manager, c Clients, definitions *framework.Resource[*polychromev1alpha1.ServiceDefinition], workers int, o workflow.Options,
) (idle func() bool) {
	namespace := definitions.Namespace
	workflows := framework.NewResource(m, framework.ResourceOptions[*polychromev1alpha1.Workflow]{
		Resource:  polychromev1alpha1.SchemeGroupVersion.WithResource("workflows"),
		Kind:      "Workflow",
		Namespace: namespace,
		Client:    c.Unary.PolychromeV1alpha1().Workflows(namespace),
		Informer: tolerant(c.Watch, c.Watch.PolychromeV1alpha1().RESTClient(), namespace,
			"workflows", &polychromev1alpha1.Workflow{}),
		CheckSchema: true,
		Hints:       hints("manifests/apps-namespace"),
	})
	o.Workflows, o.ServiceDefinitions = workflows, definitions
	controller := framework.New(m, framework.Options[*polychromev1alpha1.Workflow]{
		Name:       "workflow",
		Resource:   workflows,
		Watches:    []framework.Watch{framework.Watches(definitions, workflow.MapServiceDefinition)},
		Conditions: func(wf *polychromev1alpha1.Workflow) *[]metav1.Condition { return &wf.Status.Conditions },
		Settled:    func(wf *polychromev1alpha1.Workflow) bool { return predates(wf.Status.Conditions) },
		Workers:    workers,
	}, workflow.New(o))
	return controller.Idle
}
