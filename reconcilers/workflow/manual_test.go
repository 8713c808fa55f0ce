package workflow

import (
	"os"
	"slices"
	"strings"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestTheManualKnowsEveryReasonAndPhase(t *testing.T) {
	manual, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"Waiting"}
	for _, facts := range polychromev1alpha1.Conditions() {
		if facts.Kind != kind {
			continue
		}
		for _, reason := range slices.Concat(facts.True, facts.False, facts.Unknown) {
			words = append(words, string(reason))
		}
	}
	for _, phase := range []polychromev1alpha1.WorkflowPhase{
		polychromev1alpha1.WorkflowPending, polychromev1alpha1.WorkflowProgressing, polychromev1alpha1.WorkflowReady,
		polychromev1alpha1.WorkflowDegraded, polychromev1alpha1.WorkflowInvalid,
	} {
		words = append(words, string(phase))
	}
	for _, word := range words {
		if !strings.Contains(string(manual), "`"+word+"`") {
			t.Errorf("docs/workflows.md does not explain %s", word)
		}
	}
}
