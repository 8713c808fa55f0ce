package servicedefinition

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
)

var (
	definitions = polychromev1alpha1.SchemeGroupVersion.WithResource("servicedefinitions")
	deployments = appsv1.SchemeGroupVersion.WithResource("deployments")
	services    = corev1.SchemeGroupVersion.WithResource("services")
)

// player is a user and the controllers of Kubernetes in the namespace of one
// run. None of them does anything that no step says, so that runs compare.
type player struct {
	frameworktest.Run
	client versioned.Interface
	kube   kubernetes.Interface
}

func (p player) step(name string, do func(context.Context) error) frameworktest.Step {
	return frameworktest.Step{Name: name, Do: do}
}

func (p player) makes(name string) frameworktest.Step {
	return p.step("made", func(ctx context.Context) error {
		_, err := p.client.PolychromeV1alpha1().ServiceDefinitions(p.Namespace).Create(ctx, sample(name), metav1.CreateOptions{})
		return err
	})
}

// rolls is the controller of Deployments: it says that one is rolled out.
func (p player) rolls(name string) frameworktest.Step {
	return p.step("rolled out", func(ctx context.Context) error {
		d, err := p.kube.AppsV1().Deployments(p.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		count := *d.Spec.Replicas
		return p.patches("", deployments, name, "status", map[string]any{"status": map[string]any{
			"observedGeneration": d.Generation, "replicas": count, "updatedReplicas": count, "readyReplicas": count, "availableReplicas": count,
		}}).Do(ctx)
	})
}

// scales is an autoscaler.
func (p player) scales(name string, replicas int) frameworktest.Step {
	return p.patches("scaled", deployments, name, "scale", map[string]any{"spec": map[string]any{"replicas": replicas}})
}

func (p player) edits(name string, spec map[string]any) frameworktest.Step {
	return p.patches("edited", definitions, name, "", map[string]any{"spec": spec})
}

func (p player) pauses(name string, value any) frameworktest.Step {
	return p.patches("paused", definitions, name, "", map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{polychromev1alpha1.PausedAnnotation: value},
	}})
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
			metav1.PatchOptions{FieldManager: "somebody", FieldValidation: metav1.FieldValidationStrict}, subs...)
		return err
	})
}

func (p player) deletes(resource schema.GroupVersionResource, name string) frameworktest.Step {
	return p.step("deleted "+resource.Resource, func(ctx context.Context) error {
		return p.Live.Resource(resource).Namespace(p.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// takes is somebody else: a Service of theirs has the name.
func (p player) takes(name string) frameworktest.Step {
	return p.step("name taken", func(ctx context.Context) error {
		_, err := p.kube.CoreV1().Services(p.Namespace).Create(ctx, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 4000}}},
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

// leaves fails unless that is what is left: a program that is wrong in every
// run alike is wrong all the same.
func (p player) leaves(want []string) frameworktest.Step {
	return p.step("the end", func(ctx context.Context) error {
		got, err := p.left(ctx)
		if diff := cmp.Diff(want, got, cmpEmpty); err == nil && diff != "" {
			err = fmt.Errorf("something else is left (-want +got):\n%s", diff)
		}
		return err
	})
}

// left says in a line each what is left.
func (p player) left(ctx context.Context) ([]string, error) {
	var lines []string
	found, err := p.client.PolychromeV1alpha1().ServiceDefinitions(p.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	live := map[types.UID]bool{}
	for _, svc := range found.Items {
		live[svc.UID] = true
		lines = append(lines, fmt.Sprintln("definition", svc.Name, readyOf(&svc).Reason, svc.Status.AvailableReplicas))
	}
	workloads, err := p.kube.AppsV1().Deployments(p.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, d := range workloads.Items {
		c := d.Spec.Template.Spec.Containers[0]
		lines = append(lines, fmt.Sprintln("deployment", d.Name, of(&d, live), c.Image, c.Ports[0].ContainerPort, *d.Spec.Replicas))
	}
	fronts, err := p.kube.CoreV1().Services(p.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, s := range fronts.Items {
		lines = append(lines, fmt.Sprintln("service", s.Name, of(&s, live), s.Spec.Ports[0].Port))
	}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines, nil
}

// of tells whose a child is.
func of(child metav1.Object, live map[types.UID]bool) string {
	switch owner := metav1.GetControllerOf(child); {
	case owner == nil:
		return "of somebody"
	case !live[owner.UID]:
		return "of one that is gone"
	default:
		return "of " + owner.Name
	}
}
