package servicedefinition

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

// rights are those that the manifests give the controller.
func rights(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(cluster.ProjectCRDs(t), "..", "..", "manifests", "apps-namespace", "role.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	if err := yaml.UnmarshalStrict(raw, &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

func withoutPods(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	return slices.DeleteFunc(slices.Clone(rules), func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "pods") })
}

// limit has the controller be a user of such rights in the namespace alone.
func (w *world) limit(rules []rbacv1.PolicyRule) {
	w.t.Helper()
	const name = "limited"
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := w.kube.RbacV1().Roles(w.ns).Create(w.t.Context(), role, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: w.ns}},
	}
	if _, err := w.kube.RbacV1().RoleBindings(w.ns).Create(w.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.config.Impersonate = rest.ImpersonationConfig{UserName: w.ns, Groups: []string{"system:authenticated"}}
}

// TestWithoutTheRightToPodsOnlyTheirWordsAreMissing has pods that no node takes.
func TestWithoutTheRightToPodsOnlyTheirWordsAreMissing(t *testing.T) {
	for name, c := range map[string]struct {
		rights []rbacv1.PolicyRule
		reason polychromev1alpha1.Reason
		words  string
	}{
		"with it":    {rights(t), polychromev1alpha1.ReasonUnschedulable, "nodes are available"},
		"without it": {withoutPods(rights(t)), polychromev1alpha1.ReasonRolloutInProgress, "1 of 2 replicas updated, 2 available"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.limit(c.rights)
			p := w.start()
			w.create(sample("web"))
			w.eventuallyReady("web")
			w.patchDeployment("web", `{"spec":{"template":{"spec":{"nodeSelector":{"disk":"fast"}}}}}`)
			w.eventuallyUnschedulable()
			w.edit("web", `{"spec":{"autoscaled":true}}`)
			w.eventuallySays("web", c.reason, c.words)
			w.eventuallyIdle(p)
		})
	}
}

// eventuallyUnschedulable waits until the scheduler has given up on a pod.
func (w *world) eventuallyUnschedulable() {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		pods, err := w.kube.CoreV1().Pods(w.ns).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			for _, c := range pod.Status.Conditions {
				if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
					return nil
				}
			}
		}
		return fmt.Errorf("no pod is unschedulable")
	})
}
