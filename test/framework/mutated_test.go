package framework_test

import (
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// mutating makes a server turn the color of every ConfigMap with one into
// another, and waits until it does.
func (r *rig) mutating() {
	r.t.Helper()
	admission := r.kube.AdmissionregistrationV1()
	must(admission.MutatingAdmissionPolicies().Create(r.t.Context(), &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "gray"},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}}},
			MatchConditions:    []admissionv1.MatchCondition{{Name: "colored", Expression: "has(object.data) && 'color' in object.data"}},
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeJSONPatch,
				JSONPatch: &admissionv1.JSONPatch{Expression: `[JSONPatch{op: "replace", path: "/data/color", value: "gray"}]`},
			}},
		},
	}, metav1.CreateOptions{}))
	must(admission.MutatingAdmissionPolicyBindings().Create(r.t.Context(), &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "gray"}, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "gray"},
	}, metav1.CreateOptions{}))
	r.eventually(func() error {
		tried, err := r.kube.CoreV1().ConfigMaps(r.namespace).Create(r.t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "try-"}, Data: map[string]string{"color": "red"},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && tried.Data["color"] != "gray" {
			err = fmt.Errorf("the policy is not in force yet")
		}
		return err
	})
}

// TestAServerThatChangesWhatIsAppliedIsNotFought applies to a server that
// keeps something else.
func TestAServerThatChangesWhatIsAppliedIsNotFought(t *testing.T) {
	t.Parallel()
	config := cluster.Start(t, cluster.Options{APIOnly: true}).Config()
	if err := widget.Define(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	passes := newNoted("")
	r := newRig(t, rigOptions{config: config, script: func(r *rig) *script {
		s := standard(r)
		status := s.status
		s.status = func(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
			passes.passes.Add(1)
			return status(now, w, seen, done)
		}
		return s
	}})
	r.mutating()
	r.run()
	applies := func(want int, why string) {
		t.Helper()
		r.eventually(func() error {
			if got := r.faults.Count(frameworktest.By("apply")); got < want {
				return fmt.Errorf("%s: want %d applies, got %d", why, want, got)
			}
			return nil
		})
		for range 20 {
			before := passes.passes.Load()
			r.wake("w")
			r.eventually(func() error {
				if passes.passes.Load() == before || !r.controller.Idle() {
					return fmt.Errorf("%s: no pass", why)
				}
				return nil
			})
		}
		if got := r.faults.Count(frameworktest.By("apply")); got != want {
			t.Fatalf("%s: want %d applies, got %d", why, want, got)
		}
	}
	r.create("red", "w")
	r.says("w", "gray")
	applies(1, "many passes after a changed answer")
	r.recolor("blue", "w")
	applies(2, "another wish")
	must(r.kube.CoreV1().ConfigMaps(r.namespace).Patch(t.Context(), "w", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"their":"label"}}}`), metav1.PatchOptions{}))
	applies(3, "another version of the child")
}
