package workflow

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestRemovable(t *testing.T) {
	left := func(name string, dependsOn ...string) *serviceDefinition {
		return wantedFor(flow(), stage(name, dependsOn...))
	}
	unlabelled := left("a")
	delete(unlabelled.Labels, polychromev1alpha1.StageLabel)
	for name, c := range map[string]struct {
		leftovers []*serviceDefinition
		want      []string
	}{
		"none":                                    {},
		"two that are independent":                {[]*serviceDefinition{left("a"), left("b")}, []string{"wf-a", "wf-b"}},
		"the end of a chain":                      {[]*serviceDefinition{left("a"), left("b", "a"), left("c", "b")}, []string{"wf-c"}},
		"both sides of a diamond":                 {[]*serviceDefinition{left("a"), left("b", "a"), left("c", "a")}, []string{"wf-b", "wf-c"}},
		"one that depended on what is kept":       {[]*serviceDefinition{left("b", "kept")}, []string{"wf-b"}},
		"not before the last is gone":             {[]*serviceDefinition{left("a"), going(left("b", "a"))}, nil},
		"one that lost its label":                 {[]*serviceDefinition{unlabelled, left("b")}, []string{"wf-a", "wf-b"}},
		"nor twice":                               {[]*serviceDefinition{going(left("a"))}, nil},
		"a circle at once":                        {[]*serviceDefinition{left("a", "b"), left("b", "a")}, []string{"wf-a", "wf-b"}},
		"what depends on a circle goes before it": {[]*serviceDefinition{left("a", "b"), left("b", "a"), left("c", "a")}, []string{"wf-c"}},
		"a circle of which one is going":          {[]*serviceDefinition{left("a", "b"), going(left("b", "a"))}, []string{"wf-a"}},
		"one that depends on itself, by hand":     {[]*serviceDefinition{left("a", "a")}, []string{"wf-a"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, sd := range removable(c.leftovers) {
				got = append(got, sd.Name)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
