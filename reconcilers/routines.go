package reconcilers

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/routine"
)

// AddRoutines puts the Routine reconciler on a manager. It fills the
// leftovers of o; namespace is where routines live, and workers how many
// passes run at once, 0 for the framework's default. It returns whether all
// work is done, for tests.
func AddRoutines(m *framework.Manager, c Clients, namespace string, workers int, o routine.Options) (idle func() bool) {
	routines := framework.NewResource(m, framework.ResourceOptions[*polychromev1alpha1.Routine]{
		Resource:  polychromev1alpha1.SchemeGroupVersion.WithResource("routines"),
		Kind:      "Routine",
		Namespace: namespace,
		Client:    c.Unary.PolychromeV1alpha1().Routines(namespace),
		Informer: tolerant(c.Watch, c.Watch.PolychromeV1alpha1().RESTClient(), namespace,
			"routines", &polychromev1alpha1.Routine{}),
		CheckSchema: true,
		Hints:       hints("manifests/base"),
	})
	cronJobs := removable(m, c, namespace, "CronJob", batchv1.SchemeGroupVersion.WithResource("cronjobs"))
	accounts := removable(m, c, namespace, "ServiceAccount", corev1.SchemeGroupVersion.WithResource("serviceaccounts"))
	o.CronJobs, o.ServiceAccounts = cronJobs, accounts
	controller := framework.New(m, framework.Options[*polychromev1alpha1.Routine]{
		Name:     "routine",
		Resource: routines,
		Watches: []framework.Watch{
			framework.Watches(cronJobs, routine.MapLeftover), framework.Watches(accounts, routine.MapLeftover),
		},
		Conditions: func(r *polychromev1alpha1.Routine) *[]metav1.Condition { return &r.Status.Conditions },
		Settled:    func(r *polychromev1alpha1.Routine) bool { return predates(r.Status.Conditions) },
		Workers:    workers,
	}, routine.New(o))
	return controller.Idle
}
