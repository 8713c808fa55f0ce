package framework_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/test/framework/widget"
)

// TestOneUndecodableObjectHidesNoOther stores what the type cannot hold, both
// before the program starts and while it runs.
func TestOneUndecodableObjectHidesNoOther(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{widgets: widget.LooseWidgets})
	good := fleetOf(10)
	r.create("red", append(good, "early", "late", "inner")...)
	r.change("early", map[string]any{"spec": map[string]any{"size": "huge"}})
	r.run()
	r.ready(append(good, "late", "inner")...)

	r.change("late", map[string]any{"spec": map[string]any{"size": "huge"}})
	r.change("inner", map[string]any{"status": map[string]any{"observedGeneration": "many"}}, "status")
	for name, field := range map[string]string{"early": "spec.size", "late": "spec.size", "inner": "status.observedGeneration"} {
		r.eventually(func() error { return r.saysUndecodable(name, field) })
	}
	r.idle()

	r.recolor("blue", good...)
	r.ready(good...)
	r.create("red", "new")
	r.ready("new")
	for _, name := range []string{"early", "late"} {
		r.change(name, map[string]any{"spec": map[string]any{"size": 3, "color": "green"}})
	}
	// What does not fit is in the status, so that mending it makes no new generation.
	r.change("inner", map[string]any{"status": map[string]any{"observedGeneration": nil}}, "status")
	r.ready("early", "late", "inner")
	for _, name := range []string{"early", "late", "inner"} {
		for _, kind := range []string{framework.ConditionSchemaSkew, framework.ConditionStalled} {
			if meta.IsStatusConditionTrue(r.get(name).Status.Conditions, kind) {
				t.Errorf("%s was mended and still says %s", name, kind)
			}
		}
	}
}

// saysUndecodable reads past the type that the object does not fit.
func (r *rig) saysUndecodable(name, field string) error {
	raw, err := r.user.REST.Get().Namespace(r.namespace).Resource(r.widgets.Resource).Name(name).Do(r.t.Context()).Raw()
	if err != nil {
		return err
	}
	var said struct {
		Status struct{ Conditions []metav1.Condition }
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return err
	}
	for kind, status := range map[string]metav1.ConditionStatus{
		framework.ConditionReady: metav1.ConditionFalse, framework.ConditionStalled: metav1.ConditionTrue, framework.ConditionSchemaSkew: metav1.ConditionTrue,
	} {
		c := meta.FindStatusCondition(said.Status.Conditions, kind)
		if c == nil || c.Status != status || c.Reason != framework.ReasonUndecodable || !strings.Contains(c.Message, field) {
			return fmt.Errorf("%s: want %s=%s naming %s, got %+v", name, kind, status, field, said.Status.Conditions)
		}
	}
	return nil
}
