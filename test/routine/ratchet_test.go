package routine

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/generated/crds"
	"polychrome.dev/controller/test/cluster"
)

var definitions = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// older are specs that the API server refuses today, with what the controller
// says of them.
var older = map[string]struct {
	change map[string]any
	reason polychromev1alpha1.Reason
}{
	"blank-prompt":  {map[string]any{"prompt": map[string]any{"text": " "}}, polychromev1alpha1.ReasonInvalidPrompt},
	"long-prompt":   {map[string]any{"prompt": map[string]any{"text": strings.Repeat("x", 40_000)}}, polychromev1alpha1.ReasonInvalidPrompt},
	"no-owner":      {map[string]any{"owner": nil}, polychromev1alpha1.ReasonInvalidSpec},
	"unknown-scope": {map[string]any{"scope": "Secret"}, polychromev1alpha1.ReasonInvalidSpec},
	"no-time":       {map[string]any{"schedule": map[string]any{}}, polychromev1alpha1.ReasonInvalidSchedule},
	"two-times": {map[string]any{"schedule": map[string]any{
		"cron": map[string]any{"expression": "@daily", "timeZone": "UTC"}, "once": map[string]any{"at": "2030-01-01T00:00:00Z"},
	}}, polychromev1alpha1.ReasonInvalidSchedule},
	"long-expression": {map[string]any{"schedule": map[string]any{
		"cron": map[string]any{"expression": "0 9 * * " + strings.Repeat("1,", 100) + "2", "timeZone": "UTC"},
	}}, polychromev1alpha1.ReasonInvalidSchedule},
	"prose": {map[string]any{"schedule": map[string]any{"once": map[string]any{"at": "tomorrow"}}}, polychromev1alpha1.ReasonInvalidSchedule},
	"long-zone": {map[string]any{"schedule": map[string]any{
		"cron": map[string]any{"expression": "@daily", "timeZone": strings.Repeat("z", 300)},
	}}, polychromev1alpha1.ReasonInvalidTimeZone},
}

// A routine that was stored before there were rules is reported on under
// them, and can still be labelled and let go of.
func TestARoutineFromBeforeTheRulesIsReportedOn(t *testing.T) {
	t.Parallel()
	config := cluster.Start(t, cluster.Options{APIOnly: true}).Config()
	s := newScene(t, config)
	s.installDefinition(true)
	for name, of := range older {
		s.store(name, of.change)
	}
	s.installDefinition(false)
	l := s.start()
	for name, of := range older {
		routine := s.routine(name)
		if reasonOf(routine) != of.reason || routine.Status.Phase != polychromev1alpha1.RoutineInvalid {
			t.Errorf("%s: want %s, got %+v", name, of.reason, routine.Status)
		}
		if !strings.Contains(routine.Status.Message, "write") {
			t.Errorf("%s: want it to say what to write, got %q", name, routine.Status.Message)
		}
		l.plays(s.edits(name, map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": "data"}}}),
			s.misses(name, "noticed"), s.deletes(routines, name))
	}
	s.finds()
}

// store makes an object that no rule judges.
func (s *scene) store(name string, change map[string]any) {
	s.t.Helper()
	body := map[string]any{
		"schedule": map[string]any{"cron": map[string]any{"expression": "@daily", "timeZone": "UTC"}},
		"prompt":   map[string]any{"text": "do it"}, "owner": "user:slack/U1",
	}
	for key, value := range change {
		if body[key] = value; value == nil {
			delete(body, key)
		}
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": polychromev1alpha1.SchemeGroupVersion.String(), "kind": "Routine", "metadata": map[string]any{"name": name}, "spec": body,
	}}
	if _, err := s.Live.Resource(routines).Namespace(s.Namespace).Create(s.t.Context(), object, metav1.CreateOptions{}); err != nil {
		s.t.Fatalf("storing %s: %v", name, err)
	}
}

// installDefinition creates or replaces the definition of Routines and
// returns when the server judges by it.
func (s *scene) installDefinition(lenient bool) {
	s.t.Helper()
	for _, document := range crds.Documents() {
		definition := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document.YAML, &definition.Object); err != nil {
			s.t.Fatal(err)
		}
		if kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind"); kind != "Routine" {
			continue
		}
		if lenient {
			strip(definition.Object["spec"])
		}
		if _, err := s.Live.Resource(definitions).Apply(s.t.Context(), document.Name, definition,
			metav1.ApplyOptions{FieldManager: "test", Force: true}); err != nil {
			s.t.Fatalf("installing %s: %v", document.Name, err)
		}
	}
	probe := &polychromev1alpha1.Routine{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: spec(daily)}
	probe.Spec.Prompt.Text = " "
	cluster.Eventually(s.t, settle, func() error {
		_, err := s.client.PolychromeV1alpha1().Routines(s.Namespace).Create(s.t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if lenient && err != nil || !lenient && !apierrors.IsInvalid(err) {
			return fmt.Errorf("still judged by other rules: %w", err)
		}
		return nil
	})
}

// constraints are the keywords of a schema that only refuse.
var constraints = map[string]bool{
	"x-kubernetes-validations": true, "enum": true, "required": true, "minLength": true, "maxLength": true,
	"x-kubernetes-list-type": true, "x-kubernetes-list-map-keys": true,
}

// strip removes the constraints from a schema and all below it.
func strip(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			if _, isSchema := child.(map[string]any); constraints[key] && !isSchema {
				delete(value, key)
				continue
			}
			strip(child)
		}
	case []any:
		for _, child := range value {
			strip(child)
		}
	}
}
