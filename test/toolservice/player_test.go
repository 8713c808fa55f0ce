package toolservice

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
)

var toolServices = polychromev1alpha1.SchemeGroupVersion.WithResource("toolservices")

// player is a user in the namespace of one run, and the servers.
type player struct {
	frameworktest.Run
	client  versioned.Interface
	kube    kubernetes.Interface
	servers *servers
}

func (p player) step(name string, do func(context.Context) error) frameworktest.Step {
	return frameworktest.Step{Name: name, Do: do}
}

type change func(*polychromev1alpha1.ToolService)

func bearer(secret string) change {
	return func(ts *polychromev1alpha1.ToolService) {
		ts.Spec.Auth = &polychromev1alpha1.ToolServiceAuth{BearerSecretRef: &polychromev1alpha1.SecretKeyReference{Name: secret}}
	}
}

// makes adds a ToolService whose server has its name.
func (p player) makes(name string, changes ...change) frameworktest.Step {
	return p.step("made", func(ctx context.Context) error {
		ts := &polychromev1alpha1.ToolService{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: polychromev1alpha1.ToolServiceSpec{
				Name: "com.example/" + name, Remotes: []polychromev1alpha1.ToolServiceRemote{{URL: urlOf(name)}},
			},
		}
		for _, change := range changes {
			change(ts)
		}
		_, err := p.client.PolychromeV1alpha1().ToolServices(p.Namespace).Create(ctx, ts, metav1.CreateOptions{})
		return err
	})
}

func (p player) edits(name string, change map[string]any) frameworktest.Step {
	return p.step("edited", func(ctx context.Context) error {
		body, err := json.Marshal(change)
		if err != nil {
			return err
		}
		// A field misspelt would be dropped, and the step do nothing.
		_, err = p.Live.Resource(toolServices).Namespace(p.Namespace).Patch(ctx, name, types.MergePatchType, body,
			metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
		return err
	})
}

// moves points a ToolService at the server of another name.
func (p player) moves(name, to string) frameworktest.Step {
	return p.edits(name, map[string]any{"spec": map[string]any{"remotes": []any{map[string]any{"url": urlOf(to)}}}})
}

func (p player) annotates(name, key, value string) frameworktest.Step {
	return p.edits(name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
}

func (p player) deletes(name string) frameworktest.Step {
	return p.step("deleted", func(ctx context.Context) error {
		return p.client.PolychromeV1alpha1().ToolServices(p.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// serves has the server of a name answer from now on; nil takes it down.
func (p player) serves(name string, reply answer) frameworktest.Step {
	return p.step("served", func(context.Context) error {
		p.servers.set(name, reply)
		return nil
	})
}

// hides makes a Secret, in the place of the one that was there.
func (p player) hides(name string, kind corev1.SecretType, data map[string]string) frameworktest.Step {
	return p.step("Secret made", func(ctx context.Context) error {
		secrets := p.kube.CoreV1().Secrets(p.Namespace)
		_ = secrets.Delete(ctx, name, metav1.DeleteOptions{})
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: kind, StringData: data}
		if kind == corev1.SecretTypeServiceAccountToken {
			secret.Annotations = map[string]string{corev1.ServiceAccountNameKey: "default"}
		}
		_, err := secrets.Create(ctx, secret, metav1.CreateOptions{})
		return err
	})
}

func (p player) waits(d time.Duration) frameworktest.Step {
	return p.step(fmt.Sprint("after ", d), func(context.Context) error {
		p.Clock.Step(d)
		return nil
	})
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
	list, err := p.client.PolychromeV1alpha1().ToolServices(p.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var lines []string
	for i := range list.Items {
		ts := &list.Items[i]
		var names []string
		for _, t := range ts.Status.Tools {
			names = append(names, t.Name)
		}
		said := []string{ts.Name, string(ts.Status.Phase), conditionOf(ts, "Ready"), conditionOf(ts, "Reachable"), strings.Join(names, ",")}
		lines = append(lines, strings.Join(strings.Fields(strings.Join(said, " ")), " "))
	}
	return lines, nil
}
