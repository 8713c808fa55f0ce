package reconcilers

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPredates(t *testing.T) {
	for name, c := range map[string]struct {
		conditions []metav1.Condition
		want       bool
	}{
		"one without conditions is the original's":   {nil, true},
		"one whose word has no generation, too":      {[]metav1.Condition{{Type: "Ready", Status: "True", Reason: "HarnessReady"}}, true},
		"a new one has the default of the schema":    {[]metav1.Condition{{Type: "Ready", Status: "False", Reason: "Pending"}}, false},
		"what was said of a generation is ours":      {[]metav1.Condition{{Type: "Ready", Status: "True", Reason: "HarnessReady", ObservedGeneration: 2}}, false},
		"other conditions say nothing of it":         {[]metav1.Condition{{Type: "Degraded", ObservedGeneration: 2}}, true},
		"Pending that was said of a generation, too": {[]metav1.Condition{{Type: "Ready", Status: "False", Reason: "Pending", ObservedGeneration: 1}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := predates(c.conditions); got != c.want {
				t.Errorf("want %t, got %t", c.want, got)
			}
		})
	}
}
