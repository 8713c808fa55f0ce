package routine

import (
	"context"
	"log/slog"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// Leftovers is what the reconciler asks of a kind that older releases made;
// a framework.Resource of the kind's metadata provides it.
type Leftovers interface {
	Find(namespace, name string) (*metav1.PartialObjectMetadata, bool, framework.State)
	Delete(ctx context.Context, obj *metav1.PartialObjectMetadata) error
}

// Options are what a Reconciler is made of.
type Options struct {
	// CronJobs and ServiceAccounts read and delete the trigger of older
	// releases. Required.
	CronJobs, ServiceAccounts Leftovers
	// Log takes what happens. slog.Default() if nil.
	Log *slog.Logger
}

// Reconciler drives Routines. It implements framework.Reconciler.
type Reconciler struct {
	leftovers map[Leftover]Leftovers
	log       *slog.Logger
}

var _ framework.Reconciler[*polychromev1alpha1.Routine, World, Action] = (*Reconciler)(nil)

// New makes a Reconciler.
func New(o Options) *Reconciler {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Reconciler{
		leftovers: map[Leftover]Leftovers{CronJob: o.CronJobs, ServiceAccount: o.ServiceAccounts},
		log:       o.Log,
	}
}
