package workflow

import (
	"context"
	"slices"
	"strings"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

// World is everything a pass knows beside the workflow itself.
type World struct {
	// Children has the child of each stage, by the name of the stage.
	Children map[string]Child
	// Leftovers are the workflow's own ServiceDefinitions that no stage of the
	// spec has, in the order of their names.
	Leftovers []*polychromev1alpha1.ServiceDefinition
}

// Child is what stands under the name of a stage's ServiceDefinition.
type Child struct {
	framework.Child[*polychromev1alpha1.ServiceDefinition]
	// Unread says why it could not be compared with what the spec wants; nil
	// if it could. It does not keep the pass from other stages.
	Unread error
}

// Observe reads the children from the cache, also those of a workflow that is
// invalid: they run on, and the status says how they are.
func (r *Reconciler) Observe(_ context.Context, wf *polychromev1alpha1.Workflow) (World, error) {
	if wf.DeletionTimestamp != nil {
		return World{}, nil
	}
	owner := r.workflows.Owner(wf)
	w := World{Children: make(map[string]Child, len(wf.Spec.Stages))}
	kept := make(map[string]bool, len(wf.Spec.Stages))
	for _, stage := range distinct(wf.Spec.Stages) {
		child, err := r.definitions.Look(owner, serviceDefinitionFor(wf, stage))
		w.Children[stage.Name] = Child{Child: child, Unread: err}
		kept[childName(wf.Name, stage.Name)] = true
	}
	for _, found := range r.definitions.List() {
		if !kept[found.Name] && owners.Judge(owner, found) == owners.Ours {
			w.Leftovers = append(w.Leftovers, found)
		}
	}
	slices.SortFunc(w.Leftovers, func(a, b *polychromev1alpha1.ServiceDefinition) int { return strings.Compare(a.Name, b.Name) })
	return w, nil
}
