package toolservice

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// The delays after failures in a row begin with firstRetry and double up to
// steadyRetry; each grows by up to a fifth, so that the longest is two minutes.
const (
	firstRetry   = 5 * time.Second
	steadyRetry  = 100 * time.Second
	longestRetry = 2 * time.Minute
)

// longestAsked bounds what a server may ask for with Retry-After.
const longestAsked = time.Hour

// due is when the next probe begins; not later than now means at once.
func due(now time.Time, ts *polychromev1alpha1.ToolService, m Memory) time.Time {
	ask := askOf(ts)
	if m.Last != nil && m.Last.Generation == ask.Generation {
		if m.Last.Annotation != ask.Annotation {
			return now
		}
		return m.Last.At.Add(pace(ts, m.Last))
	}
	if !decided(ts) || m.First.Annotation != ask.Annotation {
		return now
	}
	// What an earlier process found is looked at anew, but not all at once.
	window := intervalOf(ts)
	if !ready(ts) {
		window = min(window, longestRetry)
	}
	return m.Since.Add(share(ts.UID, 0, window))
}

// decided reports whether the status tells of a probe of this very spec.
func decided(ts *polychromev1alpha1.ToolService) bool {
	reachable := meta.FindStatusCondition(ts.Status.Conditions, string(polychromev1alpha1.ConditionReachable))
	return reachable != nil && reachable.ObservedGeneration == ts.Generation
}

// ready reports whether the status says that all is well with this very spec.
func ready(ts *polychromev1alpha1.ToolService) bool {
	condition := meta.FindStatusCondition(ts.Status.Conditions, string(polychromev1alpha1.ConditionReady))
	return condition != nil && condition.Status == "True" && condition.ObservedGeneration == ts.Generation
}

// pace is how long after a probe the next one begins.
func pace(ts *polychromev1alpha1.ToolService, last *Outcome) time.Duration {
	interval := intervalOf(ts)
	if last.ok() || standingOf(last.Reason).lasts {
		return max(interval*9/10+share(ts.UID, last.Count, interval/5), asked(last))
	}
	delay := steadyRetry
	if doublings := last.Tries - 1; doublings < 5 {
		delay = min(delay, firstRetry<<max(doublings, 0))
	}
	delay = max(delay, asked(last))
	return delay + share(ts.UID, last.Count, delay/5)
}

// asked is how long the server asked to wait.
func asked(last *Outcome) time.Duration { return min(max(last.RetryAfter, 0), longestAsked) }

// intervalOf is the time between two probes of a healthy server. A spec that
// predates the schema may have none, or too short a one.
func intervalOf(ts *polychromev1alpha1.ToolService) time.Duration {
	seconds := polychromev1alpha1.DefaultProbeIntervalSeconds
	if p := ts.Spec.Probe; p != nil && p.IntervalSeconds > 0 {
		seconds = min(max(p.IntervalSeconds, 10), 86_400)
	}
	return time.Duration(seconds) * time.Second
}

// timeoutOf is the deadline over one probe.
func timeoutOf(ts *polychromev1alpha1.ToolService) time.Duration {
	seconds := polychromev1alpha1.DefaultProbeTimeoutSeconds
	if p := ts.Spec.Probe; p != nil && p.TimeoutSeconds > 0 {
		seconds = min(p.TimeoutSeconds, 60)
	}
	return time.Duration(seconds) * time.Second
}

// share is a part of span that is an object's own and differs from count to
// count.
func share(uid types.UID, count int, span time.Duration) time.Duration {
	seed := binary.BigEndian.AppendUint64([]byte(uid), uint64(count))
	sum := sha256.Sum256(seed)
	return time.Duration(binary.BigEndian.Uint64(sum[:]) % uint64(max(span, 0)+1))
}
