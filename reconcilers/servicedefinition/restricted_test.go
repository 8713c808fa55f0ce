package servicedefinition

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// TestEveryPodIsRestricted asks the API server's own evaluator.
func TestEveryPodIsRestricted(t *testing.T) {
	checks, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	bare := &corev1.PodSpec{Containers: []corev1.Container{{Name: containerName}}}
	if policy.AggregateCheckResults(checks.EvaluatePod(restricted, &metav1.ObjectMeta{}, bare)).Allowed {
		t.Fatal("want the evaluator to refuse a bare pod: it sees nothing")
	}
	for seed := range uint64(500) {
		svc := anyService(newRand(seed))
		pod := as[corev1.PodTemplateSpec](t, deploymentFor(svc).Spec.Template)
		got := policy.AggregateCheckResults(checks.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec))
		if !got.Allowed {
			t.Fatalf("seed %d: the pod of %+v is refused: %s (%s)", seed, svc.Spec, got.ForbiddenReason(), got.ForbiddenDetail())
		}
	}
}
