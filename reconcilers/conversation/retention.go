package conversation

import polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"

// expired reports whether a closed conversation has been kept long enough.
func (p rules) expired(now int64, conv *polychromev1alpha1.Conversation) bool {
	expiry, ok := p.expiry(conv)
	return ok && now > expiry
}

// expiry is the last second for which a closed conversation is kept, counted
// from its closing or from a turn after it. Without a stamp of its closing it
// has none.
func (p rules) expiry(conv *polychromev1alpha1.Conversation) (int64, bool) {
	closed, stamped := stamp(conv.Status.ClosedAt)
	if p.retention <= 0 || !stamped {
		return 0, false
	}
	if last, ok := stamp(conv.Status.LastActivityUnix); ok {
		closed = max(closed, last)
	}
	return later(closed, p.retention), true
}

// needsClosedAt reports whether retention has nothing to count from.
func (p rules) needsClosedAt(closedAt *int64) bool {
	_, stamped := stamp(closedAt)
	return p.retention > 0 && !stamped
}
