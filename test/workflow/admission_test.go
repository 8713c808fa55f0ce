package workflow

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// What the schema refuses never comes to a pass; what it lets through is told
// in the status.
func TestWhatTheAPIServerRefusesAndWhatTheControllerTells(t *testing.T) {
	s := newScene(t)
	s.start()
	for name, c := range map[string]struct {
		flow   string
		stages []polychromev1alpha1.WorkflowStage
		// wantRefused is in the API server's answer; wantReason is told if
		// that is empty.
		wantRefused string
		wantReason  polychromev1alpha1.Reason
	}{
		"no stages":                        {flow: "empty", stages: []polychromev1alpha1.WorkflowStage{}, wantRefused: "spec.stages"},
		"a stage listed twice":             {flow: "twice", stages: []polychromev1alpha1.WorkflowStage{stage("a"), stage("a")}, wantRefused: "Duplicate value"},
		"a dependency twice":               {flow: "again", stages: []polychromev1alpha1.WorkflowStage{stage("a"), stage("b", "a", "a")}, wantRefused: "Duplicate value"},
		"a name in capitals":               {flow: "capital", stages: []polychromev1alpha1.WorkflowStage{stage("Load")}, wantRefused: "a stage's name becomes part"},
		"a workflow with a dot":            {flow: "a.b", stages: []polychromev1alpha1.WorkflowStage{stage("a")}, wantRefused: "the name becomes part"},
		"65 stages":                        {flow: "many", stages: chain(65), wantRefused: "spec.stages"},
		"64 stages in a chain":             {flow: "chain", stages: chain(64), wantReason: polychromev1alpha1.ReasonStagesProgressing},
		"64 stages, each on all before it": {flow: "dense", stages: dense(64), wantReason: polychromev1alpha1.ReasonStagesProgressing},
		"a cycle":                          {flow: "cycle", stages: []polychromev1alpha1.WorkflowStage{stage("a", "b"), stage("b", "a")}, wantReason: polychromev1alpha1.ReasonDependencyCycle},
		"itself":                           {flow: "self", stages: []polychromev1alpha1.WorkflowStage{stage("a", "a")}, wantReason: polychromev1alpha1.ReasonSelfDependency},
		"an unknown dependency":            {flow: "unknown", stages: []polychromev1alpha1.WorkflowStage{stage("a", "b")}, wantReason: polychromev1alpha1.ReasonUnknownDependency},
	} {
		err := s.makes(c.flow, c.stages...).Do(t.Context())
		switch {
		case c.wantRefused != "":
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.wantRefused) {
				t.Errorf("%s: want it refused for %q, got %v", name, c.wantRefused, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			s.reasons(c.flow, c.wantReason)
		}
	}
}

// dense are stages of which each depends on all before it, chain ones of which
// each depends on the one before it.
func dense(n int) []polychromev1alpha1.WorkflowStage {
	stages := chain(n)
	for i := range stages {
		stages[i].DependsOn = nil
		for _, earlier := range stages[:i] {
			stages[i].DependsOn = append(stages[i].DependsOn, earlier.Name)
		}
	}
	return stages
}

func chain(n int) []polychromev1alpha1.WorkflowStage {
	stages := make([]polychromev1alpha1.WorkflowStage, n)
	for i := range stages {
		stages[i] = stage("s" + strings.Repeat("x", i%8) + string(rune('a'+i/8)))
		if i > 0 {
			stages[i].DependsOn = []string{stages[i-1].Name}
		}
	}
	return stages
}
