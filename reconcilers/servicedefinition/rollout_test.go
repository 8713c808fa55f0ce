package servicedefinition

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// TestARolloutIsCompleteWhenItsTemplateServesAndNothingElse has one fact wrong
// in each case.
func TestARolloutIsCompleteWhenItsTemplateServesAndNothingElse(t *testing.T) {
	tests := map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		"all is well":                {func(*appsv1.Deployment) {}, true},
		"seen later than it is":      {func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 9 }, true},
		"more than desired":          {func(d *appsv1.Deployment) { d.Status.Replicas, d.Status.UpdatedReplicas = 3, 3 }, true},
		"not seen":                   {unseen, false},
		"one not updated":            {func(d *appsv1.Deployment) { d.Status.UpdatedReplicas, d.Status.Replicas = 1, 1 }, false},
		"one not available":          {func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }, false},
		"one of the last template":   {func(d *appsv1.Deployment) { d.Status.Replicas = 3 }, false},
		"updated, but not counted":   {func(d *appsv1.Deployment) { d.Status.Replicas = 1 }, false},
		"nothing is known of it":     {func(d *appsv1.Deployment) { d.Status = appsv1.DeploymentStatus{} }, false},
		"ready, but not long enough": {func(d *appsv1.Deployment) { d.Status.ReadyReplicas, d.Status.AvailableReplicas = 2, 0 }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rolloutOf(service(), deployment(tt.change)).complete(); got != tt.want {
				t.Errorf("want complete %t, got %t", tt.want, got)
			}
		})
	}
}

func TestNoReplicasAreNeverComplete(t *testing.T) {
	none := deployment(func(d *appsv1.Deployment) { d.Status = appsv1.DeploymentStatus{ObservedGeneration: 3} })
	if rolloutOf(service(replicas(0)), none).complete() {
		t.Error("want zero replicas never complete")
	}
}

func TestDesiredIsTheSpecsOrWhatStandsThere(t *testing.T) {
	standing := func(count *int32) *appsv1.Deployment {
		return deployment(func(d *appsv1.Deployment) { d.Spec.Replicas = count })
	}
	if got := rolloutOf(service(replicas(4)), standing(new(int32(9)))).desired; got != 4 {
		t.Errorf("want the 4 of the spec, got %d", got)
	}
	if got := rolloutOf(service(replicas(4), autoscaled), standing(new(int32(9)))).desired; got != 9 {
		t.Errorf("want the 9 that stand there, got %d", got)
	}
	if got := rolloutOf(service(replicas(4), autoscaled), standing(nil)).desired; got != 1 {
		t.Errorf("want the API server's default 1, got %d", got)
	}
}
