package drift_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	"polychrome.dev/controller/framework/drift"
)

func TestChangesOfTheStoredObject(t *testing.T) {
	const spec, app = "spec.template.spec", "spec.template.spec.containers[app]"
	pod := func(d *appsv1.Deployment) *corev1.PodSpec { return &d.Spec.Template.Spec }
	tests := map[string]struct {
		change func(*appsv1.Deployment)
		want   []string
	}{
		"nothing changed, only spelling and defaults differ": {change: func(*appsv1.Deployment) {}},
		"a foreign label":      {change: func(d *appsv1.Deployment) { d.Labels = map[string]string{"app": "web", "team": "x"} }},
		"a foreign annotation": {change: func(d *appsv1.Deployment) { d.Annotations = map[string]string{"a": "b"} }},
		"a foreign variable": {change: func(d *appsv1.Deployment) {
			env := &pod(d).Containers[0].Env
			*env = append([]corev1.EnvVar{{Name: "FOREIGN", Value: "1"}}, *env...)
		}},
		"a foreign sidecar, put first": {change: func(d *appsv1.Deployment) {
			pod(d).Containers = append([]corev1.Container{{Name: "mesh", Image: "mesh:1"}}, pod(d).Containers...)
		}},
		"a foreign owner": {change: func(d *appsv1.Deployment) {
			d.OwnerReferences = append([]metav1.OwnerReference{{Kind: "Other", Name: "one", UID: "u0"}}, d.OwnerReferences...)
		}},
		"foreign status and scaling fields": {change: func(d *appsv1.Deployment) {
			d.Status.ReadyReplicas, d.Spec.MinReadySeconds = 3, 5
		}},
		"keyed lists in another order": {change: func(d *appsv1.Deployment) {
			c := &pod(d).Containers[0]
			slices.Reverse(c.Env)
			slices.Reverse(c.Ports)
			slices.Reverse(c.VolumeMounts)
		}},
		"a quantity in another unit": {change: func(d *appsv1.Deployment) {
			pod(d).Containers[0].Resources.Requests["memory"] = resource.MustParse("1048576Ki")
		}},
		"another image": {change: func(d *appsv1.Deployment) { pod(d).Containers[0].Image = "web:2" }, want: []string{app + ".image"}},
		"a zero scaled up": {
			change: func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](3) }, want: []string{"spec.replicas"}},
		"a false turned true": {
			change: func(d *appsv1.Deployment) { pod(d).AutomountServiceAccountToken = ptr.To(true) },
			want:   []string{spec + ".automountServiceAccountToken"}},
		"another quantity": {change: func(d *appsv1.Deployment) {
			pod(d).Containers[0].Resources.Limits["cpu"] = resource.MustParse("2")
		}, want: []string{app + ".resources.limits.cpu"}},
		"an empty variable got a value": {change: func(d *appsv1.Deployment) { pod(d).Containers[0].Env[0].Value = "x" }},
		"another value of a variable": {
			change: func(d *appsv1.Deployment) { pod(d).Containers[0].Env[1].Value = "debug" },
			want:   []string{app + ".env[LEVEL].value"}},
		"arguments in another order": {
			change: func(d *appsv1.Deployment) { slices.Reverse(pod(d).Containers[0].Args) },
			want:   []string{app + ".args[0]", app + ".args[1]"}},
		"an argument too many": {change: func(d *appsv1.Deployment) {
			pod(d).Containers[0].Args = []string{"serve", "--quick", "--debug"}
		}, want: []string{app + ".args"}},
		"the container gone": {
			change: func(d *appsv1.Deployment) { pod(d).Containers[0].Name = "other" }, want: []string{app}},
		"a port on another protocol": {
			change: func(d *appsv1.Deployment) { pod(d).Containers[0].Ports[0].Protocol = corev1.ProtocolSCTP },
			want:   []string{app + ".ports[80/TCP]"}},
		"a mount elsewhere, of a volume mounted twice": {
			change: func(d *appsv1.Deployment) { pod(d).Containers[0].VolumeMounts[1].MountPath = "/var" },
			want:   []string{app + ".volumeMounts[/run]"}},
		"the empty volume source gone": {
			change: func(d *appsv1.Deployment) { pod(d).Volumes[0].EmptyDir = nil }, want: []string{spec + ".volumes[scratch].emptyDir"}},
		"a foreign toleration, in a list replaced whole": {change: func(d *appsv1.Deployment) {
			pod(d).Tolerations = append(pod(d).Tolerations, corev1.Toleration{Key: "spot"})
		}, want: []string{spec + ".tolerations"}},
		"a foreign header, in a list replaced whole": {change: func(d *appsv1.Deployment) {
			headers := &pod(d).Containers[0].ReadinessProbe.HTTPGet.HTTPHeaders
			*headers = append(*headers, corev1.HTTPHeader{Name: "X"})
		}, want: []string{app + ".readinessProbe.httpGet.httpHeaders"}},
		"an owner of the same name but another life": {
			change: func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "u2" }, want: []string{"metadata.ownerReferences[u1]"}},
		"a label gone and the image changed": {change: func(d *appsv1.Deployment) {
			d.Labels = nil
			pod(d).Containers[0].Image = ""
		}, want: []string{"metadata.labels", app + ".image"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			have := stored()
			test.change(have)
			got := drift.Missing(normalise(t, config(), &appsv1.Deployment{}), toMap(t, have))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNormaliseKeepsWhatWasNamedAsTheServerSpellsIt(t *testing.T) {
	got := normalise(t, applyapps.Deployment("web", "apps").WithResourceVersion("1").WithUID("u").
		WithSpec(applyapps.DeploymentSpec().WithReplicas(0).
			WithSelector(applymeta.LabelSelector().WithMatchLabels(map[string]string{})).
			WithTemplate(applycore.PodTemplateSpec().WithSpec(applycore.PodSpec().
				WithHostNetwork(false).
				WithContainers(
					applycore.Container().WithName("a").WithEnv(applycore.EnvVar().WithName("E").WithValue("")),
					applycore.Container().WithName("b").WithResources(applycore.ResourceRequirements().
						WithLimits(corev1.ResourceList{"cpu": resource.MustParse("1000m")})))))),
		&appsv1.Deployment{})
	want := map[string]any{
		"metadata": map[string]any{"name": "web", "namespace": "apps"},
		"spec": map[string]any{
			"replicas": int64(0),
			"selector": map[string]any{},
			"template": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": "a", "env": []any{map[string]any{"name": "E"}}},
				map[string]any{"name": "b", "resources": map[string]any{"limits": map[string]any{"cpu": "1"}}},
			}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Normalise (-want +got):\n%s", diff)
	}
}

func TestNormaliseDropsNulls(t *testing.T) {
	config := map[string]any{
		"metadata": map[string]any{"name": "x", "creationTimestamp": nil, "labels": nil},
		"data":     map[string]any{"a": "1"},
	}
	want := map[string]any{"metadata": map[string]any{"name": "x"}, "data": map[string]any{"a": "1"}}
	if diff := cmp.Diff(want, normalise(t, config, &corev1.ConfigMap{})); diff != "" {
		t.Errorf("Normalise (-want +got):\n%s", diff)
	}
}

func TestNormaliseRefusesWhatDoesNotFitTheType(t *testing.T) {
	for name, config := range map[string]any{
		"not an object":     []string{"x"},
		"a wrong type":      map[string]any{"spec": map[string]any{"replicas": "three"}},
		"a wrong quantity":  map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"overhead": map[string]any{"cpu": "x"}}}}},
		"not JSON at all":   map[string]any{"spec": func() {}},
		"nothing whatever":  "",
		"a list for a spec": map[string]any{"spec": []any{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := drift.Normalise(config, &appsv1.Deployment{}); err == nil {
				t.Errorf("Normalise = %v, want an error", got)
			}
		})
	}
}

