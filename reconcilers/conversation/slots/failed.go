package slots

import (
	"math"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// FailedAfter is how long a roll may take before it counts as failed, in
// seconds.
const FailedAfter = 600

// haltAfter is how many failed rolls to a generation stop further ones.
const haltAfter = 3

// never is the start of a roll that does not say when it began.
const never = math.MaxInt64

// Failed reports whether the conversation shows a roll that has failed: it is
// not over more than FailedAfter seconds after it began. A roll that does not
// say when it began does not fail.
func Failed(now int64, conv *polychromev1alpha1.Conversation) bool {
	return conv.Status.RollingHarness && failed(now, startOf(conv))
}

func failed(now, startedAt int64) bool { return now > startedAt && now-startedAt > FailedAfter }

// startOf is never negative, so that failed cannot wrap round: before 1970
// nobody wrote anything.
func startOf(conv *polychromev1alpha1.Conversation) int64 {
	if at := conv.Status.RollStartedAt; at != nil && *at >= 0 {
		return *at
	}
	return never
}
