package servicedefinition

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/yaml"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

// leave makes what the original controller leaves behind: a status without
// conditions, and children that it applied as the same field manager.
func (w *world) leave(svc *polychromev1alpha1.ServiceDefinition) {
	w.t.Helper()
	created := w.create(svc)
	if _, err := w.client.PolychromeV1alpha1().ServiceDefinitions(w.ns).Patch(w.t.Context(), svc.Name, types.MergePatchType,
		[]byte(`{"status":{"ready":true,"availableReplicas":2,"phase":"Ready","message":null,"conditions":null}}`),
		metav1.PatchOptions{FieldManager: "unknown"}, "status"); err != nil {
		w.t.Fatal(err)
	}
	labels := map[string]string{
		"app.kubernetes.io/name": svc.Name, "app.kubernetes.io/managed-by": "polychrome", "polychrome.dev/service-definition": svc.Name,
	}
	selector := map[string]string{"app.kubernetes.io/name": svc.Name}
	owner := applymetav1.OwnerReference().WithAPIVersion("polychrome.dev/v1alpha1").WithKind("ServiceDefinition").
		WithName(created.Name).WithUID(created.UID).WithController(true).WithBlockOwnerDeletion(true)
	deployment := applyappsv1.Deployment(svc.Name, w.ns).WithLabels(labels).WithOwnerReferences(owner).
		WithSpec(applyappsv1.DeploymentSpec().WithReplicas(*svc.Spec.Replicas).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(selector)).
			WithTemplate(applycorev1.PodTemplateSpec().WithLabels(labels).WithSpec(applycorev1.PodSpec().
				WithAutomountServiceAccountToken(false).
				WithContainers(applycorev1.Container().WithName("app").WithImage(svc.Spec.Image).
					WithPorts(applycorev1.ContainerPort().WithName("http").WithContainerPort(8080)).
					WithEnv(applycorev1.EnvVar().WithName("PORT").WithValue("8080"))))))
	service := applycorev1.Service(svc.Name, w.ns).WithLabels(labels).WithOwnerReferences(owner).
		WithSpec(applycorev1.ServiceSpec().WithSelector(selector).
			WithPorts(applycorev1.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromString("http"))))
	options := metav1.ApplyOptions{FieldManager: polychromev1alpha1.FieldManager, Force: true}
	if _, err := w.kube.AppsV1().Deployments(w.ns).Apply(w.t.Context(), deployment, options); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.kube.CoreV1().Services(w.ns).Apply(w.t.Context(), service, options); err != nil {
		w.t.Fatal(err)
	}
	w.eventuallyServes(svc.Name, 8080, 2)
}

func TestWhatTheOriginalLeftIsUpgradedByOneApplyEach(t *testing.T) {
	w := newWorld(t)
	w.leave(sample("web"))
	p := w.start()
	w.eventuallyReady("web")
	w.eventuallyIdle(p)
	applies := slices.DeleteFunc(p.writes(), func(write string) bool { return !strings.HasPrefix(write, "apply ") })
	if diff := cmp.Diff([]string{"apply deployments web", "apply services web"}, applies); diff != "" {
		t.Errorf("applies (-want +got):\n%s", diff)
	}
	d := w.deployment("web")
	pod := d.Spec.Template.Spec
	if len(pod.Volumes) != 1 || pod.Volumes[0].EmptyDir == nil || *pod.EnableServiceLinks || len(pod.Containers[0].Env) != 3 {
		t.Errorf("want today's template, got %+v", pod)
	}
	if owners := d.OwnerReferences; len(owners) != 1 || owners[0].BlockOwnerDeletion != nil {
		t.Errorf("want the one owner, who is not held up, got %+v", owners)
	}
	service, err := w.kube.CoreV1().Services(w.ns).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"app.kubernetes.io/name": "web", "polychrome.dev/service-definition": "web"}
	if diff := cmp.Diff(want, service.Spec.Selector); diff != "" {
		t.Errorf("selector (-want +got):\n%s", diff)
	}
	w.eventuallyServes("web", 8080, 2)

	// Nor does a new process have anything to write.
	p.stop()
	p = w.start()
	w.eventuallyIdle(p)
	if diff := cmp.Diff([]string(nil), p.writes(), cmpEmpty); diff != "" {
		t.Errorf("writes of a new process (-want +got):\n%s", diff)
	}
}

// TestWhatWasStoredBeforeTheRulesSaysSo stores what the rules would refuse, in
// a control plane whose definition lacks them.
func TestWhatWasStoredBeforeTheRulesSaysSo(t *testing.T) {
	t.Parallel()
	server := cluster.Start(t, cluster.Options{CRDDirs: []string{withoutRules(t)}})
	w := worldOf(t, server.Config(), cluster.Namespace(t, server.Config()))
	p := w.start()
	bad := sample("web")
	bad.Spec.Image = "https://example.com/Web"
	w.create(bad)
	w.create(sample("1.web"))
	for name, reason := range map[string]polychromev1alpha1.Reason{
		"web": polychromev1alpha1.ReasonInvalidImage, "1.web": polychromev1alpha1.ReasonInvalidName,
	} {
		svc := w.eventuallySays(name, reason)
		if !stalled(svc) || svc.Status.Phase != polychromev1alpha1.ServiceDefinitionInvalid {
			t.Errorf("want it invalid and stalled, got %+v", svc.Status)
		}
	}
	w.eventuallyIdle(p)
	for _, write := range p.writes() {
		if strings.HasPrefix(write, "apply") {
			t.Errorf("want no child made of it, got %s", write)
		}
	}
	deployments, err := w.kube.AppsV1().Deployments(w.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(deployments.Items) > 0 {
		t.Errorf("want no Deployment, got %v, %v", deployments.Items, err)
	}
	w.edit("web", `{"spec":{"image":"example.com/web"}}`)
	w.eventuallySays("web", polychromev1alpha1.ReasonUnschedulable)
	if service, err := w.kube.CoreV1().Services(w.ns).Get(t.Context(), "web", metav1.GetOptions{}); err != nil || service.Spec.Type != corev1.ServiceTypeClusterIP {
		t.Errorf("want its Service made, got %v, %v", service, err)
	}
}

// withoutRules is a folder with the definition of ServiceDefinitions as it is,
// but for its rules.
func withoutRules(t *testing.T) string {
	t.Helper()
	const file = "polychrome.dev_servicedefinitions.yaml"
	raw, err := os.ReadFile(filepath.Join(cluster.ProjectCRDs(t), file))
	if err != nil {
		t.Fatal(err)
	}
	var definition map[string]any
	if err := yaml.Unmarshal(raw, &definition); err != nil {
		t.Fatal(err)
	}
	dropRules(definition)
	if raw, err = yaml.Marshal(definition); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func dropRules(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "x-kubernetes-validations")
		for _, member := range v {
			dropRules(member)
		}
	case []any:
		for _, element := range v {
			dropRules(element)
		}
	}
}
