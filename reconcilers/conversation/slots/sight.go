package slots

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// sight is what one version of a conversation shows.
type sight struct {
	version string
	mark    mark
	// open says that it is neither closed nor closing nor being deleted.
	open bool
	// due says that it is to be rolled, now or once its present roll failed.
	due bool
	// settled says that it is ready with the desired generation.
	settled bool
	// activity is when its last turn was, -1 for none.
	activity int64
}

// mark tells one unit, and one roll of it, from the next. A wish for a slot
// that was passed over stays so while the mark stays: the rest of a status may
// change for ever without anybody coming for the slot.
type mark struct {
	uid               types.UID
	claim, generation string
	rolling           bool
	startedAt         int64
}

// admission is what a conversation looked like when it was admitted.
type admission struct {
	version string
	mark    mark
}

func (s *Slots) look(conv *polychromev1alpha1.Conversation) sight {
	status := &conv.Status
	open := conv.DeletionTimestamp == nil && !status.Closed && status.Phase != polychromev1alpha1.ConversationClosing
	current := status.HarnessImageGeneration == s.generation
	seen := sight{
		version: conv.ResourceVersion,
		mark: mark{
			uid: conv.UID, claim: status.SandboxClaimName, generation: status.HarnessImageGeneration,
			rolling: open && status.RollingHarness, startedAt: startOf(conv),
		},
		open:     open,
		due:      open && !current && s.rollable(conv),
		settled:  open && current && status.HarnessReady,
		activity: -1,
	}
	if at := status.LastActivityUnix; at != nil && *at >= 0 {
		seen.activity = *at
	}
	return seen
}

// rollable reports whether there is a unit to roll, from one known generation
// to another.
func (s *Slots) rollable(conv *polychromev1alpha1.Conversation) bool {
	return s.generation != "" && conv.Status.HarnessImageGeneration != "" && conv.Status.SandboxClaimName != "" && !paused(conv)
}

func paused(conv *polychromev1alpha1.Conversation) bool {
	return conv.Annotations[polychromev1alpha1.PausedAnnotation] == polychromev1alpha1.PausedValue
}

// ends reports whether a sight ends an admission. One of the time before it
// does not, nor does one that still shows the roll that is being replaced: the
// write that shows the new one is on its way.
func (a *admission) ends(seen sight) bool {
	switch {
	case !newer(seen.version, a.version):
		return false
	case seen.mark.uid != a.mark.uid || !seen.open:
		return true
	case seen.mark.rolling:
		return seen.mark != a.mark
	}
	return seen.settled
}

// newer reports whether a version is later than another. Versions that cannot
// be compared are taken for newer.
func newer(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err != nil || order > 0
}

// older reports whether a version is certainly earlier than another.
func older(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// saw takes in a version of a conversation.
func (s *Slots) saw(m *member, conv *polychromev1alpha1.Conversation) {
	seen := s.look(conv)
	if older(seen.version, m.seen.version) {
		return
	}
	if m.seen.mark != seen.mark {
		m.passed = 0
	}
	if namesake := m.seen.mark.uid != "" && m.seen.mark.uid != seen.mark.uid; namesake || !seen.due {
		m.deferredAt = time.Time{}
	}
	if m.admission != nil && m.admission.ends(seen) {
		m.admission = nil
	}
	m.seen = seen
	m.until = s.busyUntil(s.now.Unix(), conv)
	if !m.deferredAt.IsZero() {
		m.until = min(m.until, delayEnd(m))
	}
	s.place(m)
}

// left takes in that the conversation of a UID, or whichever it was, is gone.
// The end of an earlier one of the same name is no news of the present one.
func (s *Slots) left(m *member, uid types.UID) {
	is := func(known types.UID) bool { return uid == "" || known == "" || uid == known }
	if m.admission != nil && !is(m.admission.mark.uid) {
		if is(m.seen.mark.uid) {
			m.seen = sight{}
			s.place(m)
		}
		return
	}
	if m.admission == nil && !is(m.seen.mark.uid) {
		return
	}
	m.seen, m.admission = sight{}, nil
	s.place(m)
	delete(s.members, m.key)
}
