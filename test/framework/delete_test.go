package framework_test

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// TestADeleteMeetsOnlyTheVersionItSaw has somebody change, or replace, the
// child just before it is deleted.
func TestADeleteMeetsOnlyTheVersionItSaw(t *testing.T) {
	t.Parallel()
	label := must(json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{"their": "label"}}}))
	tests := map[string]struct {
		meddle      func(*rig)
		wantDeletes []int
		wantKept    bool
	}{
		"a changed child is looked at again": {
			meddle: func(r *rig) {
				must(r.kube.CoreV1().ConfigMaps(r.namespace).Patch(r.t.Context(), "w", types.MergePatchType, label, metav1.PatchOptions{}))
			},
			wantDeletes: []int{409, 200},
		},
		"a namesake stays": {
			meddle: func(r *rig) {
				if err := r.kube.CoreV1().ConfigMaps(r.namespace).Delete(r.t.Context(), "w", metav1.DeleteOptions{}); err != nil {
					r.t.Error(err)
				}
				r.theirs("w")
			},
			wantDeletes: []int{409},
			wantKept:    true,
		},
		"a child that is gone already is success": {
			meddle: func(r *rig) {
				if err := r.kube.CoreV1().ConfigMaps(r.namespace).Delete(r.t.Context(), "w", metav1.DeleteOptions{}); err != nil {
					r.t.Error(err)
				}
			},
			wantDeletes: []int{404},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, rigOptions{script: func(r *rig) *script {
				meddle := once(func() { r.unseen(func() { test.meddle(r) }) })
				return standard(r).before(deleteChild, func(*widget.Widget) { meddle() })
			}})
			r.create("red", "w")
			r.ready("w")
			r.delete("w")
			r.seenAfter(frameworktest.By("delete"))
			r.gone("w")
			var codes []int
			for _, request := range r.faults.Requests(frameworktest.By("delete")) {
				codes = append(codes, request.Code)
			}
			r.same("answers to deletes", test.wantDeletes, codes)
			list := must(r.kube.CoreV1().ConfigMaps(r.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=w"}))
			if kept := len(list.Items) == 1; kept != test.wantKept {
				t.Errorf("the ConfigMap is kept: %t, want %t", kept, test.wantKept)
			}
			if got := r.failures("") - r.failures(framework.ClassConflict); got != 0 {
				t.Errorf("want no failure but conflicts, got %v", got)
			}
		})
	}
}
