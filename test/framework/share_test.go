package framework_test

import (
	"context"
	"fmt"
	"testing"

	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"

	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// of is a workload of so many replicas, nil for as many as there are.
func of(replicas *int32) func(*widget.Widget) *appsapply.DeploymentApplyConfiguration {
	return func(w *widget.Widget) *appsapply.DeploymentApplyConfiguration {
		config := workload(w)
		config.Spec.Replicas = replicas
		return config
	}
}

// shares has the replicas that the cache shows owned by a second manager.
func (d *deployer) shares(ctx context.Context) error {
	child, _ := d.deploys.Get(d.namespace, "w")
	return d.deploys.Share(ctx, child, "example.test/second", appsapply.Deployment("w", d.namespace).
		WithSpec(appsapply.DeploymentSpec().WithReplicas(*child.Spec.Replicas)))
}

func TestAFieldGivenUpStaysAsItWasOnceShared(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		share bool
		want  int32
	}{
		"given up alone": {share: false, want: 1},
		"shared before":  {share: true, want: 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeployer(t)
			d.applies(1, "three replicas", func() { d.wants(of(new(int32(3)))) })
			applies := 1
			if test.share {
				d.before(d.shares)
				applies = 2
			}
			d.applies(applies, "replicas given up", func() { d.wants(of(nil)) })
			if got := *d.deployment().Spec.Replicas; got != test.want {
				t.Errorf("want %d replicas, got %d", test.want, got)
			}
		})
	}
}

func TestASharedFieldIsLeftToItsOwner(t *testing.T) {
	t.Parallel()
	d := newDeployer(t)
	d.applies(1, "replicas given up", func() { d.wants(of(nil)) })
	d.edit(`{"spec":{"replicas":5}}`)
	d.settled()
	shared := make(chan error, 1)
	d.before(func(ctx context.Context) error {
		child, _ := d.deploys.Get(d.namespace, "w")
		err := d.deploys.Share(ctx, child, "example.test/second", appsapply.Deployment("w", d.namespace).
			WithSpec(appsapply.DeploymentSpec().WithReplicas(2)))
		shared <- err
		return err
	})
	d.applies(1, "sharing what is somebody else's", func() { d.wake("w") })
	if err := <-shared; err != nil {
		t.Errorf("want a field of somebody else taken for shared, got %v", err)
	}
	if got := *d.deployment().Spec.Replicas; got != 5 {
		t.Errorf("want the 5 replicas of their owner, got %d", got)
	}
}

func TestSharingIsAboutThisVeryChild(t *testing.T) {
	t.Parallel()
	d := newDeployer(t)
	d.before(func(ctx context.Context) error {
		child, _ := d.deploys.Get(d.namespace, "w")
		child = child.DeepCopy()
		child.UID = "another"
		err := d.deploys.Share(ctx, child, "example.test/second", appsapply.Deployment("w", d.namespace).
			WithSpec(appsapply.DeploymentSpec().WithReplicas(7)))
		if err == nil {
			return fmt.Errorf("a child of another UID was written")
		}
		return nil
	})
	d.applies(1, "a child that is gone", func() { d.wake("w") })
	if got := *d.deployment().Spec.Replicas; got == 7 {
		t.Error("the namesake of a child that is gone was written")
	}
	if got := d.faults.Count(frameworktest.By("apply"), frameworktest.Answered(409)); got != 1 {
		t.Errorf("want one conflict, got %d", got)
	}
}
