package servicedefinition

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// planned is the part of a plan that a case is about.
type planned struct {
	Decision string
	Actions  []string
	Wait     time.Duration
}

func TestPlan(t *testing.T) {
	paths := []string{"spec.replicas"}
	handedOver := func(w *World) {
		w.Deployment.Object.Annotations = map[string]string{"polychrome.dev/autoscaled": "true"}
	}
	tests := map[string]struct {
		service *polychromev1alpha1.ServiceDefinition
		world   World
		want    planned
	}{
		"a settled service needs nothing": {
			service(), settled(), planned{"Settled", nil, 5 * time.Minute},
		},
		"children that are absent are made": {
			service(), settled(withoutDeployment, withoutService),
			planned{"Apply", []string{"ApplyDeployment", "ApplyService"}, 15 * time.Second},
		},
		"a Deployment that differs is applied alone": {
			service(), settled(drifted(paths, nil)), planned{"Apply", []string{"ApplyDeployment (spec.replicas)"}, 15 * time.Second},
		},
		"a Service that differs is applied alone": {
			service(), settled(drifted(nil, []string{"spec.ports"})), planned{"Apply", []string{"ApplyService (spec.ports)"}, 15 * time.Second},
		},
		"a rollout is waited for": {
			service(), settled(deployed(starting)), planned{"AwaitRollout", nil, 15 * time.Second},
		},
		"a stopped service is looked at as often as one that is not ready": {
			service(replicas(0)), settled(), planned{"AwaitRollout", nil, 15 * time.Second},
		},
		"a service that is going makes no children": {
			service(deleting), settled(withoutDeployment, withoutService), planned{"Deleting", nil, 0},
		},
		"even one whose children are somebody else's": {
			service(deleting), settled(foreignDeployment), planned{"Deleting", nil, 0},
		},
		"nothing is made of an invalid image, and nothing waited for": {
			service(image("no image")), settled(withoutDeployment, withoutService), planned{"Invalid", nil, 0},
		},
		"nothing is made of an invalid name": {
			service(named("9web")), settled(withoutDeployment, withoutService), planned{"Invalid", nil, 0},
		},
		"somebody else's Deployment keeps the Service from being written": {
			service(), settled(foreignDeployment, func(w *World) { w.Service.Drift = paths }), planned{"NameConflict", nil, 15 * time.Second},
		},
		"nobody's Service keeps the Deployment from being written": {
			service(), settled(foreignService, func(w *World) { w.Deployment.Drift = paths }), planned{"NameConflict", nil, 15 * time.Second},
		},
		"a Deployment that is going is left alone": {
			service(), settled(drifted(paths, nil), goingDeployment), planned{"AwaitChild", nil, 15 * time.Second},
		},
		"a Service that is going is left alone": {
			service(), settled(drifted(nil, paths), goingService), planned{"AwaitChild", nil, 15 * time.Second},
		},
		"a child that is going does not hold up the other": {
			service(), settled(drifted(paths, paths), goingService), planned{"Apply", []string{"ApplyDeployment (spec.replicas)"}, 15 * time.Second},
		},
		"replicas are handed over before they are given up": {
			service(autoscaled), settled(drifted(paths, nil)),
			planned{"Apply", []string{"HandOverReplicas", "ApplyDeployment (spec.replicas)"}, 15 * time.Second},
		},
		"replicas given up before are not handed over again": {
			service(autoscaled), settled(drifted(paths, nil), handedOver),
			planned{"Apply", []string{"ApplyDeployment (spec.replicas)"}, 15 * time.Second},
		},
		"there is nothing to hand over to a new Deployment": {
			service(autoscaled), settled(withoutDeployment), planned{"Apply", []string{"ApplyDeployment"}, 15 * time.Second},
		},
		"an autoscaled service is settled at what stands there": {
			service(autoscaled, replicas(7)), settled(handedOver), planned{"Settled", nil, 5 * time.Minute},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan := (&Reconciler{}).Plan(now, tt.service, tt.world)
			got := planned{Decision: plan.Decision, Wait: plan.Wait}
			for _, action := range plan.Actions {
				got.Actions = append(got.Actions, action.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if waits := plan.Wait > 0; plan.Spread != waits || (plan.WaitFor != "") != waits {
				t.Errorf("want a wait that is spread and says what for, or none, got %+v", plan)
			}
		})
	}
}

func TestReplicasAreHandedOverAsTheyStand(t *testing.T) {
	w := settled(drifted([]string{""}, nil), deployed(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(6)) }))
	plan := (&Reconciler{}).Plan(now, service(autoscaled, replicas(3)), w)
	if got := *replicasOf(plan.Actions[0].Deployment).Spec.Replicas; got != 6 {
		t.Errorf("want the 6 replicas that stand there handed over, got %d", got)
	}
}
