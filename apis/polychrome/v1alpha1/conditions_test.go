package v1alpha1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reasonPattern is what the API server demands of a condition's reason.
var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

func TestEveryReasonBelongsToACondition(t *testing.T) {
	listed := map[Reason]bool{}
	for _, facts := range Conditions() {
		for _, reason := range slices.Concat(facts.True, facts.False, facts.Unknown) {
			listed[reason] = true
		}
	}
	declared := constants(t, "reasons.go", "Reason")
	if len(declared) == 0 {
		t.Fatal("no reasons are declared")
	}
	for name, value := range declared {
		if want := strings.TrimPrefix(name, "Reason"); value != want {
			t.Errorf("%s: want the value %q, got %q", name, want, value)
		}
		if !reasonPattern.MatchString(value) {
			t.Errorf("%s: %q is refused by the API server", name, value)
		}
		if !listed[Reason(value)] {
			t.Errorf("%s is declared and goes with no condition", name)
		}
	}
}

func TestEveryConditionTypeIsListed(t *testing.T) {
	listed := map[ConditionType]bool{}
	for _, facts := range Conditions() {
		listed[facts.Type] = true
	}
	for name, value := range constants(t, "conditions.go", "ConditionType") {
		if !listed[ConditionType(value)] {
			t.Errorf("%s is declared and not listed", name)
		}
	}
}

func TestConditionFactsAreConsistent(t *testing.T) {
	seen := map[string]bool{}
	for _, facts := range Conditions() {
		key := facts.Kind + "/" + string(facts.Type)
		if seen[key] {
			t.Errorf("%s is listed twice", key)
		}
		seen[key] = true
		if facts.Type == ConditionReady && len(facts.Unknown) > 0 {
			t.Errorf("%s may be Unknown, which the control plane cannot read", key)
		}
		if facts.Kind != "" && facts.Healthy == metav1.ConditionTrue && len(facts.True) == 0 {
			t.Errorf("%s has no reason for its healthy status", key)
		}
		for _, reasons := range [][]Reason{facts.True, facts.False, facts.Unknown} {
			sorted := slices.Sorted(slices.Values(reasons))
			if len(slices.Compact(sorted)) != len(reasons) {
				t.Errorf("%s lists a reason twice for one status: %v", key, reasons)
			}
		}
	}
	for kind := range kinds() {
		if kind != "Agent" && !seen[kind+"/"+string(ConditionReady)] {
			t.Errorf("%s has no Ready condition", kind)
		}
	}
}

// constants returns the constants of a type in a file of this package.
func constants(t *testing.T, file, typeName string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		typ, ok := spec.Type.(*ast.Ident)
		literal, isLiteral := spec.Values[0].(*ast.BasicLit)
		if ok && isLiteral && typ.Name == typeName {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found[spec.Names[0].Name] = value
		}
		return true
	})
	return found
}
