package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"polychrome.dev/controller/generated/crds"
)

// node is one schema of a CustomResourceDefinition, as decoded from YAML.
type node = map[string]any

// countFields are integers of the status that count something small and so may
// have 32 bits.
var countFields = map[string]bool{
	"availableReplicas": true, "readyStages": true, "totalStages": true, "toolCount": true, "count": true,
}

func TestGeneratedSchemas(t *testing.T) {
	documents := crds.Documents()
	if len(documents) != 6 {
		t.Fatalf("definitions: want 6, got %d", len(documents))
	}
	for _, document := range documents {
		t.Run(document.Name, func(t *testing.T) {
			if !strings.HasPrefix(string(document.YAML), "---\n") {
				t.Error("the document is not opened by ---")
			}
			for _, complaint := range complaints(schemaOf(t, document.YAML, "v1alpha1")) {
				t.Error(complaint)
			}
		})
	}
}

// schemaOf returns the schema of a version of a definition.
func schemaOf(t *testing.T, definition []byte, version string) node {
	t.Helper()
	for _, served := range decoded(t, definition)["spec"].(node)["versions"].([]any) {
		if served.(node)["name"] == version {
			return served.(node)["schema"].(node)["openAPIV3Schema"].(node)
		}
	}
	t.Fatalf("no version %s", version)
	return nil
}

func decoded(t *testing.T, data []byte) node {
	t.Helper()
	var out node
	if err := yaml.Unmarshal(data, &out); err != nil {
		t.Fatalf("decoding YAML: %v", err)
	}
	return out
}

// complaints walks a schema and says what breaks the house rules.
func complaints(root node) []string {
	var found []string
	if root["description"] == nil {
		found = append(found, "the kind has no description")
	}
	found = append(found, ruleComplaints("", root)...)
	properties := root["properties"].(node)
	for _, name := range []string{"spec", "status"} {
		if part, ok := properties[name].(node); ok {
			found = append(found, nodeComplaints(name, name, part)...)
		}
	}
	return found
}

func nodeComplaints(path, name string, schema node) []string {
	var found []string
	complain := func(text string) { found = append(found, path+" "+text) }
	if schema["description"] == nil && !strings.HasSuffix(path, "[]") {
		complain("has no description")
	}
	switch schema["type"] {
	case "string":
		if schema["maxLength"] == nil && schema["enum"] == nil && schema["format"] != "date-time" {
			complain("is a string without a limit")
		}
	case "array":
		if schema["maxItems"] == nil {
			complain("is a list without a limit")
		}
		if schema["x-kubernetes-list-type"] == nil {
			complain("does not say how it merges")
		}
	case "object":
		open := schema["additionalProperties"] != nil || schema["x-kubernetes-preserve-unknown-fields"] != nil
		if open && schema["maxProperties"] == nil {
			complain("is a map without a limit")
		}
	case "integer":
		found = append(found, integerComplaints(path, name, schema)...)
	}
	found = append(found, ruleComplaints(path, schema)...)
	return append(found, childComplaints(path, schema)...)
}

func childComplaints(path string, schema node) []string {
	var found []string
	if properties, ok := schema["properties"].(node); ok {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			found = append(found, nodeComplaints(path+"."+name, name, properties[name].(node))...)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if child, ok := schema[key].(node); ok {
			found = append(found, nodeComplaints(path+"[]", "", child)...)
		}
	}
	return found
}

// integerComplaints: API servers enforce format int32, so a value that may pass
// it must not have it. In the status a minimum would make an absurd stamp
// refuse every later write; the one in conditions is upstream's.
func integerComplaints(path, name string, schema node) []string {
	var found []string
	inStatus := strings.HasPrefix(path, "status.")
	if schema["format"] == "int32" && schema["maximum"] == nil && (!inStatus || !countFields[name]) {
		found = append(found, path+" has 32 bits and no maximum")
	}
	if inStatus && schema["minimum"] != nil && path != "status.conditions[].observedGeneration" {
		found = append(found, path+" has a minimum")
	}
	return found
}

// ruleComplaints: a rule at the root also judges writes of the status, of labels
// and of finalizers to objects that exist, so it must let those pass.
func ruleComplaints(path string, schema node) []string {
	rules, _ := schema["x-kubernetes-validations"].([]any)
	var found []string
	for _, item := range rules {
		rule := item.(node)
		text := fmt.Sprint(rule["rule"])
		guarded := strings.HasPrefix(text, "oldSelf.hasValue() || (") && strings.HasSuffix(text, ")") && rule["optionalOldSelf"] == true
		switch {
		case rule["message"] == nil:
			found = append(found, path+" has a rule without a message: "+text)
		case path == "" && !guarded:
			found = append(found, "the root has a rule that judges objects that exist: "+text)
		case path != "" && strings.Contains(text, "oldSelf"):
			found = append(found, path+" has a rule that looks at the old value: "+text)
		}
	}
	return found
}

func TestComplaintsAreMade(t *testing.T) {
	const good = `description: d
properties:
  spec:
    type: object
    description: d
    properties:
      field: `
	tests := []struct {
		name   string
		schema string
		want   []string
	}{
		{"a bounded string passes", good + `{type: string, description: d, maxLength: 1}`, nil},
		{"an enum is bounded", good + `{type: string, description: d, enum: [a]}`, nil},
		{"an unbounded string", good + `{type: string, description: d}`, []string{"spec.field is a string without a limit"}},
		{"an undescribed field", good + `{type: boolean}`, []string{"spec.field has no description"}},
		{
			"an unbounded list of unbounded strings", good + `{type: array, description: d, items: {type: string}}`,
			[]string{"spec.field is a list without a limit", "spec.field does not say how it merges", "spec.field[] is a string without a limit"},
		},
		{
			"an unbounded map", good + `{type: object, description: d, additionalProperties: {type: string, maxLength: 1}}`,
			[]string{"spec.field is a map without a limit"},
		},
		{
			"an open object", good + `{type: object, description: d, x-kubernetes-preserve-unknown-fields: true}`,
			[]string{"spec.field is a map without a limit"},
		},
		{"a short integer", good + `{type: integer, description: d, format: int32}`, []string{"spec.field has 32 bits and no maximum"}},
		{
			"a status integer with a minimum", "description: d\nproperties: {status: {type: object, description: d, properties: {at: {type: integer, description: d, format: int64, minimum: 0}}}}",
			[]string{"status.at has a minimum"},
		},
		{
			"a root rule that judges updates", "description: d\nproperties: {}\nx-kubernetes-validations: [{rule: 'self.metadata.name != oldSelf.hasValue()', message: m, optionalOldSelf: true}]",
			[]string{"the root has a rule that judges objects that exist: self.metadata.name != oldSelf.hasValue()"},
		},
		{
			"a rule on a field that looks back", good + `{type: boolean, description: d, x-kubernetes-validations: [{rule: 'self == oldSelf', message: m}]}`,
			[]string{"spec.field has a rule that looks at the old value: self == oldSelf"},
		},
		{
			"a rule without a message", good + `{type: boolean, description: d, x-kubernetes-validations: [{rule: 'self'}]}`,
			[]string{"spec.field has a rule without a message: self"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, complaints(decoded(t, []byte(tt.schema)))); diff != "" {
				t.Errorf("complaints (-want +got):\n%s", diff)
			}
		})
	}
}
