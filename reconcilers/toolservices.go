package reconcilers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/toolservice"
)

// AddToolServices puts the ToolService reconciler on a manager. It fills the
// resources and Wake of o; namespace is where ToolServices live, with their
// Secrets, and workers how many passes run at once, 0 for the framework's
// default. It returns whether all work is done, probes included, for tests.
func AddToolServices(m *framework.Manager, c Clients, namespace string, workers int, o toolservice.Options) (idle func() bool) {
	toolServices := framework.NewResource(m, framework.ResourceOptions[*polychromev1alpha1.ToolService]{
		Resource:  polychromev1alpha1.SchemeGroupVersion.WithResource("toolservices"),
		Kind:      "ToolService",
		Namespace: namespace,
		Client:    c.Unary.PolychromeV1alpha1().ToolServices(namespace),
		Informer: tolerant(c.Watch, c.Watch.PolychromeV1alpha1().RESTClient(), namespace,
			"toolservices", &polychromev1alpha1.ToolService{}),
		CheckSchema: true,
		Hints:       hints("manifests/base"),
	})
	probed := &framework.Trigger{}
	o.ToolServices, o.Secrets, o.Wake = toolServices, c.UnaryKubernetes.CoreV1().Secrets(namespace), probed.Fire
	r := toolservice.New(o)
	controller := framework.New(m, framework.Options[*polychromev1alpha1.ToolService]{
		Name:       "toolservice",
		Resource:   toolServices,
		Triggers:   []*framework.Trigger{probed},
		Conditions: func(ts *polychromev1alpha1.ToolService) *[]metav1.Condition { return &ts.Status.Conditions },
		Settled:    func(ts *polychromev1alpha1.ToolService) bool { return predates(ts.Status.Conditions) },
		Beside:     r.Probes(),
		Workers:    workers,
	}, r)
	return controller.Idle
}
