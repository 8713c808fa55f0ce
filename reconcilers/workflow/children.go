package workflow

import (
	"cmp"
	"slices"
	"strings"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	applyv1alpha1 "polychrome.dev/controller/generated/applyconfiguration/polychrome/v1alpha1"
)

// serviceDefinitionFor is the ServiceDefinition that a stage should have. Its
// description says what one service is for, which the spec of a workflow does
// not tell, and is left to whoever writes it.
func serviceDefinitionFor(
	wf *polychromev1alpha1.Workflow, stage polychromev1alpha1.WorkflowStage,
) *applyv1alpha1.ServiceDefinitionApplyConfiguration {
	name := childName(wf.Name, stage.Name)
	replicas := polychromev1alpha1.DefaultReplicas
	if stage.Replicas != nil {
		replicas = *stage.Replicas
	}
	spec := applyv1alpha1.ServiceDefinitionSpec().
		WithImage(stage.Image).
		WithPort(cmp.Or(stage.Port, polychromev1alpha1.DefaultPort)).
		WithReplicas(replicas).
		WithEnv(stage.Env)
	if stage.Template != "" {
		spec.WithTemplate(stage.Template)
	}
	if wf.Spec.Owner != "" {
		spec.WithOwner(wf.Spec.Owner)
	}
	child := applyv1alpha1.ServiceDefinition(name, wf.Namespace).
		WithLabels(map[string]string{
			polychromev1alpha1.AppNameLabel:   name,
			polychromev1alpha1.ManagedByLabel: polychromev1alpha1.ManagedByValue,
			polychromev1alpha1.WorkflowLabel:  wf.Name,
			polychromev1alpha1.StageLabel:     stage.Name,
		}).
		WithSpec(spec)
	if len(stage.DependsOn) > 0 {
		child.WithAnnotations(map[string]string{polychromev1alpha1.DependsOnAnnotation: dependsOn(stage)})
	}
	return child
}

// dependsOn is what a stage depends on, as its child remembers it.
func dependsOn(stage polychromev1alpha1.WorkflowStage) string {
	names := slices.Sorted(slices.Values(stage.DependsOn))
	return strings.Join(slices.Compact(names), ",")
}
