package framework_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// TestAnApplyThatIsNotKeptIsSaid applies to a server that turns every color
// into gray.
func TestAnApplyThatIsNotKeptIsSaid(t *testing.T) {
	t.Parallel()
	config := cluster.Start(t, cluster.Options{APIOnly: true}).Config()
	if err := widget.Define(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, rigOptions{config: config})
	r.mutating()
	r.run()
	r.create("red", "w")
	said := r.condition("w", framework.ConditionHotLoop, metav1.ConditionTrue, framework.ReasonApplyNotHeld)
	if !strings.Contains(said.Message, "ConfigMap w: data.color") {
		t.Errorf("want the path named, got %q", said.Message)
	}
	r.idle()
	for range 20 {
		r.wake("w")
		r.idle()
	}
	r.same("writes", []string{"patch widgets", "apply configmaps", "patch widgets/status"}, r.writes(frameworktest.Named("w")))
	again := r.condition("w", framework.ConditionHotLoop, metav1.ConditionTrue, framework.ReasonApplyNotHeld)
	r.same("the condition, many passes later", said, again)

	r.recolor("gray", "w")
	r.ready("w")
	r.idle()
	if c := meta.FindStatusCondition(r.get("w").Status.Conditions, framework.ConditionHotLoop); c != nil {
		t.Errorf("want the condition gone with the wish, got %+v", c)
	}
	r.same("writes with a wish that is kept", []string{"apply configmaps", "patch widgets/status"}, r.writes(frameworktest.Named("w"))[3:])
}
