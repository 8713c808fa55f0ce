package workflow

import (
	"fmt"
	"strings"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/conditions"
)

// verdict is what the condition Ready says.
type verdict struct {
	reason  polychromev1alpha1.Reason
	message string
	ready   bool
	// stalled says that only new input can help.
	stalled bool
	// passedOn says that the message is somebody else's: it may change more
	// often than is worth a write.
	passedOn bool
}

// troubles are the reasons for which a workflow is not ready, in the order in
// which they win, with the stages that are meant.
var troubles = []struct {
	reason polychromev1alpha1.Reason
	holds  func(state) bool
	tells  func(state) string
}{
	{polychromev1alpha1.ReasonNameConflict, because(polychromev1alpha1.ReasonNameConflict), state.full},
	{polychromev1alpha1.ReasonAPIRefused, because(polychromev1alpha1.ReasonAPIRefused), state.full},
	{polychromev1alpha1.ReasonUndecodable, because(polychromev1alpha1.ReasonUndecodable), state.full},
	{polychromev1alpha1.ReasonStageDegraded, because(polychromev1alpha1.ReasonStageDegraded), state.brief},
	{polychromev1alpha1.ReasonChildTerminating, because(polychromev1alpha1.ReasonChildTerminating), state.full},
	{polychromev1alpha1.ReasonUpstreamNotReady, func(s state) bool { return s.blocked }, state.waits},
	{polychromev1alpha1.ReasonStagesProgressing, func(s state) bool { return s.phase != polychromev1alpha1.StageReady }, state.brief},
}

func because(reason polychromev1alpha1.Reason) func(state) bool {
	return func(s state) bool { return s.reason == reason }
}

func (s state) full() string  { return "stage " + s.name + ": " + s.text }
func (s state) brief() string { return s.name + " (" + s.cause + ")" }
func (s state) waits() string { return s.name + " waits for " + s.text }

// judge finds the verdict on a workflow that is valid.
func judge(all []state, leftovers int) verdict {
	for _, trouble := range troubles {
		var told []string
		for _, s := range all {
			if trouble.holds(s) {
				told = append(told, trouble.tells(s))
			}
		}
		if len(told) > 0 {
			return found(trouble.reason, all, told)
		}
	}
	message := "every stage is ready"
	if leftovers > 0 {
		message += fmt.Sprintf("; removed ones still going: %d", leftovers)
	}
	return verdict{reason: polychromev1alpha1.ReasonStagesReady, message: message, ready: true}
}

func found(reason polychromev1alpha1.Reason, all []state, told []string) verdict {
	says := verdict{reason: reason, message: strings.Join(told, "; ")}
	switch reason {
	case polychromev1alpha1.ReasonNameConflict:
		says.stalled = true
	case polychromev1alpha1.ReasonAPIRefused, polychromev1alpha1.ReasonUndecodable:
		says.passedOn = true
	case polychromev1alpha1.ReasonStageDegraded:
		says.message = "no longer ready: " + strings.Join(told, ", ")
	case polychromev1alpha1.ReasonStagesProgressing:
		says.message = fmt.Sprintf("stages ready: %d of %d; not yet: %s", readyCount(all), len(all), strings.Join(told, ", "))
	}
	says.message = conditions.Truncate(says.message, maxMessage)
	return says
}

func readyCount(all []state) int {
	count := 0
	for _, s := range all {
		if s.phase == polychromev1alpha1.StageReady {
			count++
		}
	}
	return count
}

// phaseOf is the one-word summary. That a stage was ready once is remembered
// by the phase itself: a workflow that rolls all its stages is no longer
// pending.
func phaseOf(wf *polychromev1alpha1.Workflow, all []state, says verdict) polychromev1alpha1.WorkflowPhase {
	started := readyCount(all) > 0 || wf.Status.ReadyStages > 0
	switch wf.Status.Phase {
	case polychromev1alpha1.WorkflowProgressing, polychromev1alpha1.WorkflowReady, polychromev1alpha1.WorkflowDegraded:
		started = true
	}
	for _, s := range all {
		if s.reason == polychromev1alpha1.ReasonStageDegraded {
			return polychromev1alpha1.WorkflowDegraded
		}
	}
	switch {
	case says.ready:
		return polychromev1alpha1.WorkflowReady
	case started:
		return polychromev1alpha1.WorkflowProgressing
	}
	return polychromev1alpha1.WorkflowPending
}
