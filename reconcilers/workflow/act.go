package workflow

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// Act carries out one action. What the API server refuses for what it is, as
// by a quota or a webhook, is learnt and not returned: the actions that follow
// are about other stages, which must not wait for this one. It is tried again
// with the next look. Any other failure ends acting.
func (r *Reconciler) Act(ctx context.Context, wf *polychromev1alpha1.Workflow, a Action) (framework.Result, error) {
	applied, err := r.carryOut(ctx, wf, a)
	switch framework.Classify(err) {
	case framework.ClassInvalid, framework.ClassForbidden:
		r.log.WarnContext(ctx, "the API server refuses a stage", "workflow", wf.Name, "namespace", wf.Namespace,
			"action", a.String(), "error", err)
		return framework.Result{Learned: Learned{Refused: err}}, nil
	}
	if err != nil || applied == nil {
		return framework.Result{}, err
	}
	return framework.Result{Learned: Learned{Applied: applied}}, nil
}

// carryOut returns the ServiceDefinition if it was written.
func (r *Reconciler) carryOut(ctx context.Context, wf *polychromev1alpha1.Workflow, a Action) (*polychromev1alpha1.ServiceDefinition, error) {
	switch a.Kind {
	case ApplyStage:
		return r.applyStage(ctx, wf, a)
	case RemoveStage:
		return nil, r.definitions.Delete(ctx, &polychromev1alpha1.ServiceDefinition{ObjectMeta: metav1.ObjectMeta{
			Namespace: wf.Namespace, Name: a.Child, UID: a.UID, ResourceVersion: a.Version,
		}})
	}
	return nil, fmt.Errorf("acting on workflow %s: no such action: %s", wf.Name, a.Kind)
}

// applyStage does not make a child that was to be mended and has gone
// meanwhile: nobody has asked whether its gate is open.
func (r *Reconciler) applyStage(ctx context.Context, wf *polychromev1alpha1.Workflow, a Action) (*polychromev1alpha1.ServiceDefinition, error) {
	g := graphOf(wf.Spec.Stages)
	i, found := g.at[a.Stage]
	if !found {
		return nil, fmt.Errorf("acting on workflow %s: no such stage: %s", wf.Name, a.Stage)
	}
	if child, _ := r.definitions.Get(wf.Namespace, a.Child); a.UID != "" && (child == nil || child.UID != a.UID) {
		return nil, nil
	}
	applied, written, err := r.definitions.Apply(ctx, r.workflows.Owner(wf), serviceDefinitionFor(wf, g.stages[i]))
	if err != nil || !written {
		return nil, err
	}
	return applied, nil
}
