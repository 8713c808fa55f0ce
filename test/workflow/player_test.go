package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	typedv1alpha1 "polychrome.dev/controller/generated/clientset/versioned/typed/polychrome/v1alpha1"
)

var (
	workflows   = polychromev1alpha1.SchemeGroupVersion.WithResource("workflows")
	definitions = polychromev1alpha1.SchemeGroupVersion.WithResource("servicedefinitions")
)

// hold is a finalizer of somebody else.
const hold = "example.test/hold"

// player is a user, the ServiceDefinition controller and a stranger in the
// namespace of one run. None of them does anything that no step says, so that
// runs compare.
type player struct {
	frameworktest.Run
	client versioned.Interface
}

func (p player) workflows() typedv1alpha1.WorkflowInterface {
	return p.client.PolychromeV1alpha1().Workflows(p.Namespace)
}

func (p player) definitions() typedv1alpha1.ServiceDefinitionInterface {
	return p.client.PolychromeV1alpha1().ServiceDefinitions(p.Namespace)
}

func step(name string, do func(context.Context) error) frameworktest.Step {
	return frameworktest.Step{Name: name, Do: do}
}

// stage is one that depends on others.
func stage(name string, dependsOn ...string) polychromev1alpha1.WorkflowStage {
	return polychromev1alpha1.WorkflowStage{
		Name: name, DependsOn: dependsOn, Image: "example.test/" + name + ":1", Env: map[string]string{"STAGE": name, "LEVEL": "info"},
	}
}

// makes is the user.
func (p player) makes(name string, stages ...polychromev1alpha1.WorkflowStage) frameworktest.Step {
	return step("made", func(ctx context.Context) error {
		_, err := p.workflows().Create(ctx, &polychromev1alpha1.Workflow{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       polychromev1alpha1.WorkflowSpec{Owner: "user:slack/U1", Stages: stages},
		}, metav1.CreateOptions{})
		return err
	})
}

// edits is the user.
func (p player) edits(name string, change func(*polychromev1alpha1.WorkflowSpec)) frameworktest.Step {
	return step("edited", func(ctx context.Context) error {
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			wf, err := p.workflows().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			change(&wf.Spec)
			_, err = p.workflows().Update(ctx, wf, metav1.UpdateOptions{})
			return err
		})
	})
}

// stages is the user, who writes all stages anew.
func (p player) stages(name string, stages ...polychromev1alpha1.WorkflowStage) frameworktest.Step {
	return p.edits(name, func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages = stages })
}

// raises is the ServiceDefinition controller: what is wanted now is rolled out.
func (p player) raises(names ...string) frameworktest.Step {
	return step("up "+strings.Join(names, " "), func(ctx context.Context) error {
		for _, name := range names {
			if err := p.says(name, "True", polychromev1alpha1.ReasonRolloutComplete, "").Do(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// says is the ServiceDefinition controller, about the present generation.
func (p player) says(name, status string, reason polychromev1alpha1.Reason, message string) frameworktest.Step {
	return step("says "+name+" "+string(reason), func(ctx context.Context) error {
		sd, err := p.definitions().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return p.patches(definitions, name, map[string]any{"status": map[string]any{
			"observedGeneration": sd.Generation, "ready": status == "True",
			"conditions": []any{map[string]any{
				"type": "Ready", "status": status, "reason": string(reason), "message": message,
				"observedGeneration": sd.Generation, "lastTransitionTime": "2026-01-01T00:00:00Z",
			}},
		}}, "status").Do(ctx)
	})
}

func (p player) patches(resource schema.GroupVersionResource, name string, change map[string]any, subresources ...string) frameworktest.Step {
	return step("patched "+name, func(ctx context.Context) error {
		body, err := json.Marshal(change)
		if err != nil {
			return err
		}
		// A field misspelt would be dropped, and the step do nothing.
		_, err = p.Live.Resource(resource).Namespace(p.Namespace).Patch(ctx, name, types.MergePatchType, body,
			metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}, subresources...)
		return err
	})
}

func (p player) deletes(resource schema.GroupVersionResource, name string) frameworktest.Step {
	return step("deleted "+name, func(ctx context.Context) error {
		return p.Live.Resource(resource).Namespace(p.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// holds is a stranger, whose finalizer keeps a ServiceDefinition, or who lets it
// go.
func (p player) holds(name string, held bool) frameworktest.Step {
	finalizers := []any{}
	if held {
		finalizers = []any{hold}
	}
	return p.patches(definitions, name, map[string]any{"metadata": map[string]any{"finalizers": finalizers}})
}

// takes is a stranger: a ServiceDefinition of theirs has the name.
func (p player) takes(name string) frameworktest.Step {
	return step("name taken", func(ctx context.Context) error {
		_, err := p.definitions().Create(ctx, &polychromev1alpha1.ServiceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "theirs"}},
			Spec:       polychromev1alpha1.ServiceDefinitionSpec{Image: "example.test/theirs:1"},
		}, metav1.CreateOptions{})
		return err
	})
}

func (p player) waits(d time.Duration) frameworktest.Step {
	return step(fmt.Sprint("after ", d), func(context.Context) error {
		p.Clock.Step(d)
		return nil
	})
}

// leaves fails unless that is what is left: a program that is wrong in every
// run alike is wrong all the same.
func (p player) leaves(want []string) frameworktest.Step {
	return step("the end", func(ctx context.Context) error {
		got, err := p.left(ctx)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err == nil && diff != "" {
			err = fmt.Errorf("something else is left (-want +got):\n%s", diff)
		}
		return err
	})
}

// left says in a line each what is left: workflows with their stages, then
// ServiceDefinitions.
func (p player) left(ctx context.Context) ([]string, error) {
	var lines []string
	flows, err := p.workflows().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range flows.Items {
		wf := &flows.Items[i]
		lines = append(lines, fmt.Sprintf("workflow %s %s %s", wf.Name, wf.Status.Phase, reasonOf(wf)))
		for _, entry := range wf.Status.Stages {
			reason, _, _ := strings.Cut(entry.Message, ": ")
			switch {
			case entry.Phase == polychromev1alpha1.StageWaiting:
				reason = entry.Message
			case reason == string(entry.Phase):
				reason = ""
			}
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("- %s %s %s", entry.Name, entry.Phase, reason)))
		}
	}
	children, err := p.definitions().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range children.Items {
		sd := &children.Items[i]
		line := sd.Name + " " + strings.TrimPrefix(sd.Spec.Image, "example.test/")
		if owner := metav1.GetControllerOf(sd); owner != nil {
			line += " of " + owner.Name
		}
		if sd.DeletionTimestamp != nil {
			line += " going"
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func reasonOf(wf *polychromev1alpha1.Workflow) polychromev1alpha1.Reason {
	if ready := meta.FindStatusCondition(wf.Status.Conditions, string(polychromev1alpha1.ConditionReady)); ready != nil {
		return polychromev1alpha1.Reason(ready.Reason)
	}
	return ""
}

// without are the stages but for some.
func without(stages []polychromev1alpha1.WorkflowStage, names ...string) []polychromev1alpha1.WorkflowStage {
	return slices.DeleteFunc(slices.Clone(stages), func(s polychromev1alpha1.WorkflowStage) bool { return slices.Contains(names, s.Name) })
}
