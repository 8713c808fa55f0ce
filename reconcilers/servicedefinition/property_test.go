package servicedefinition

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/framework/owners"
)

const worlds = 1_000

type simulation = frameworktest.Simulation[*polychromev1alpha1.ServiceDefinition, World, Action]

func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

func anyService(r *rand.Rand) *polychromev1alpha1.ServiceDefinition {
	svc := service(
		named(pick(r, "web", "web", "web", "w", "9web", "a.b")),
		image(pick(r, "example.com/web:2", "example.com/web:2", "web", "", "no image", "\x00")),
		port(pick(r, int32(8080), 1, 0, 65535, 70000, -1)),
		env(pick(r, nil, map[string]string{"LEVEL": "info"}, map[string]string{"PORT": "1", "A": strings.Repeat("x", 9)}, map[string]string{"=": ""})),
	)
	svc.Generation = pick(r, int64(1), 5)
	svc.Spec.Replicas = pick(r, nil, new(int32(0)), new(int32(1)), new(int32(2)), new(int32(2)), new(int32(-3)), new(int32(1000)))
	svc.Spec.Autoscaled = r.IntN(3) == 0
	if r.IntN(8) == 0 {
		deleting(svc)
	}
	svc.Status = pick(r, polychromev1alpha1.ServiceDefinitionStatus{},
		polychromev1alpha1.ServiceDefinitionStatus{Ready: true, Phase: "Ready", AvailableReplicas: 2},
		polychromev1alpha1.ServiceDefinitionStatus{Phase: "Pending", Message: new("old news"), ObservedGeneration: 4})
	svc.Status.Conditions = []metav1.Condition{{Type: "MissedFire", Status: "True", Reason: "Elsewhere"}}
	if r.IntN(3) == 0 {
		svc.Status.Conditions = append(svc.Status.Conditions, metav1.Condition{Type: "Stalled", Status: "True", Reason: "NameConflict"})
	}
	return svc
}

func anyDeployment(r *rand.Rand) *appsv1.Deployment {
	count := func() int32 { return pick(r, int32(0), 1, 2, 2, 3) }
	return deployment(func(d *appsv1.Deployment) {
		d.Spec.Replicas = pick(r, nil, new(int32(0)), new(int32(2)), new(int32(3)))
		d.Spec.Paused = r.IntN(9) == 0
		d.Annotations = pick(r, nil, map[string]string{"polychrome.dev/autoscaled": "true"}, map[string]string{"polychrome.dev/autoscaled": "no"})
		if r.IntN(2) == 0 {
			d.Status = appsv1.DeploymentStatus{
				ObservedGeneration: pick(r, int64(0), 2, 3), Replicas: count(), UpdatedReplicas: count(), AvailableReplicas: count(),
			}
		}
		pick(r, unseen, func(*appsv1.Deployment) {}, func(*appsv1.Deployment) {})(d)
		pick(r, late, refused, func(*appsv1.Deployment) {})(d)
	})
}

func anyChild[C framework.Object](r *rand.Rand, object C) framework.Child[C] {
	if r.IntN(5) == 0 {
		return framework.Child[C]{Drift: []string{""}}
	}
	child := framework.Child[C]{Object: object, Present: true, Ownership: owners.Ours}
	switch r.IntN(6) {
	case 0:
		child.Ownership = pick(r, owners.Free, owners.Foreign)
	case 1, 2:
		child.Drift = []string{"spec"}
	}
	if r.IntN(7) == 0 {
		object.SetDeletionTimestamp(&metav1.Time{Time: now})
	}
	return child
}

func anyPod(r *rand.Rand) *corev1.Pod {
	return pod(pick(r, "web-1", "web-2"), pick(r,
		func(*corev1.Pod) {}, app(running), app(waiting("ErrImagePull", "no")), app(both(restarted(3, 1), running)),
		func(p *corev1.Pod) { p.Spec.Containers[0].Image = "other" }, func(p *corev1.Pod) { p.Spec.Containers = nil }))
}

