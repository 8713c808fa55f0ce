package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
)

// player is a user, the control plane and the operator in the namespace of
// one run. None of them does anything that no step says, so that runs compare.
type player struct {
	frameworktest.Run
	client versioned.Interface
}

func (p player) step(name string, do func(context.Context) error) frameworktest.Step {
	return frameworktest.Step{Name: name, Do: do}
}

// does is several things at once.
func (p player) does(steps ...frameworktest.Step) frameworktest.Step {
	return p.step("together "+steps[0].Name, func(ctx context.Context) error {
		for _, step := range steps {
			if err := step.Do(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p player) makes(name string) frameworktest.Step {
	return p.step("made", func(ctx context.Context) error {
		_, err := p.client.PolychromeV1alpha1().Conversations(p.Namespace).Create(ctx, &polychromev1alpha1.Conversation{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 600, ToolsEnabled: []string{"search"}},
		}, metav1.CreateOptions{})
		return err
	})
}

// boots is the operator: it makes a claim ready.
func (p player) boots(name, address string) frameworktest.Step {
	return p.patches("booted", claims, name, "status", map[string]any{"status": map[string]any{
		"sandbox": map[string]any{"name": name, "podIPs": []any{address}},
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "DependenciesReady", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
		}},
	}})
}

// ends is the operator: the pod of a claim has failed.
func (p player) ends(name string) frameworktest.Step {
	return p.patches("ended", claims, name, "status", map[string]any{"status": map[string]any{
		"conditions": []any{
			map[string]any{"type": "Ready", "status": "False", "reason": "SandboxNotReady", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"},
			map[string]any{"type": "Finished", "status": "True", "reason": "PodFailed", "message": "exit code 1", "lastTransitionTime": "2026-01-01T00:00:00Z"},
		},
	}})
}

// says is the control plane: it writes status fields beside the program's.
func (p player) says(what, name string, status map[string]any) frameworktest.Step {
	return p.patches(what, conversations, name, "status", map[string]any{"status": status})
}

func (p player) edits(name string, change map[string]any) frameworktest.Step {
	return p.patches("edited", conversations, name, "", change)
}

func (p player) patches(what string, resource schema.GroupVersionResource, name, sub string, change map[string]any) frameworktest.Step {
	return p.step(what, func(ctx context.Context) error {
		body, err := json.Marshal(change)
		if err != nil {
			return err
		}
		var subs []string
		if sub != "" {
			subs = append(subs, sub)
		}
		// A field misspelt would be dropped, and the step do nothing.
		_, err = p.Live.Resource(resource).Namespace(p.Namespace).Patch(ctx, name, types.MergePatchType, body,
			metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}, subs...)
		return err
	})
}

func (p player) deletes(resource schema.GroupVersionResource, name string) frameworktest.Step {
	return p.step("deleted "+resource.Resource, func(ctx context.Context) error {
		return p.Live.Resource(resource).Namespace(p.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// takes is somebody else: a claim of theirs has the name.
func (p player) takes(name string) frameworktest.Step {
	return p.step("name taken", func(ctx context.Context) error {
		_, err := p.client.AgentSandboxV1alpha1().SandboxClaims(p.Namespace).Create(ctx, &agentsandboxv1alpha1.SandboxClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "theirs"}},
			Spec:       agentsandboxv1alpha1.SandboxClaimSpec{SandboxTemplateRef: agentsandboxv1alpha1.SandboxTemplateRef{Name: "theirs"}},
		}, metav1.CreateOptions{})
		return err
	})
}

func (p player) waits(d time.Duration) frameworktest.Step {
	return p.step(fmt.Sprint("after ", d), func(context.Context) error {
		p.Clock.Step(d)
		return nil
	})
}

// turns is the control plane at the beginning of a turn, in a conversation
// that may have been closed.
func (p player) turns(name string) frameworktest.Step { return p.turnsAfter(0, name) }

// turnsAfter is a turn that begins when the time has passed, and that is
// recorded before the program finds out that it has.
func (p player) turnsAfter(d time.Duration, name string) frameworktest.Step {
	return p.step("a turn", func(ctx context.Context) error {
		status := map[string]any{"closed": false, "closedAt": nil, "lastActivityUnix": p.Clock.Now().Add(d).Unix()}
		if err := p.says("", name, status).Do(ctx); err != nil {
			return err
		}
		p.Clock.Step(d)
		return nil
	})
}

// closes is the control plane.
func (p player) closes(name string) frameworktest.Step {
	return p.says("closed", name, map[string]any{"closed": true})
}

// ages makes a unit one of an older generation. The program mends its mark on
// the claim and records what the claim says: two writes before it rolls.
func (p player) ages(name string) frameworktest.Step {
	return p.patches("an older generation", claims, name, "", map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{polychromev1alpha1.HarnessImageGenerationAnnotation: "a"},
	}})
}

func (p player) pauses(name string, value any) frameworktest.Step {
	return p.edits(name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{polychromev1alpha1.PausedAnnotation: value}}})
}

// leaves fails unless that is what is left: a program that is wrong in every
// run alike is wrong all the same.
func (p player) leaves(want []string) frameworktest.Step {
	return p.step("the end", func(ctx context.Context) error {
		got, err := p.left(ctx)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err == nil && diff != "" {
			err = fmt.Errorf("something else is left (-want +got):\n%s", diff)
		}
		return err
	})
}

// left says in a line each what is left.
func (p player) left(ctx context.Context) ([]string, error) {
	var lines []string
	convs, err := p.client.PolychromeV1alpha1().Conversations(p.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, conv := range convs.Items {
		s := conv.Status
		lines = append(lines, words("conversation", conv.Name, reasonOf(&conv), s.SandboxClaimName, s.HarnessImageGeneration, s.PodIP))
	}
	units, err := p.client.AgentSandboxV1alpha1().SandboxClaims(p.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, claim := range units.Items {
		ttl, owner := int32(0), ""
		if l := claim.Spec.Lifecycle; l != nil && l.TTLSecondsAfterFinished != nil {
			ttl = *l.TTLSecondsAfterFinished
		}
		if controller := metav1.GetControllerOf(&claim); controller != nil {
			owner = controller.Name
		}
		lines = append(lines, words("claim", claim.Name, "for", owner, claim.Annotations[polychromev1alpha1.HarnessImageGenerationAnnotation], ttl))
	}
	return lines, nil
}

// words are the values that are not empty.
func words(values ...any) string {
	var said []string
	for _, value := range values {
		if text := fmt.Sprint(value); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, " ")
}
