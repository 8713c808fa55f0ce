package routine

import (
	"os"
	"strings"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestTheManualKnowsEveryReason(t *testing.T) {
	manual, err := os.ReadFile("../../docs/routines.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, facts := range polychromev1alpha1.Conditions() {
		if facts.Kind != "Routine" {
			continue
		}
		if !strings.Contains(string(manual), "`"+string(facts.Type)+"`") {
			t.Errorf("docs/routines.md does not explain %s", facts.Type)
		}
		for _, reasons := range [][]polychromev1alpha1.Reason{facts.True, facts.False, facts.Unknown} {
			for _, reason := range reasons {
				if !strings.Contains(string(manual), "`"+string(reason)+"`") {
					t.Errorf("docs/routines.md does not explain %s of %s", reason, facts.Type)
				}
			}
		}
	}
}
