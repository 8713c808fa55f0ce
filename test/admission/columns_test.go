package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"polychrome.dev/controller/generated/crds"
)

// What kubectl get shows is part of the contract. A wide column is in brackets.
func TestNamesAndColumns(t *testing.T) {
	want := map[string]string{
		"agents.polychrome.dev":             "agent: Model, Sandbox, Age",
		"conversations.polychrome.dev":      "conv: Phase, Ready, Reason, [Pod IP], [Claim], [Generation], Age",
		"routines.polychrome.dev":           "routine: Schedule, Zone, Suspended, Ready, Next, Age",
		"servicedefinitions.polychrome.dev": "svcdef: Ready, Phase, Reason, Available, Desired, [Image], Age",
		"toolservices.polychrome.dev":       "ts: Ready, Reason, Tools, [URL], [Protocol], Age",
		"workflows.polychrome.dev":          "wf: Ready, Phase, Reason, ReadyStages, Stages, Age",
	}
	got := map[string]string{}
	for _, document := range crds.Documents() {
		spec := decoded(t, document.YAML)["spec"].(node)
		names := spec["names"].(node)
		version := spec["versions"].([]any)[0].(node)
		var columns []string
		for _, item := range version["additionalPrinterColumns"].([]any) {
			column := item.(node)
			name := column["name"].(string)
			if column["priority"] != nil {
				name = "[" + name + "]"
			}
			columns = append(columns, name)
			if column["description"] == nil {
				t.Errorf("%s: the column %s has no description", document.Name, name)
			}
		}
		got[document.Name] = names["shortNames"].([]any)[0].(string) + ": " + strings.Join(columns, ", ")
		if diff := cmp.Diff([]any{"polychrome"}, names["categories"]); diff != "" {
			t.Errorf("%s: categories (-want +got):\n%s", document.Name, diff)
		}
		if spec["scope"] != "Namespaced" {
			t.Errorf("%s: scope: want Namespaced, got %v", document.Name, spec["scope"])
		}
		if version["subresources"].(node)["status"] == nil {
			t.Errorf("%s has no status subresource", document.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("short name and columns (-want +got):\n%s", diff)
	}
}
