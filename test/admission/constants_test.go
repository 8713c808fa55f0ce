package admission

import (
	"fmt"
	"strings"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/generated/crds"
)

// A reconciler falls back on the constants where an object predates the schema,
// so the two must say the same.
func TestConstantsAgreeWithTheSchema(t *testing.T) {
	tests := []struct {
		definition, path, keyword string
		want                      any
	}{
		{"servicedefinitions", "spec.port", "default", polychromev1alpha1.DefaultPort},
		{"servicedefinitions", "spec.replicas", "default", polychromev1alpha1.DefaultReplicas},
		{"workflows", "spec.stages.port", "default", polychromev1alpha1.DefaultPort},
		{"workflows", "spec.stages.replicas", "default", polychromev1alpha1.DefaultReplicas},
		{"workflows", "spec.stages.kind", "default", polychromev1alpha1.StageService},
		{"workflows", "spec.stages.name", "maxLength", polychromev1alpha1.MaxServiceNameLength},
		{"toolservices", "spec.remotes.type", "default", polychromev1alpha1.DefaultRemoteType},
		{"toolservices", "spec.auth.bearerSecretRef.key", "default", polychromev1alpha1.DefaultBearerSecretKey},
		{"toolservices", "spec.probe.intervalSeconds", "default", polychromev1alpha1.DefaultProbeIntervalSeconds},
		{"toolservices", "spec.probe.timeoutSeconds", "default", polychromev1alpha1.DefaultProbeTimeoutSeconds},
		{"routines", "spec.schedule.cron.timeZone", "default", polychromev1alpha1.DefaultTimeZone},
		{"routines", "spec.scope", "default", polychromev1alpha1.RoutinePrivate},
	}
	for _, tt := range tests {
		got := field(t, tt.definition, tt.path)[tt.keyword]
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s %s %s: want %v, got %v", tt.definition, tt.path, tt.keyword, tt.want, got)
		}
	}
	rules := fmt.Sprint(field(t, "toolservices", "spec.auth.bearerSecretRef.name")["x-kubernetes-validations"])
	for _, reserved := range []string{polychromev1alpha1.ReservedSecretPrefix, polychromev1alpha1.ReservedSecretName} {
		if !strings.Contains(rules, "'"+reserved+"'") {
			t.Errorf("the schema does not reserve %s: %s", reserved, rules)
		}
	}
}

// field returns the schema of a field; lists are passed through.
func field(t *testing.T, plural, path string) node {
	t.Helper()
	for _, document := range crds.Documents() {
		if document.Name != plural+"."+polychromev1alpha1.GroupName {
			continue
		}
		schema := schemaOf(t, document.YAML, polychromev1alpha1.SchemeGroupVersion.Version)
		for name := range strings.SplitSeq(path, ".") {
			if items, ok := schema["items"].(node); ok {
				schema = items
			}
			schema = schema["properties"].(node)[name].(node)
		}
		return schema
	}
	t.Fatalf("no definition of %s", plural)
	return nil
}