// A field no longer wanted is no difference to a compare, whoever owns it:
// the hash in the configuration is what tells.
func TestARemovedWishIsNoticedByTheHash(t *testing.T) {
	const key = "example.com/applied-hash"
	wish := func(config *applyapps.DeploymentApplyConfiguration) map[string]any {
		fields := normalise(t, config, &appsv1.Deployment{})
		drift.Annotate(fields, key, drift.Hash(fields))
		return fields
	}
	full := wish(config())
	shrunk := wish(config().WithSpec(applyapps.DeploymentSpec().WithReplicas(0)))
	have := stored()
	have.Annotations = map[string]string{key: full["metadata"].(map[string]any)["annotations"].(map[string]any)[key].(string)}
	if got := drift.Missing(full, toMap(t, have)); got != nil {
		t.Errorf("Missing of what was applied = %v, want none", got)
	}
	want := []string{"metadata.annotations[example.com/applied-hash]"}
	if diff := cmp.Diff(want, drift.Missing(shrunk, toMap(t, have))); diff != "" {
		t.Errorf("Missing of a smaller wish (-want +got):\n%s", diff)
	}
}

func TestHashIsOfTheContent(t *testing.T) {
	first, again := normalise(t, config(), &appsv1.Deployment{}), normalise(t, config(), &appsv1.Deployment{})
	if a, b := drift.Hash(first), drift.Hash(again); a != b || len(a) != 16 {
		t.Errorf("Hash = %q and %q, want twice the same 16 digits", a, b)
	}
	other := normalise(t, config().WithLabels(map[string]string{"x": ""}), &appsv1.Deployment{})
	if drift.Hash(first) == drift.Hash(other) {
		t.Error("Hash is the same for another configuration")
	}
}

func TestAnnotate(t *testing.T) {
	for name, config := range map[string]map[string]any{
		"no metadata":       {},
		"no annotations":    {"metadata": map[string]any{}},
		"null annotations":  {"metadata": map[string]any{"annotations": nil}},
		"wrong annotations": {"metadata": map[string]any{"annotations": "x"}},
		"an older value":    {"metadata": map[string]any{"annotations": map[string]any{"k": "old"}}},
	} {
		t.Run(name, func(t *testing.T) {
			drift.Annotate(config, "k", "v")
			want := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"k": "v"}}}
			if diff := cmp.Diff(want, config); diff != "" {
				t.Errorf("Annotate (-want +got):\n%s", diff)
			}
		})
	}
}
