package workflow

import (
	"fmt"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// When to look again, beside what events bring.
const (
	settledPoll = 5 * time.Minute
	movingPoll  = 15 * time.Second
)

// Plan decides. What is made or mended comes first, in the order of the
// dependencies, then what is removed.
func (r *Reconciler) Plan(_ time.Time, wf *polychromev1alpha1.Workflow, w World) framework.Plan[Action] {
	if wf.DeletionTimestamp != nil {
		return framework.Plan[Action]{Decision: "Deleting"}
	}
	if _, found := invalid(wf); found {
		return framework.Plan[Action]{Decision: "Invalid"}
	}
	g := graphOf(wf.Spec.Stages)
	started, removed := starts(wf, g, w.Children), removals(w.Leftovers)
	plan := framework.Plan[Action]{
		Actions: append(started, removed...),
		Wait:    movingPoll, WaitFor: "the stages to get ready", Spread: true,
		Events: events(g, w.Children),
	}
	switch {
	case len(started) > 0:
		plan.Decision = "Start"
	case len(removed) > 0:
		plan.Decision = "Remove"
	case !g.allReady(w.Children) || len(w.Leftovers) > 0:
		plan.Decision = "Wait"
	default:
		plan.Decision, plan.Wait, plan.WaitFor = "Settled", settledPoll, "a look at what is ready"
	}
	return plan
}

// starts are the children to be made, each if its gate is open, and those to
// be mended, each whatever the others do.
func starts(wf *polychromev1alpha1.Workflow, g graph, children map[string]Child) []Action {
	var actions []Action
	for _, i := range g.order() {
		name := g.stages[i].Name
		child := children[name]
		action := Action{Kind: ApplyStage, Stage: name, Child: childName(wf.Name, name), Drift: child.Drift}
		switch {
		case child.live() && child.Unread == nil && len(child.Drift) > 0:
			action.UID = child.Object.UID
		case !child.Present && len(g.blockers(i, children)) == 0:
		default:
			continue
		}
		actions = append(actions, action)
	}
	return actions
}

func removals(leftovers []*polychromev1alpha1.ServiceDefinition) []Action {
	var actions []Action
	for _, sd := range removable(leftovers) {
		actions = append(actions, Action{
			Kind: RemoveStage, Stage: sd.Labels[polychromev1alpha1.StageLabel], Child: sd.Name,
			UID: sd.UID, Version: sd.ResourceVersion,
		})
	}
	return actions
}

func (g graph) allReady(children map[string]Child) bool {
	for i := range g.stages {
		if !children[g.stages[i].Name].opens() {
			return false
		}
	}
	return true
}

// events tell of names that are taken.
func events(g graph, children map[string]Child) []framework.Event {
	var told []framework.Event
	for i := range g.stages {
		if child := children[g.stages[i].Name]; child.Foreign() {
			told = append(told, framework.Event{
				Warning: true, Reason: string(polychromev1alpha1.ReasonNameConflict),
				Message: fmt.Sprintf("stage %s: %s", g.stages[i].Name, conflict(child.Object.Name)),
			})
		}
	}
	return told
}

// conflict is what there is to say of a name that is taken.
func conflict(child string) string {
	return "the ServiceDefinition " + child + " is not this workflow's and is left alone; remove it, or rename the stage"
}
