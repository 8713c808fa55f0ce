package conversation

import (
	"fmt"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/conditions"
)

// longestBusy is how far ahead a turn may be announced, in seconds.
const longestBusy = 24 * 60 * 60

// maxQuoted is how much of a malformed value is shown to people, in bytes.
const maxQuoted = 64

// busyUntil is the first second in which the conversation is not busy any
// more, zero if nobody announced a turn. The problem is empty unless an
// announcement is ignored.
func busyUntil(now int64, conv *polychromev1alpha1.Conversation) (until int64, problem string) {
	announced := conv.Annotations[polychromev1alpha1.BusyUntilAnnotation]
	if announced == "" {
		return 0, ""
	}
	at, err := time.Parse(time.RFC3339, announced)
	if err != nil {
		return 0, fmt.Sprintf("annotation %s is ignored: %q is no RFC 3339 time",
			polychromev1alpha1.BusyUntilAnnotation, conditions.Truncate(announced, maxQuoted))
	}
	until = at.Unix()
	if at.Nanosecond() > 0 {
		until++
	}
	if since(until, now) > longestBusy {
		return 0, fmt.Sprintf("annotation %s is ignored: %s is more than 24 hours ahead",
			polychromev1alpha1.BusyUntilAnnotation, conditions.Truncate(announced, maxQuoted))
	}
	return until, ""
}
