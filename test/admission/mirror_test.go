package admission

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"polychrome.dev/controller/generated/testcrds"
)

// The lists in testdata/mirror were taken from the definitions that the
// agent-sandbox operator ships: v0.4.6 for v1alpha1, v0.5.6 for v1beta1. A
// difference means that the mirror would not talk to the operator.
func TestMirrorHasTheShapeOfTheOriginal(t *testing.T) {
	definitions := map[string][]byte{
		"v1alpha1": testcrds.SandboxClaimV1alpha1,
		"v1beta1":  testcrds.SandboxClaimV1beta1,
	}
	for version, definition := range definitions {
		t.Run(version, func(t *testing.T) {
			list, err := os.ReadFile(filepath.Join("testdata", "mirror", version+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSpace(string(list)), "\n")
			for name, definition := range map[string][]byte{"alone": definition, "among both": testcrds.SandboxClaim} {
				got := shape("", schemaOf(t, definition, version), false)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("fields of the version %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// shape lists the fields of a schema, one a line: path, type and what a client
// must know to write a valid value. Volume claim templates are Kubernetes' own
// type and are not listed further.
func shape(path string, schema node, required bool) []string {
	line := fmt.Sprintf("%s %v", strings.TrimPrefix(path, "."), schema["type"])
	if required {
		line += " required"
	}
	for _, key := range []string{"format", "default", "enum", "minimum", "x-kubernetes-list-type"} {
		if value, ok := schema[key]; ok {
			line += fmt.Sprintf(" %s=%v", key, value)
		}
	}
	lines := []string{line}
	if path == "" {
		lines = nil
	}
	if path == ".spec.volumeClaimTemplates[].spec" || path == ".metadata" {
		return lines
	}
	needed, _ := schema["required"].([]any)
	if properties, ok := schema["properties"].(node); ok {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			lines = append(lines, shape(path+"."+name, properties[name].(node), slices.Contains(needed, any(name)))...)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if child, ok := schema[key].(node); ok {
			lines = append(lines, shape(path+"[]", child, false)...)
		}
	}
	return lines
}
