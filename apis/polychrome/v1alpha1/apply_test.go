package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	agentsandboxac "polychrome.dev/controller/generated/applyconfiguration/agentsandbox/v1alpha1"
	polychromeac "polychrome.dev/controller/generated/applyconfiguration/polychrome/v1alpha1"
	"polychrome.dev/controller/generated/clientset/versioned/fake"
)

const manager = polychromev1alpha1.FieldManager

// The generated schema is what makes the fake clientset merge by field. Without
// it an apply would replace lists whole and Extract would not exist.
func TestApplyKeepsWhatOthersWrote(t *testing.T) {
	client := fake.NewClientset()
	workflows := client.PolychromeV1alpha1().Workflows("apps")
	stage := func(name string) *polychromeac.WorkflowStageApplyConfiguration {
		return polychromeac.WorkflowStage().WithName(name).WithImage("app:1")
	}

	theirs := polychromeac.Workflow("report", "apps").
		WithLabels(map[string]string{"team": "data"}).
		WithSpec(polychromeac.WorkflowSpec().WithOwner("them").WithStages(stage("load")))
	if _, err := workflows.Apply(t.Context(), theirs, metav1.ApplyOptions{FieldManager: "them"}); err != nil {
		t.Fatalf("applying theirs: %v", err)
	}
	ours := polychromeac.Workflow("report", "apps").
		WithLabels(map[string]string{"ours": "yes"}).
		WithSpec(polychromeac.WorkflowSpec().WithStages(stage("serve")))
	got, err := workflows.Apply(t.Context(), ours, metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil {
		t.Fatalf("applying ours: %v", err)
	}

	wantLabels := map[string]string{"team": "data", "ours": "yes"}
	if diff := cmp.Diff(wantLabels, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	wantSpec := polychromev1alpha1.WorkflowSpec{
		Owner:  "them",
		Stages: []polychromev1alpha1.WorkflowStage{{Name: "load", Image: "app:1"}, {Name: "serve", Image: "app:1"}},
	}
	if diff := cmp.Diff(wantSpec, got.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	extracted, err := polychromeac.ExtractWorkflow(got, manager)
	if err != nil {
		t.Fatalf("extracting ours: %v", err)
	}
	if diff := cmp.Diff(ours, extracted); diff != "" {
		t.Errorf("our fields (-want +got):\n%s", diff)
	}
}

func TestExtractReadsAClaimAsApplied(t *testing.T) {
	claims := fake.NewClientset().AgentSandboxV1alpha1().SandboxClaims("polychrome")
	ours := agentsandboxac.SandboxClaim("talk", "polychrome").
		WithLabels(map[string]string{polychromev1alpha1.ConversationUIDLabel: "uid"}).
		WithSpec(agentsandboxac.SandboxClaimSpec().
			WithSandboxTemplateRef(agentsandboxac.SandboxTemplateRef().WithName("harness")).
			WithLifecycle(agentsandboxac.Lifecycle().
				WithShutdownPolicy(agentsandboxv1alpha1.ShutdownDelete).
				WithTTLSecondsAfterFinished(60)))
	if _, err := claims.Apply(t.Context(), ours, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
		t.Fatalf("applying the claim: %v", err)
	}
	foreign := []byte(`{"metadata":{"labels":{"team":"data"}}}`)
	got, err := claims.Patch(t.Context(), "talk", types.MergePatchType, foreign, metav1.PatchOptions{FieldManager: "them"})
	if err != nil {
		t.Fatalf("labelling the claim: %v", err)
	}
	extracted, err := agentsandboxac.ExtractSandboxClaim(got, manager)
	if err != nil {
		t.Fatalf("extracting ours: %v", err)
	}
	if diff := cmp.Diff(ours, extracted); diff != "" {
		t.Errorf("our fields (-want +got):\n%s", diff)
	}
}

// A field that we stop applying must go, and theirs must stay.
func TestApplyDropsWhatIsNoLongerApplied(t *testing.T) {
	services := fake.NewClientset().PolychromeV1alpha1().ServiceDefinitions("apps")
	apply := func(env map[string]string, manager string) *polychromev1alpha1.ServiceDefinition {
		t.Helper()
		config := polychromeac.ServiceDefinition("web", "apps").
			WithSpec(polychromeac.ServiceDefinitionSpec().WithImage("app:1").WithEnv(env))
		got, err := services.Apply(t.Context(), config, metav1.ApplyOptions{FieldManager: manager, Force: true})
		if err != nil {
			t.Fatalf("applying as %s: %v", manager, err)
		}
		return got
	}
	apply(map[string]string{"A": "1", "B": "2"}, manager)
	apply(map[string]string{"C": "3"}, "them")
	got := apply(map[string]string{"A": "1"}, manager)
	if diff := cmp.Diff(map[string]string{"A": "1", "C": "3"}, got.Spec.Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
}
