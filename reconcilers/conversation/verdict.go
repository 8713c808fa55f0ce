package conversation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/conditions"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// maxPassedOn is how much of an operator's message is passed on, in bytes.
const maxPassedOn = 1024

// verdict is what the conditions say: one reason and one message for all.
type verdict struct {
	reason  polychromev1alpha1.Reason
	message string
	// ready, progressing and degraded are the conditions of that name.
	ready, progressing, degraded bool
	// stalled says that only new input can help.
	stalled bool
	// failing says that an action failed, of which others may have a say.
	failing bool
	// halted is what there is to say of a halt that the conversation's failed
	// roll is a cause of; empty if it is none.
	halted string
}

// scene is what a verdict is made of.
type scene struct {
	outcome
	now    int64
	conv   *polychromev1alpha1.Conversation
	world  World
	chosen row
	// want is the desired status but for its conditions.
	want polychromev1alpha1.ConversationStatus
}

// closing reports whether the conversation does without a unit from now on.
func (s scene) closing() bool { return !s.chosen.open() || s.chosen == rowCloseIdle }

func settledAs(reason polychromev1alpha1.Reason, message string) verdict {
	return verdict{reason: reason, message: message}
}

func moving(reason polychromev1alpha1.Reason, message string) verdict {
	return verdict{reason: reason, message: message, progressing: true}
}

func troubled(reason polychromev1alpha1.Reason, message string) verdict {
	return verdict{reason: reason, message: message, progressing: true, degraded: true}
}

// judge finds the one verdict of a pass, by rank: what is wrong with the
// backend comes before what is wrong with the unit, and both before the
// ordinary course. Once the unit is torn down, what it said of itself is
// history.
func (p rules) judge(s scene) verdict {
	says := p.reasonOf(s)
	says.failing = s.failed
	if !s.closing() && p.halts(s.now, s.conv, s.world) && !s.want.HarnessReady && !s.rolled {
		says.halted = p.haltedMessage(s.world)
	}
	return says
}

func (p rules) reasonOf(s scene) verdict {
	u := s.world.Unit
	if !s.closing() {
		if says, found := obstacle(u, s.outcome); found {
			return says
		}
	}
	if u.Present() && u.Terminating {
		return moving(polychromev1alpha1.ReasonExecutionUnitTerminating, terminatingMessage(u))
	}
	if !s.closing() && !s.rolled && !s.want.HarnessReady {
		if says, found := p.trouble(s); found {
			return says
		}
	}
	return ordinary(s.conv, u, s.chosen)
}

// trouble is what keeps an open conversation's unit from being ready, beyond
// the time that anything takes.
func (p rules) trouble(s scene) (verdict, bool) {
	u := s.world.Unit
	lost := lossOf(s)
	switch {
	case overLimit(s.now, s.want):
		return troubled(polychromev1alpha1.ReasonRecreateLimit, limitMessage(s.conv, lost)), true
	case lost.reason != "":
		return lost, true
	case rollFailed(s.now, s.want):
		return troubled(polychromev1alpha1.ReasonRollFailed, p.failedRoll(s.want)), true
	case u.BlockedBy != "":
		return troubled(polychromev1alpha1.Reason(u.BlockedBy), conditions.Truncate(u.BlockedText, maxPassedOn)), true
	case s.chosen == rowSyncStatus && pendingTooLong(s.now, s.conv, u):
		return troubled(polychromev1alpha1.ReasonPendingDeadlineExceeded, "the execution unit was not ready within 10 minutes"), true
	}
	return verdict{}, false
}

// obstacle is why a unit cannot be had at all. A conversation that is closing
// does not mind.
func obstacle(u execution.Unit, o outcome) (verdict, bool) {
	switch {
	case u.Unserved:
		return troubled(polychromev1alpha1.ReasonBackendUnavailable, "the API of the execution backend is not served"), true
	case u.Standing == execution.Foreign || o.nameTaken:
		return verdict{
			reason: polychromev1alpha1.ReasonNameConflict, degraded: true, stalled: true,
			message: fmt.Sprintf("SandboxClaim %s belongs to somebody else and is left alone; remove it, or give the conversation another name", u.Name),
		}, true
	}
	return verdict{}, false
}

