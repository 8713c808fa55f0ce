package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

func TestPlan(t *testing.T) {
	drifted := []string{".spec.replicas"}
	tests := map[string]struct {
		site  *webv1alpha1.Website
		world world
		want  framework.Plan[action]
	}{
		"a settled Website needs nothing": {
			site: site(), world: settled(),
			want: framework.Plan[action]{Decision: "Settled"},
		},
		"children that are absent are made, the page first": {
			site: site(),
			world: settled(func(w *world) {
				w.page = framework.Child[*corev1.ConfigMap]{Drift: []string{""}}
				w.deployment = framework.Child[*appsv1.Deployment]{Drift: []string{""}}
			}),
			want: framework.Plan[action]{Decision: "Apply", Actions: []action{applyPage, applyDeployment}},
		},
		"a child that differs is applied alone": {
			site: site(), world: settled(func(w *world) { w.deployment.Drift = drifted }),
			want: framework.Plan[action]{Decision: "Apply", Actions: []action{applyDeployment}},
		},
		"a page that was tampered with does not touch the Deployment": {
			site: site(), world: settled(func(w *world) { w.page.Drift = drifted }),
			want: framework.Plan[action]{Decision: "Apply", Actions: []action{applyPage}},
		},
		"somebody else's ConfigMap stops all": {
			site: site(), world: settled(func(w *world) { w.page.Ownership, w.deployment.Drift = owners.Foreign, drifted }),
			want: framework.Plan[action]{Decision: "NameConflict"},
		},
		"somebody else's Deployment stops all": {
			site: site(), world: settled(func(w *world) { w.deployment.Ownership, w.page.Drift = owners.Foreign, drifted }),
			want: framework.Plan[action]{Decision: "NameConflict"},
		},
		"a Website that is going makes no new children": {
			site: site(deleting), world: settled(func(w *world) { w.page.Drift, w.deployment.Drift = drifted, drifted }),
			want: framework.Plan[action]{Decision: "Deleting"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := (&reconciler{}).Plan(now, tt.site, tt.world)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}
