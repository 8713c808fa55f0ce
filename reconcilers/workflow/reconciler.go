package workflow

import (
	"context"
	"log/slog"
	"slices"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

// Workflows is what the reconciler asks of the kind it reconciles; a
// framework.Resource provides it.
type Workflows interface {
	Owner(wf *polychromev1alpha1.Workflow) owners.Owner
}

// ServiceDefinitions is what the reconciler asks of its children's kind; a
// framework.Resource provides it.
type ServiceDefinitions interface {
	Look(owner owners.Owner, config any) (framework.Child[*polychromev1alpha1.ServiceDefinition], error)
	Get(namespace, name string) (*polychromev1alpha1.ServiceDefinition, bool)
	List() []*polychromev1alpha1.ServiceDefinition
	Apply(ctx context.Context, owner owners.Owner, config any) (*polychromev1alpha1.ServiceDefinition, bool, error)
	Delete(ctx context.Context, sd *polychromev1alpha1.ServiceDefinition) error
}

// Options are what a Reconciler is made of.
type Options struct {
	// Workflows is the reconciled kind. Required.
	Workflows Workflows
	// ServiceDefinitions reads and writes the children. Required.
	ServiceDefinitions ServiceDefinitions
	// Log takes what happens. slog.Default() if nil.
	Log *slog.Logger
}

// Reconciler drives Workflows. It implements framework.Reconciler.
type Reconciler struct {
	workflows   Workflows
	definitions ServiceDefinitions
	log         *slog.Logger
}

var _ framework.Reconciler[*polychromev1alpha1.Workflow, World, Action] = (*Reconciler)(nil)

// New makes a Reconciler.
func New(o Options) *Reconciler {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Reconciler{workflows: o.Workflows, definitions: o.ServiceDefinitions, log: o.Log}
}

// MapServiceDefinition maps a ServiceDefinition to the workflows that it
// concerns: its owner, and each whose child may have its name. That somebody
// else's object has gone is news for those.
func MapServiceDefinition(sd *polychromev1alpha1.ServiceDefinition) []framework.Key {
	names := namesakes(sd.Name)
	if owner, found := owners.Controller(sd); found && owner.Kind == kind && !slices.Contains(names, owner.Name) {
		names = append(names, owner.Name)
	}
	keys := make([]framework.Key, 0, len(names))
	for _, name := range names {
		keys = append(keys, framework.Key{Namespace: sd.Namespace, Name: name})
	}
	return keys
}

// kind is that of the owners of children.
const kind = "Workflow"