// lossOf is how the unit was lost, in the pass that finds out and in those
// that wait until it may be made again; without a reason if it was not.
func lossOf(s scene) verdict {
	u := s.world.Unit
	switch {
	case s.chosen == rowSyncStatus && u.Ended():
		return troubled(polychromev1alpha1.Reason(u.EndedBy), conditions.Truncate(u.EndedText, maxPassedOn))
	case s.chosen == rowSyncStatus && gone(s.conv.Status, u):
		return vanished
	case u.Present() || s.ensured || s.now >= recreateAt(s.now, s.conv, u):
		return verdict{}
	}
	// The unit that could say why is gone; the condition still does.
	said := meta.FindStatusCondition(s.conv.Status.Conditions, string(polychromev1alpha1.ConditionReady))
	if said != nil && slices.Contains(execution.Endings(), polychromev1alpha1.Reason(said.Reason)) {
		return troubled(polychromev1alpha1.Reason(said.Reason), said.Message)
	}
	return vanished
}

var vanished = troubled(polychromev1alpha1.ReasonExecutionUnitVanished, "the execution unit disappeared; it is made again")

// limitMessage says how the unit was lost last, as long as that is known.
func limitMessage(conv *polychromev1alpha1.Conversation, lost verdict) string {
	text := fmt.Sprintf("the execution unit was lost more than %d times within an hour; it is made again every %d minutes",
		recreationsAllowed, longestBackoff/60)
	said := meta.FindStatusCondition(conv.Status.Conditions, string(polychromev1alpha1.ConditionReady))
	switch {
	case lost.reason != "" && lost != vanished:
		return conditions.Truncate(fmt.Sprintf("%s; the last time for %s: %s", text, lost.reason, lost.message), maxPassedOn)
	case said != nil && said.Reason == string(polychromev1alpha1.ReasonRecreateLimit):
		return said.Message
	}
	return text
}

// ordinary is the verdict when nothing is wrong.
func ordinary(conv *polychromev1alpha1.Conversation, u execution.Unit, chosen row) verdict {
	switch chosen {
	case rowCleanupClosed, rowCleanupDeleting:
		return moving(polychromev1alpha1.ReasonTearingDown, "the execution unit is being deleted")
	case rowSettleClosed, rowNoopClosed:
		return settledAs(polychromev1alpha1.ReasonClosed, "the conversation is closed and has no execution unit")
	case rowCloseIdle:
		return moving(polychromev1alpha1.ReasonClosingIdleConversation,
			"no turn for longer than the idle timeout; the conversation is being closed")
	case rowCreateSandboxClaim:
		return moving(polychromev1alpha1.ReasonCreatingExecutionUnit, "the execution unit is being made")
	case rowRollHarness:
		return moving(polychromev1alpha1.ReasonRollingHarnessImage,
			"the execution unit is being replaced by one of the desired harness image generation")
	}
	switch {
	case conv.Status.IdleReclaimed:
		return settledAs(polychromev1alpha1.ReasonIdleReclaimed, "the execution unit was reclaimed while idle; the next turn resumes it")
	case u.Dialable():
		return verdict{reason: polychromev1alpha1.ReasonHarnessReady, message: "the harness can be dialled", ready: true}
	}
	return moving(polychromev1alpha1.ReasonWaitingForHarness, "the execution unit exists; its harness cannot be dialled yet")
}

func terminatingMessage(u execution.Unit) string {
	text := "waiting for the old execution unit to go"
	if len(u.HeldBy) > 0 {
		text += "; held by " + strings.Join(u.HeldBy, ", ")
	}
	return conditions.Truncate(text, maxPassedOn)
}
