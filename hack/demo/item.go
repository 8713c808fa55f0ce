package main

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// item is an object of any kind, as far as the demo looks at it.
type item struct {
	// id is what kubectl calls it, as in conversation/hello.
	id         string
	meta       metav1.ObjectMeta
	observed   int64
	phase      string
	conditions []metav1.Condition
	// detail is what matters most beside the reason.
	detail string
	// rollsTo is the harness image generation of a Conversation that has one.
	rollsTo string
}

// items are the objects of all kinds that have a reconciler.
func (c *cluster) items(ctx context.Context) (map[string]item, error) {
	found := map[string]item{}
	for _, list := range []func(context.Context, *cluster) ([]item, error){
		conversations, serviceDefinitions, workflows, toolServices, routines,
	} {
		items, err := list(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("listing what the examples have become: %w", err)
		}
		for _, i := range items {
			found[i.id] = i
		}
	}
	return found, nil
}

func conversations(ctx context.Context, c *cluster) ([]item, error) {
	list, err := c.polychrome.PolychromeV1alpha1().Conversations(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return itemsOf(list.Items, func(conv *polychromev1alpha1.Conversation) item {
		return item{
			id: "conversation/" + conv.Name, meta: conv.ObjectMeta, observed: conv.Status.ObservedGeneration,
			phase: string(conv.Status.Phase), conditions: conv.Status.Conditions,
			detail: conv.Status.PodIP, rollsTo: conv.Status.HarnessImageGeneration,
		}
	}), nil
}

func serviceDefinitions(ctx context.Context, c *cluster) ([]item, error) {
	list, err := c.polychrome.PolychromeV1alpha1().ServiceDefinitions(appsNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return itemsOf(list.Items, func(svcdef *polychromev1alpha1.ServiceDefinition) item {
		return item{
			id: "servicedefinition/" + svcdef.Name, meta: svcdef.ObjectMeta, observed: svcdef.Status.ObservedGeneration,
			phase: string(svcdef.Status.Phase), conditions: svcdef.Status.Conditions,
			detail: fmt.Sprintf("%d available", svcdef.Status.AvailableReplicas),
		}
	}), nil
}

func workflows(ctx context.Context, c *cluster) ([]item, error) {
	list, err := c.polychrome.PolychromeV1alpha1().Workflows(appsNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return itemsOf(list.Items, func(wf *polychromev1alpha1.Workflow) item {
		return item{
			id: "workflow/" + wf.Name, meta: wf.ObjectMeta, observed: wf.Status.ObservedGeneration,
			phase: string(wf.Status.Phase), conditions: wf.Status.Conditions,
			detail: stagesOf(wf),
		}
	}), nil
}

// stagesOf tells how far each stage is.
func stagesOf(wf *polychromev1alpha1.Workflow) string {
	stages := make([]string, 0, len(wf.Status.Stages))
	for _, stage := range wf.Status.Stages {
		stages = append(stages, stage.Name+" "+string(stage.Phase))
	}
	return strings.Join(stages, ", ")
}

func toolServices(ctx context.Context, c *cluster) ([]item, error) {
	list, err := c.polychrome.PolychromeV1alpha1().ToolServices(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return itemsOf(list.Items, func(ts *polychromev1alpha1.ToolService) item {
		return item{
			id: "toolservice/" + ts.Name, meta: ts.ObjectMeta, observed: ts.Status.ObservedGeneration,
			phase: string(ts.Status.Phase), conditions: ts.Status.Conditions,
			detail: toolNames(ts.Status.Tools),
		}
	}), nil
}

func routines(ctx context.Context, c *cluster) ([]item, error) {
	list, err := c.polychrome.PolychromeV1alpha1().Routines(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return itemsOf(list.Items, func(routine *polychromev1alpha1.Routine) item {
		return item{
			id: "routine/" + routine.Name, meta: routine.ObjectMeta, observed: routine.Status.ObservedGeneration,
			phase: string(routine.Status.Phase), conditions: routine.Status.Conditions,
			detail: strings.Join(routine.Status.NextFireTimes, " "),
		}
	}), nil
}

func toolNames(tools []polychromev1alpha1.Tool) string {
	names := make([]string, 0, len(tools))
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

func itemsOf[T any](objects []T, itemOf func(*T) item) []item {
	items := make([]item, 0, len(objects))
	for i := range objects {
		items = append(items, itemOf(&objects[i]))
	}
	return items
}
