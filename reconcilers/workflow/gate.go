package workflow

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// live reports whether the child is the workflow's own and is not going.
func (c Child) live() bool { return c.own() && c.Object.DeletionTimestamp == nil }

func (c Child) own() bool { return c.Present && !c.Foreign() }

// terminating reports a child that is going. What is wanted is made when it
// is gone.
func (c Child) terminating() bool { return c.own() && c.Object.DeletionTimestamp != nil }

// asWanted reports whether the child shows what the spec wants. One that is
// still to be changed may well be ready, but for something else.
func (c Child) asWanted() bool { return c.live() && c.Unread == nil && len(c.Drift) == 0 }

// judged reports whether the status of a ServiceDefinition is about its
// current spec.
func judged(sd *polychromev1alpha1.ServiceDefinition) bool {
	said := readyCondition(sd)
	return said != nil && sd.Status.ObservedGeneration == sd.Generation && said.ObservedGeneration == sd.Generation
}

// ready reports whether a ServiceDefinition is ready in its current spec.
func ready(sd *polychromev1alpha1.ServiceDefinition) bool {
	return judged(sd) && readyCondition(sd).Status == metav1.ConditionTrue
}

func readyCondition(sd *polychromev1alpha1.ServiceDefinition) *metav1.Condition {
	return meta.FindStatusCondition(sd.Status.Conditions, string(polychromev1alpha1.ConditionReady))
}

// opens reports whether others may start on the child.
func (c Child) opens() bool { return c.asWanted() && ready(c.Object) }

// blockers are the stages that keep the gate of a stage shut, in the order of
// their names: all that it depends on and that are not ready.
func (g graph) blockers(i int, children map[string]Child) []int {
	var blockers []int
	for _, j := range g.needs[i] {
		if !children[g.stages[j].Name].opens() {
			blockers = append(blockers, j)
		}
	}
	return blockers
}
