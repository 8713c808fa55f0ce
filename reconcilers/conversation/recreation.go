package conversation

import (
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// The limit on making a lost unit again, in seconds but for the count.
const (
	recreationWindow   = 3600
	recreationsAllowed = 5
	firstBackoff       = 10
	longestBackoff     = 600
)

// recreations is what still counts of the losses of a unit. A window that is
// over counts no more, nor does one that begins in the future: the clock has
// stepped back, or somebody wrote nonsense.
func recreations(now int64, s polychromev1alpha1.ConversationStatus) polychromev1alpha1.UnitRecreations {
	kept := s.UnitRecreations
	if kept == nil || kept.Count <= 0 || kept.WindowStart > now || kept.LastAt > now ||
		since(now, kept.WindowStart) > recreationWindow {
		return polychromev1alpha1.UnitRecreations{}
	}
	return *kept
}

// countLoss counts one more lost unit.
func countLoss(now int64, s *polychromev1alpha1.ConversationStatus) {
	kept := recreations(now, *s)
	if kept.Count == 0 {
		kept.WindowStart = now
	}
	kept.Count++
	kept.LastAt = now
	s.UnitRecreations = &kept
}

// overLimit reports whether the unit was lost too often lately.
func overLimit(now int64, s polychromev1alpha1.ConversationStatus) bool {
	return recreations(now, s).Count > recreationsAllowed
}

// recreateAt is the first second in which a lost unit may be made again. A
// unit that was let go of has been counted; one that is still recorded, and
// was lost before it was ever healthy, is not counted yet.
func recreateAt(now int64, conv *polychromev1alpha1.Conversation, u execution.Unit) int64 {
	kept := recreations(now, conv.Status)
	if kept.Count == 0 || u.Present() {
		return now
	}
	count := kept.Count
	if conv.Status.SandboxClaimName != "" {
		count++
	}
	return later(kept.LastAt, backoffOf(count))
}

// backoffOf is how long after the last loss the count-th one in a window is
// made good, in seconds: the first at once.
func backoffOf(count int32) int64 {
	switch {
	case count <= 1:
		return 0
	case count > recreationsAllowed:
		return longestBackoff
	}
	return min(int64(firstBackoff)<<(count-2), longestBackoff)
}
