package workflow

import (
	"cmp"
	"strings"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/conditions"
)

// state is how a stage stands after a pass.
type state struct {
	name, child string
	phase       polychromev1alpha1.StagePhase
	// reason is why the stage is not ready; empty if it is, or if there is
	// nothing to say. text goes on from there.
	reason polychromev1alpha1.Reason
	text   string
	// passedOn says that the text is somebody else's: it may change more often
	// than is worth a write.
	passedOn bool
	// cause is the reason to name to those that wait for the stage.
	cause string
	// stuck says that the stage will not get ready by mere waiting, as far as
	// its child can tell.
	stuck bool
	// blocked says that it waits for one that is.
	blocked bool
}

// message is what the status says of a stage: a reason, and what goes with it.
func (s state) message() string { return conditions.Truncate(s.head()+s.text, maxMessage) }

// head are the reasons with which the message begins. It is by them that a
// later pass knows what this one thought of the stage.
func (s state) head() string {
	switch s.reason {
	case "":
		return ""
	case polychromev1alpha1.ReasonStageDegraded:
		return degradedHead + s.cause + ": "
	}
	return string(s.reason) + ": "
}

const degradedHead = string(polychromev1alpha1.ReasonStageDegraded) + ": "

// states are how all stages stand, in the order of their names.
func (k known) states(wf *polychromev1alpha1.Workflow, g graph) []state {
	all := make([]state, len(g.stages))
	for i := range g.stages {
		all[i] = k.stateOf(wf, g.stages[i])
	}
	if k.invalid {
		return all
	}
	// What a stage waits for is said of those before it first.
	for _, i := range g.order() {
		if all[i].phase == polychromev1alpha1.StageWaiting {
			all[i].block(g.blockers(i, k.children), all)
		}
	}
	return all
}

// known is what a pass knows of the children after acting.
type known struct {
	children map[string]Child
	// refused has why the API server would not have a stage's child.
	refused map[string]error
	// invalid says that the spec is, and that no child is compared with it.
	invalid bool
}

// stateOf says how a stage stands by its own child. One that has none, for no
// reason of its own, is waiting.
func (k known) stateOf(wf *polychromev1alpha1.Workflow, stage polychromev1alpha1.WorkflowStage) state {
	child, s := k.children[stage.Name], state{name: stage.Name, phase: polychromev1alpha1.StagePending}
	if isLabel(wf.Name) && isLabel(stage.Name) {
		s.child = childName(wf.Name, stage.Name)
	}
	switch {
	case k.obstructed(&s, child):
	case !child.Present:
		s.phase = polychromev1alpha1.StageWaiting
	default:
		s.follow(wf, child.Object)
	}
	if s.phase != polychromev1alpha1.StageReady && stage.Replicas != nil && *stage.Replicas == 0 {
		s.cause, s.stuck = string(polychromev1alpha1.ReasonStopped)+": zero replicas", true
	}
	return s
}

// obstructed says why it does not matter what the child says of itself, if
// there is such a reason.
func (k known) obstructed(s *state, child Child) bool {
	refusal := k.refused[s.name]
	switch {
	case child.Foreign():
		s.say(polychromev1alpha1.ReasonNameConflict, conflict(s.child))
		s.stuck = true
	case child.terminating():
		s.say(polychromev1alpha1.ReasonChildTerminating, terminating(child.Object))
	case refusal != nil:
		s.say(polychromev1alpha1.ReasonAPIRefused, refusal.Error())
		s.passedOn, s.stuck = true, true
	case !child.Present || k.invalid:
		return false
	case child.Unread != nil:
		s.say(polychromev1alpha1.ReasonUndecodable, child.Unread.Error())
		s.passedOn, s.stuck = true, true
	case !child.asWanted():
		s.say(polychromev1alpha1.ReasonPending, "the ServiceDefinition is still to be changed to what the spec says")
	default:
		return false
	}
	return true
}

// say keeps a cause that is known already.
func (s *state) say(reason polychromev1alpha1.Reason, text string) {
	s.reason, s.text, s.cause = reason, text, cmp.Or(s.cause, string(reason))
}

// follow takes over what the child says of itself.
func (s *state) follow(wf *polychromev1alpha1.Workflow, sd *polychromev1alpha1.ServiceDefinition) {
	switch {
	case ready(sd):
		s.phase = polychromev1alpha1.StageReady
		return
	case !judged(sd):
		s.say(polychromev1alpha1.ReasonPending, "the ServiceDefinition is new or changed, and its status is not about that yet")
		return
	}
	said := readyCondition(sd)
	s.say(polychromev1alpha1.Reason(said.Reason), said.Message)
	s.passedOn, s.stuck = true, s.reason != polychromev1alpha1.ReasonRolloutInProgress
	if wasReady(wf, s.name, s.reason) {
		s.reason = polychromev1alpha1.ReasonStageDegraded
	}
}

// wasReady reports whether a stage whose child is judged and not ready has
// been ready with what it is now, by the last status: it showed the stage as
// ready, or said already that it is not ready any more. A rollout is no loss
// where the spec was edited since: the child may have got its new spec from a
// pass that did not come to write a status.
func wasReady(wf *polychromev1alpha1.Workflow, stage string, reason polychromev1alpha1.Reason) bool {
	said, _ := entryOf(wf.Status, stage)
	edited := wf.Status.ObservedGeneration != wf.Generation && reason == polychromev1alpha1.ReasonRolloutInProgress
	return said.Ready && !edited || strings.HasPrefix(said.Message, degradedHead)
}

// block says what a stage without a child waits for.
func (s *state) block(blockers []int, all []state) {
	if len(blockers) == 0 {
		s.phase = polychromev1alpha1.StagePending
		s.say(polychromev1alpha1.ReasonPending, "the ServiceDefinition is still to be made")
		return
	}
	causes := make([]string, 0, len(blockers))
	for _, j := range blockers {
		causes = append(causes, all[j].name+" ("+all[j].cause+")")
		s.blocked = s.blocked || all[j].stuck
	}
	s.say(polychromev1alpha1.ReasonUpstreamNotReady, strings.Join(causes, ", "))
}

func terminating(sd *polychromev1alpha1.ServiceDefinition) string {
	text := "waiting for the old ServiceDefinition " + sd.Name + " to go"
	if len(sd.Finalizers) > 0 {
		text += "; held by " + strings.Join(sd.Finalizers, ", ")
	}
	return text
}
