package conversation

import (
	"fmt"
	"strings"

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
}

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
func judge(conv *polychromev1alpha1.Conversation, u execution.Unit, chosen row, o outcome) verdict {
	closing := !chosen.open() || chosen == rowCloseIdle
	if says, found := obstacle(u, o); found && !closing {
		return says
	}
	switch {
	case u.Present() && u.Terminating:
		return moving(polychromev1alpha1.ReasonExecutionUnitTerminating, terminatingMessage(u))
	case chosen == rowSyncStatus && gone(conv, u):
		return troubled(polychromev1alpha1.ReasonExecutionUnitVanished, "the execution unit disappeared; it is made again")
	case u.BlockedBy != "" && !closing && !o.rolled:
		return troubled(polychromev1alpha1.Reason(u.BlockedBy), conditions.Truncate(u.BlockedText, maxPassedOn))
	}
	return ordinary(conv, u, chosen)
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
