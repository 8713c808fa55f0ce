package servicedefinition

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// label changes a label of the namespace.
func (w *world) label(key, value string) {
	w.t.Helper()
	if _, err := w.kube.CoreV1().Namespaces().Patch(w.t.Context(), w.ns, types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"`+key+`":"`+value+`"}}}`), metav1.PatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// quota allows none of something.
func (w *world) quota(of corev1.ResourceName) {
	w.t.Helper()
	_, err := w.kube.CoreV1().ResourceQuotas(w.ns).Create(w.t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "few"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{of: resource.MustParse("0")}},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAQuotaIsNamedUntilItIsRaised(t *testing.T) {
	for name, of := range map[string]corev1.ResourceName{"of pods": corev1.ResourcePods, "of ReplicaSets": "count/replicasets.apps"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.quota(of)
			w.start()
			w.create(sample("web"))
			svc := w.eventuallySays("web", polychromev1alpha1.ReasonReplicaFailure, "exceeded quota: few")
			if stalled(svc) || *svc.Status.Message != readyOf(svc).Message {
				t.Errorf("want it said in the status too, and not stalled, got %+v", svc.Status)
			}
			if err := w.kube.CoreV1().ResourceQuotas(w.ns).Delete(t.Context(), "few", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			w.eventuallyReady("web")
		})
	}
}

// TestPodSecurityPassesOursAndNamesWhatOthersAdd has a sidecar be injected that
// the namespace's level forbids.
func TestPodSecurityPassesOursAndNamesWhatOthersAdd(t *testing.T) {
	w := newWorld(t)
	w.label("pod-security.kubernetes.io/enforce", "restricted")
	w.start()
	w.create(sample("web"))
	w.eventuallyReady("web")
	w.patchDeployment("web", `{"spec":{"template":{"spec":{"containers":[
		{"name":"mesh","image":"registry.k8s.io/pause:3.9"}]}}}}`)
	w.eventuallySays("web", polychromev1alpha1.ReasonReplicaFailure, `violates PodSecurity "restricted:latest"`, "mesh")
	w.patchDeployment("web", `{"spec":{"template":{"spec":{"containers":[{"name":"mesh","$patch":"delete"}]}}}}`)
	w.eventuallyReady("web")
}

// TestARolloutPastItsDeadlineSaysSo has somebody else shorten the deadline and
// ask for a node that is not there.
func TestARolloutPastItsDeadlineSaysSo(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	w.create(sample("web"))
	w.eventuallyReady("web")
	w.patchDeployment("web", `{"spec":{"progressDeadlineSeconds":2,"template":{"spec":{"nodeSelector":{"disk":"fast"}}}}}`)
	w.eventuallySays("web", polychromev1alpha1.ReasonUnschedulable, "pod web-", "nodes are available")
	svc := w.eventuallySays("web", polychromev1alpha1.ReasonProgressDeadlineExceeded, "has timed out progressing.", "Unschedulable")
	if !stalled(svc) {
		t.Errorf("want it stalled, got %+v", svc.Status)
	}
	w.eventuallyIdle(p)
	before := len(p.writes())
	w.patchDeployment("web", `{"spec":{"template":{"spec":{"nodeSelector":null}}}}`)
	svc = w.eventuallyReady("web")
	if stalled(svc) || *w.deployment("web").Spec.ProgressDeadlineSeconds != 2 {
		t.Errorf("want it not stalled, and the deadline of others kept, got %+v", svc.Status)
	}
	for _, write := range p.writes()[before:] {
		if !strings.HasPrefix(write, "patch servicedefinitions/status") {
			t.Errorf("want what others changed left alone, got %s", write)
		}
	}
}

// TestALimitIsNamed has pods be refused by what the namespace allows each.
func TestALimitIsNamed(t *testing.T) {
	w := newWorld(t)
	_, err := w.kube.CoreV1().LimitRanges(w.ns).Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.start()
	w.create(sample("web"))
	w.eventuallySays("web", polychromev1alpha1.ReasonReplicaFailure, "maximum memory usage per Container is 128Mi")
}