// anySimulation is a cluster in which writes have their effect at once and
// nothing else happens.
func anySimulation(r *rand.Rand) *simulation {
	w := World{
		Deployment: anyChild(r, anyDeployment(r)),
		Service:    anyChild(r, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web"}}),
		Pods:       pick(r, nil, []*corev1.Pod{anyPod(r)}, []*corev1.Pod{anyPod(r), anyPod(r)}),
	}
	reconciler := &Reconciler{}
	return &simulation{
		Now: now, Object: anyService(r), World: w, Plan: reconciler.Plan, Status: reconciler.Status, Do: do,
		Same: func(a, b Action) bool { return a.Kind == b.Kind },
	}
}

// do is what becomes of a write: the child is as it should be, and its own
// controller has yet to see it.
func do(s *simulation, a Action) (framework.Result, error) {
	switch a.Kind {
	case ApplyDeployment:
		d := deployment(unseen)
		if s.World.Deployment.Present {
			d = s.World.Deployment.Object.DeepCopy()
			d.Generation++
		}
		d.Annotations = nil
		if s.Object.Spec.Autoscaled {
			d.Annotations = deploymentFor(s.Object).Annotations
		} else {
			d.Spec.Replicas = new(asked(s.Object))
		}
		s.World.Deployment = framework.Child[*appsv1.Deployment]{Object: d, Present: true, Ownership: owners.Ours}
		return framework.Result{Learned: d}, nil
	case ApplyService:
		s.World.Service = framework.Child[*corev1.Service]{
			Object: &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web"}}, Present: true, Ownership: owners.Ours,
		}
	}
	return framework.Result{}, nil
}

func TestEveryWorldSettlesAndNoActionRepeats(t *testing.T) {
	frameworktest.PlanTwiceFrom(t, 400, anySimulation)
}

func TestAWorldThatSettledTellsTheTruth(t *testing.T) {
	met := map[string]int{}
	for seed := range uint64(worlds) {
		s := anySimulation(newRand(seed))
		before := s.World
		if _, err := s.Settle(frameworktest.Rounds); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if s.Object.DeletionTimestamp != nil {
			continue
		}
		ready := meta.FindStatusCondition(s.Object.Status.Conditions, "Ready")
		met[ready.Reason]++
		if foreign := before.Deployment.Foreign() || before.Service.Foreign(); foreign && !reflect.DeepEqual(before, s.World) {
			t.Fatalf("seed %d: written although a foreign object has the name:\n%s", seed, cmp.Diff(before, s.World))
		}
		if ready.Status == "True" && !serves(s) {
			t.Fatalf("seed %d: ready although it does not serve: %+v", seed, s.World)
		}
		if ready.Status != "True" && serves(s) {
			if _, wrong := invalid(s.Object); !wrong {
				t.Fatalf("seed %d: %s although it serves: %+v", seed, ready.Reason, s.World)
			}
		}
		if elsewhere := meta.FindStatusCondition(s.Object.Status.Conditions, "MissedFire"); elsewhere == nil {
			t.Fatalf("seed %d: somebody else's condition is gone", seed)
		}
	}
	if len(met) < 10 {
		t.Errorf("want ten kinds of endings met, got %v", met)
	}
}

// serves says, in the words of the specification, whether what the definition
// asks for is there.
func serves(s *simulation) bool {
	d, service := s.World.Deployment, s.World.Service
	if d.Foreign() || service.Foreign() || !d.Present || !service.Present ||
		d.Object.DeletionTimestamp != nil || service.Object.DeletionTimestamp != nil {
		return false
	}
	desired := int32(1)
	switch {
	case s.Object.Spec.Autoscaled && d.Object.Spec.Replicas != nil:
		desired = *d.Object.Spec.Replicas
	case !s.Object.Spec.Autoscaled && s.Object.Spec.Replicas != nil:
		desired = *s.Object.Spec.Replicas
	}
	st := d.Object.Status
	return desired > 0 && st.ObservedGeneration >= d.Object.Generation && st.UpdatedReplicas >= desired &&
		st.AvailableReplicas >= desired && st.Replicas == st.UpdatedReplicas
}

func TestAFailedActionNeverLeavesAServiceReady(t *testing.T) {
	for seed := range uint64(worlds) {
		s := anySimulation(newRand(seed))
		s.Fail = func(a Action) error {
			if a.Kind == pick(newRand(seed), HandOverReplicas, ApplyDeployment, ApplyService) {
				return errTest
			}
			return nil
		}
		pass := s.Pass()
		last := len(pass.Done) - 1
		if last >= 0 && pass.Done[last].Err != nil && (s.Object.Status.Ready || meta.IsStatusConditionTrue(s.Object.Status.Conditions, "Ready")) {
			t.Fatalf("seed %d: ready although %v failed", seed, pass.Done[last].Action)
		}
	}
}
