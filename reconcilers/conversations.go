package reconcilers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

// AddConversations puts the Conversation reconciler on a manager. It fills
// the resources and Wake of o; namespace is where conversations live, and
// workers how many passes run at once, 0 for the framework's default. It
// returns whether all work is done, for tests.
func AddConversations(m *framework.Manager, c Clients, namespace string, workers int, o conversation.Options) (idle func() bool) {
	conversations := framework.NewResource(m, framework.ResourceOptions[*polychromev1alpha1.Conversation]{
		Resource:  polychromev1alpha1.SchemeGroupVersion.WithResource("conversations"),
		Kind:      "Conversation",
		Namespace: namespace,
		Client:    c.Unary.PolychromeV1alpha1().Conversations(namespace),
		Informer: tolerant(c.Watch, c.Watch.PolychromeV1alpha1().RESTClient(), namespace,
			"conversations", &polychromev1alpha1.Conversation{}),
		CheckSchema: true,
		Hints:       hints("manifests/base"),
	})
	claims, watches := claimsOf(m, c, namespace, o.ClaimVersion)
	slotFree := &framework.Trigger{}
	o.Conversations, o.Claims, o.Wake = conversations, claims, slotFree.Fire
	r := conversation.New(o)
	m.Registry.MustRegister(slots.NewCollector(m.Names.MetricPrefix, r.Rolls))
	controller := framework.New(m, framework.Options[*polychromev1alpha1.Conversation]{
		Name:       "conversation",
		Resource:   conversations,
		Watches:    watches,
		Triggers:   []*framework.Trigger{slotFree},
		Conditions: func(conv *polychromev1alpha1.Conversation) *[]metav1.Condition { return &conv.Status.Conditions },
		Settled:    func(conv *polychromev1alpha1.Conversation) bool { return predates(conv.Status.Conditions) },
		Workers:    workers,
	}, r)
	return controller.Idle
}
