package conversation

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

// longestPending is how long a unit may take to get ready before its
// conversation says that something is wrong, in seconds.
const longestPending = 600

// pendingDeadline is the last second in which a unit that is not ready is
// merely on its way. It counts from the making of the claim, or from when the
// conversation was last ready if that is later. One that has just stopped
// being ready has none yet.
func pendingDeadline(conv *polychromev1alpha1.Conversation, u execution.Unit) (int64, bool) {
	if !u.Live() || u.Dialable() || conv.Status.IdleReclaimed {
		return 0, false
	}
	began := u.CreatedAt
	if ready := meta.FindStatusCondition(conv.Status.Conditions, string(polychromev1alpha1.ConditionReady)); ready != nil {
		if ready.Status == metav1.ConditionTrue {
			return 0, false
		}
		if !ready.LastTransitionTime.IsZero() {
			began = max(began, ready.LastTransitionTime.Unix())
		}
	}
	return later(max(began, 0), longestPending), true
}

// pendingTooLong reports whether the unit should have been ready by now.
func pendingTooLong(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit) bool {
	deadline, ok := pendingDeadline(conv, u)
	return ok && now > deadline
}

// rollDeadline is the last second in which a roll under way has not failed.
func rollDeadline(s polychromev1alpha1.ConversationStatus) (int64, bool) {
	began, stamped := stamp(s.RollStartedAt)
	if !s.RollingHarness || !stamped {
		return 0, false
	}
	return later(began, slots.FailedAfter), true
}

// rollFailed reports whether a roll under way should be over by now.
func rollFailed(now int64, s polychromev1alpha1.ConversationStatus) bool {
	deadline, ok := rollDeadline(s)
	return ok && now > deadline
}
