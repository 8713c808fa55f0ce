package toolservice

import (
	"os"
	"strings"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestTheManualKnowsEveryReason(t *testing.T) {
	manual, err := os.ReadFile("../../docs/toolservices.md")
	if err != nil {
		t.Fatal(err)
	}
	known := []polychromev1alpha1.Reason{
		polychromev1alpha1.ReasonPending, polychromev1alpha1.ReasonAPIRefused, EventToolsChanged,
	}
	for _, facts := range polychromev1alpha1.Conditions() {
		if facts.Kind == "ToolService" {
			known = append(known, facts.True...)
			known = append(known, facts.False...)
			known = append(known, facts.Unknown...)
		}
	}
	for _, reason := range known {
		if !strings.Contains(string(manual), "`"+string(reason)+"`") {
			t.Errorf("docs/toolservices.md does not explain %s", reason)
		}
	}
	for _, phase := range []polychromev1alpha1.ToolServicePhase{
		polychromev1alpha1.ToolServicePending, polychromev1alpha1.ToolServiceReady, polychromev1alpha1.ToolServiceDegraded,
		polychromev1alpha1.ToolServiceUnreachable, polychromev1alpha1.ToolServiceInvalid,
	} {
		if !strings.Contains(string(manual), "`"+string(phase)+"`") {
			t.Errorf("docs/toolservices.md does not explain the phase %s", phase)
		}
	}
	if !strings.Contains(string(manual), SecretsComponent) {
		t.Errorf("docs/toolservices.md does not name %s", SecretsComponent)
	}
}
