package workflow

import (
	"slices"
	"strings"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// removable are the leftovers that may go now: those on which no other one
// depends that is still there. The spec has forgotten who depended on whom;
// each child remembers it in an annotation. Two edits, or a hand, may have made
// that a circle, in which everybody would wait for ever: then all may go.
func removable(leftovers []*polychromev1alpha1.ServiceDefinition) []*polychromev1alpha1.ServiceDefinition {
	needed := map[string]bool{}
	for _, sd := range leftovers {
		stage := sd.Labels[polychromev1alpha1.StageLabel]
		for name := range strings.SplitSeq(sd.Annotations[polychromev1alpha1.DependsOnAnnotation], ",") {
			needed[name] = needed[name] || name != stage && name != ""
		}
	}
	free := slices.DeleteFunc(slices.Clone(leftovers), func(sd *polychromev1alpha1.ServiceDefinition) bool {
		return needed[sd.Labels[polychromev1alpha1.StageLabel]]
	})
	if len(free) == 0 {
		free = slices.Clone(leftovers)
	}
	return slices.DeleteFunc(free, func(sd *polychromev1alpha1.ServiceDefinition) bool { return sd.DeletionTimestamp != nil })
}
