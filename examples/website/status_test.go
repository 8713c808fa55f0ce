package main

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

// seen is the part of a status that a case is about.
type seen struct {
	Ready   metav1.ConditionStatus
	Reason  string
	Message string
	Serving int32
}

func TestStatus(t *testing.T) {
	applied := func(d *appsv1.Deployment) []framework.Done[action] {
		return []framework.Done[action]{{Action: applyPage}, {Action: applyDeployment, Result: framework.Result{Learned: d}}}
	}
	waiting := seen{"False", "RollingOut", "waiting for the Deployment to serve the page with 2 replicas", 2}
	serving := seen{"True", "Serving", "serving the page with 2 replicas", 2}
	tests := map[string]struct {
		world world
		done  []framework.Done[action]
		want  seen
	}{
		"a Deployment that is rolled out serves": {
			world: settled(), want: serving,
		},
		"a Deployment whose controller has not seen its spec says nothing": {
			world: settled(func(w *world) { rolling(w.deployment.Object) }), want: waiting,
		},
		"the Deployment as just applied counts, not the older one of the world": {
			world: settled(), done: applied(deployment(rolling)), want: waiting,
		},
		"an apply that did not change the pods leaves it serving": {
			world: settled(), done: applied(deployment()), want: serving,
		},
		"pods of the last page are waited for": {
			world: settled(func(w *world) { w.deployment.Object.Status.Replicas = 3 }), want: waiting,
		},
		"pods that are not updated are waited for": {
			world: settled(func(w *world) { w.deployment.Object.Status.UpdatedReplicas = 1 }), want: waiting,
		},
		"pods that are not available are waited for": {
			world: settled(func(w *world) { w.deployment.Object.Status.AvailableReplicas = 1 }), want: waiting,
		},
		"without a Deployment nothing serves": {
			world: settled(func(w *world) { w.deployment = framework.Child[*appsv1.Deployment]{} }),
			want:  seen{waiting.Ready, waiting.Reason, waiting.Message, 0},
		},
		"somebody else's ConfigMap is named": {
			world: settled(func(w *world) { w.page.Ownership = owners.Foreign }),
			want:  seen{"False", "NameConflict", "the ConfigMap hello exists and belongs to somebody else", 2},
		},
		"somebody else's Deployment is named, and its pods do not count": {
			world: settled(func(w *world) { w.deployment.Ownership = owners.Foreign }),
			want:  seen{"False", "NameConflict", "the Deployment hello exists and belongs to somebody else", 0},
		},
		"a failed apply shows, whatever the world was": {
			world: settled(), done: []framework.Done[action]{{Action: applyPage, Err: errors.New("applying: no")}},
			want: seen{"False", "ApplyFailed", "applying: no", 2},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := site()
			got := (&reconciler{}).Status(now, before, tt.world, tt.done).Status
			if len(got.Conditions) != 1 {
				t.Fatalf("want one condition, got %+v", got.Conditions)
			}
			ready := got.Conditions[0]
			if diff := cmp.Diff(tt.want, seen{ready.Status, ready.Reason, ready.Message, got.ReadyReplicas}); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if got.ObservedGeneration != 5 || ready.ObservedGeneration != 5 {
				t.Errorf("want generation 5 observed, got %d and %d", got.ObservedGeneration, ready.ObservedGeneration)
			}
			if diff := cmp.Diff(site(), before); diff != "" {
				t.Errorf("the cached object was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusIsLeftAloneWhileDeleting(t *testing.T) {
	going := site(deleting)
	if got := (&reconciler{}).Status(now, going, world{}, nil); got != going {
		t.Errorf("want the very object, got %+v", got)
	}
}

func TestStatusKeepsTheTimeOfTheTransition(t *testing.T) {
	r := &reconciler{}
	first := r.Status(now, site(), settled(), nil)
	later := r.Status(now.Add(time.Hour), first, settled(), nil)
	if diff := cmp.Diff(first, later); diff != "" {
		t.Errorf("an hour later (-want +got):\n%s", diff)
	}
}
