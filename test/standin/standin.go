package standin

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	"polychrome.dev/controller/generated/clientset/versioned"
)

// Operator makes every claim of a namespace ready, each on an address of its
// own.
type Operator struct {
	t      testing.TB
	client versioned.Interface
	ns     string
	made   int
}

// Start runs a stand-in over a namespace until the test ends.
func Start(t testing.TB, config *rest.Config, namespace string) *Operator {
	t.Helper()
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatalf("making the stand-in's client: %v", err)
	}
	o := &Operator{t: t, client: client, ns: namespace}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if err := o.follow(ctx); err != nil && ctx.Err() == nil {
				t.Logf("the stand-in begins anew: %v", err)
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return o
}

// follow works through what is there, then through what comes.
func (o *Operator) follow(ctx context.Context) error {
	claims := o.client.AgentSandboxV1alpha1().SandboxClaims(o.ns)
	list, err := claims.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing claims: %w", err)
	}
	for i := range list.Items {
		if err := o.ready(ctx, &list.Items[i]); err != nil {
			return err
		}
	}
	events, err := claims.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return fmt.Errorf("watching claims: %w", err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		claim, ok := event.Object.(*agentsandboxv1alpha1.SandboxClaim)
		if !ok {
			return fmt.Errorf("watching claims: got %T", event.Object)
		}
		if event.Type == watch.Added {
			if err := o.ready(ctx, claim); err != nil {
				return err
			}
		}
	}
	return nil
}

// ready says of a claim that it is.
func (o *Operator) ready(ctx context.Context, claim *agentsandboxv1alpha1.SandboxClaim) error {
	if claim.DeletionTimestamp != nil || meta.IsStatusConditionTrue(claim.Status.Conditions, agentsandboxv1alpha1.ConditionReady) {
		return nil
	}
	o.made++
	claim = claim.DeepCopy()
	claim.Status.Sandbox = agentsandboxv1alpha1.SandboxStatus{
		Name: claim.Name, PodIPs: []string{fmt.Sprintf("10.0.%d.%d", o.made/250, o.made%250+1)},
	}
	meta.SetStatusCondition(&claim.Status.Conditions, metav1.Condition{
		Type: agentsandboxv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "DependenciesReady",
	})
	_, err := o.client.AgentSandboxV1alpha1().SandboxClaims(o.ns).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("making claim %s ready: %w", claim.Name, err)
	}
	return nil
}
