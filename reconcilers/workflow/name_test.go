package workflow

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChildNames(t *testing.T) {
	w := func(n int) string { return strings.Repeat("w", n) }
	for name, c := range map[string]struct{ workflow, stage, want string }{
		"both, with a dash between them":      {"nightly-report", "load", "nightly-report-load"},
		"62 characters":                       {w(57), "load", w(57) + "-load"},
		"63 characters":                       {w(58), "load", w(58) + "-load"},
		"64 characters are cut":               {w(59), "load", w(54) + "-b191piav"},
		"two of 63":                           {w(63), strings.Repeat("s", 63), w(54) + "-851rnh0v"},
		"the cut leaves no dashes at its end": {w(50) + "----x", "stage-name", w(50) + "-rcbqek9q"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := childName(c.workflow, c.stage); got != c.want {
				t.Errorf("want %s, got %s", c.want, got)
			}
		})
	}
}

func TestNamesMeetOnlyWhereTheyAreShort(t *testing.T) {
	if a, b := childName("a-b", "c"), childName("a", "b-c"); a != b {
		t.Errorf("want one name, got %s and %s", a, b)
	}
	long := strings.Repeat("x", 60)
	if a, b := childName(long, "b-c"), childName(long+"-b", "c"); a == b {
		t.Errorf("want two names, got %s twice", a)
	}
}

// FuzzChildName has every name be one that a Service may have, and cut names
// differ unless workflow and stage are the same.
func FuzzChildName(f *testing.F) {
	for _, seed := range [][4]string{
		{"a-b", "c", "a", "b-c"},
		{strings.Repeat("x", 60), "b-c", strings.Repeat("x", 60) + "-b", "c"},
		{strings.Repeat("a-", 31) + "a", "c-------------------c", strings.Repeat("a", 53), "b--------------------c"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, workflow, stage, otherWorkflow, otherStage string) {
		for _, name := range []string{workflow, stage, otherWorkflow, otherStage} {
			if !isLabel(name) {
				t.Skip("no label")
			}
		}
		one, two := childName(workflow, stage), childName(otherWorkflow, otherStage)
		if !isLabel(one) || one != childName(workflow, stage) {
			t.Errorf("childName(%q, %q) = %q is no label", workflow, stage, one)
		}
		same := workflow == otherWorkflow && stage == otherStage
		if cut := len(workflow)+len(stage) >= 63; cut && one == two && !same {
			t.Errorf("%q and %q meet %q and %q in %q", workflow, stage, otherWorkflow, otherStage, one)
		}
		if whole := len(workflow)+len(stage) < 63; whole && !slices.Contains(namesakes(one), workflow) {
			t.Errorf("the child %q may be of %q, got %q", one, workflow, namesakes(one))
		}
	})
}

func TestNamesakes(t *testing.T) {
	for child, want := range map[string][]string{"a-b-c": {"a", "a-b"}, "a": nil, "-a": nil, "a--b": {"a", "a-"}} {
		if diff := cmp.Diff(want, namesakes(child)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", child, diff)
		}
	}
}
