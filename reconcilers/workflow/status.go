package workflow

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/conditions"
	"polychrome.dev/controller/framework/owners"
)

// Status is the workflow as it should be seen after this pass.
func (r *Reconciler) Status(
	now time.Time, wf *polychromev1alpha1.Workflow, w World, done []framework.Done[Action],
) *polychromev1alpha1.Workflow {
	if wf.DeletionTimestamp != nil {
		return wf
	}
	g, k := graphOf(wf.Spec.Stages), knownAfter(w, done)
	wrong, broken := invalid(wf)
	k.invalid = broken
	all := k.states(wf, g)
	says := judge(all, leftAfter(w, done))
	if refusal, refused := refusedRemoval(done); refused && says.ready {
		says = verdict{reason: polychromev1alpha1.ReasonAPIRefused, message: refusal, passedOn: true}
	}
	phase := phaseOf(wf, all, says)
	if broken {
		says = verdict{reason: wrong.reason, message: wrong.message, stalled: true}
		phase = polychromev1alpha1.WorkflowInvalid
	}
	want := polychromev1alpha1.WorkflowStatus{
		ObservedGeneration: wf.Generation,
		Phase:              phase,
		ReadyStages:        int32(readyCount(all)),
		TotalStages:        int32(len(wf.Spec.Stages)),
		Stages:             listed(wf, g, all),
		Conditions:         conditionsOf(wf, now, says),
	}
	if equality.Semantic.DeepEqual(wf.Status, calmed(want, wf.Status, g, all, says)) {
		return wf
	}
	changed := wf.DeepCopy()
	changed.Status = want
	return changed
}

// knownAfter is the world with what acting taught.
func knownAfter(w World, done []framework.Done[Action]) known {
	k := known{children: maps.Clone(w.Children), refused: map[string]error{}}
	for _, d := range done {
		learned, _ := d.Result.Learned.(Learned)
		switch {
		case d.Action.Kind != ApplyStage:
		case learned.Refused != nil:
			k.refused[d.Action.Stage] = learned.Refused
		case learned.Applied != nil:
			applied := Child{}
			applied.Object, applied.Present, applied.Ownership = learned.Applied, true, owners.Ours
			k.children[d.Action.Stage] = applied
		}
	}
	return k
}

// leftAfter is how many leftovers are still there. One that was deleted and
// stays because somebody holds it is counted by the next pass; a refusal is
// told in another way.
func leftAfter(w World, done []framework.Done[Action]) int {
	left := len(w.Leftovers)
	for _, d := range done {
		if d.Action.Kind == RemoveStage && d.Err == nil {
			left--
		}
	}
	return left
}

// refusedRemoval is why a removed stage is still there, if the API server
// would not have it deleted.
func refusedRemoval(done []framework.Done[Action]) (string, bool) {
	for _, d := range done {
		if learned, _ := d.Result.Learned.(Learned); learned.Refused != nil && d.Action.Kind == RemoveStage {
			return conditions.Truncate("removed stage "+d.Action.Stage+": "+learned.Refused.Error(), maxMessage), true
		}
	}
	return "", false
}

// listed are the stages in the order of the spec, one of each name.
func listed(wf *polychromev1alpha1.Workflow, g graph, all []state) []polychromev1alpha1.WorkflowStageStatus {
	var list []polychromev1alpha1.WorkflowStageStatus
	for _, stage := range distinct(wf.Spec.Stages) {
		s := all[g.at[stage.Name]]
		entry := polychromev1alpha1.WorkflowStageStatus{
			Name: s.name, Phase: s.phase, Ready: s.phase == polychromev1alpha1.StageReady, ServiceDefinition: s.child, Message: s.message(),
		}
		list = append(list, entry)
	}
	return list
}

// conditionsOf puts the verdict into the conditions. Those of other types stay
// as they are.
func conditionsOf(wf *polychromev1alpha1.Workflow, now time.Time, says verdict) []metav1.Condition {
	list := wf.Status.Conditions
	set := func(kind polychromev1alpha1.ConditionType, holds bool) {
		list = conditions.Set(list, now, wf.Generation, metav1.Condition{
			Type: string(kind), Status: conditions.Status(holds), Reason: string(says.reason), Message: says.message,
		})
	}
	set(polychromev1alpha1.ConditionReady, says.ready)
	if !says.stalled {
		return conditions.Remove(list, string(polychromev1alpha1.ConditionStalled))
	}
	set(polychromev1alpha1.ConditionStalled, true)
	return list
}

// calmed is a wanted status with the texts of the stored one where all that
// differs is what somebody else says about the same thing: that is no reason
// to write. Such a text comes with the next write.
func calmed(want, stored polychromev1alpha1.WorkflowStatus, g graph, all []state, says verdict) polychromev1alpha1.WorkflowStatus {
	want.Stages, want.Conditions = slices.Clone(want.Stages), slices.Clone(want.Conditions)
	for i := range want.Stages {
		entry := &want.Stages[i]
		s := all[g.at[entry.Name]]
		if old, found := entryOf(stored, entry.Name); found && s.passedOn && strings.HasPrefix(old.Message, s.head()) {
			entry.Message = old.Message
		}
	}
	ready := meta.FindStatusCondition(want.Conditions, string(polychromev1alpha1.ConditionReady))
	old := meta.FindStatusCondition(stored.Conditions, string(polychromev1alpha1.ConditionReady))
	if says.passedOn && old != nil {
		ready.Message = old.Message
	}
	return want
}

// entryOf is what a status says of a stage.
func entryOf(status polychromev1alpha1.WorkflowStatus, stage string) (polychromev1alpha1.WorkflowStageStatus, bool) {
	for _, entry := range status.Stages {
		if entry.Name == stage {
			return entry, true
		}
	}
	return polychromev1alpha1.WorkflowStageStatus{}, false
}
