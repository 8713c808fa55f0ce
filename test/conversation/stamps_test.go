package conversation

import (
	"fmt"
	"math"
	"time"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
)

// stamps are times that others have written, or that are left over.
var stamps = map[string]func(*scene){
	"reopened, rolled and closed again":                func(s *scene) { closedAgain(s, s.ages("one"), 1) },
	"reopened, vanished and closed again":              func(s *scene) { closedAgain(s, s.deletes(claims, "one"), 0) },
	"closed again with the stamp of the earlier close": closedWithAnOldStamp,
	"reopened and closed again while nobody looks":     closedAgainUnseen,
	"woken with an old stamp of activity":              wokenWithAnOldStamp,
	"a turn announced until the year 9999":             busyForEver,
	"a turn announced in words":                        busyInWords,
	"closed at the end of time":                        closedAtTheEndOfTime,
	"active at the end of time":                        activeAtTheEndOfTime,
	"closed before time began":                         closedBeforeTime,
}

// closedAgain closes a conversation twice. The second time it has no unit that
// could be torn down, and none recorded, since something has just happened.
// mended is how often the old unit is applied to before it is gone.
func closedAgain(s *scene, happens frameworktest.Step, mended int) {
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.closes("one"))
	first := *s.conv("one").Status.ClosedAt
	// Almost at the end of the retention it is reopened, stamp and all.
	l.plays(s.until(first+retention-10), s.says("reopened", "one", map[string]any{"closed": false}))
	if got := s.conv("one").Status.ClosedAt; got != nil {
		s.t.Errorf("want no stamp of a close on an open conversation, got %d", *got)
	}
	l.plays(s.boots("one", "10.0.0.2"))

	gate := make(chan struct{})
	for range mended {
		l.faults.Inject(frameworktest.Fault{Verb: "apply", Resource: claims.Resource, Edit: func(map[string]any) {}})
	}
	l.faults.Inject(frameworktest.Fault{Verb: "apply", Resource: claims.Resource, Hold: gate})
	s.meanwhile(happens)
	s.awaitNoUnit("one")
	s.awaitUnrecorded("one")
	s.meanwhile(s.closes("one"))
	close(gate)
	l.settle()
	if second := s.conv("one").Status.ClosedAt; second == nil || *second < first+retention-10 {
		s.t.Fatalf("want the second close stamped, not the first, %d, got %v", first, second)
	}
	collectedInTime(l, "one")
}

// closedWithAnOldStamp has the control plane write back what it once read.
func closedWithAnOldStamp(s *scene) {
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.says("closed", "one", map[string]any{"closed": true, "closedAt": 1_000_000_000}))
	s.finds("conversation one Closed b")
	collectedInTime(l, "one")
}

// closedAgainUnseen is a turn, of which only the stamp of activity is left.
func closedAgainUnseen(s *scene) {
	o := conversation.Options{Generation: generation, RetentionSeconds: retention}
	l := s.start(o)
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.closes("one"))
	last := *s.conv("one").Status.ClosedAt + 2*retention
	l.stop()
	s.meanwhile(s.until(last), s.turns("one"), s.says("closed", "one", map[string]any{"closed": true, "closedAt": last - 2*retention}))
	l = s.start(o)
	l.plays(s.until(last+retention), s.nudges("one"))
	s.finds("conversation one Closed b")
	l.plays(s.until(last + retention + 2))
	s.finds()
}

// wokenWithAnOldStamp has a last turn of yesterday.
func wokenWithAnOldStamp(s *scene) {
	old := s.Clock.Now().Add(-24 * time.Hour).Unix()
	s.meanwhile(s.makes("one"), s.says("stamped", "one", map[string]any{"lastActivityUnix": old}))
	l := s.start(conversation.Options{Generation: generation})
	s.finds("conversation one CreatingExecutionUnit one b", "claim one for one b 600")
	l.plays(s.boots("one", "10.0.0.1"))
	made := s.unit("one").CreationTimestamp.Unix()
	l.plays(s.until(made+600), s.nudges("one"))
	s.finds("conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600")
	l.plays(s.until(made + 602))
	s.finds("conversation one Closed b")
	if got := s.conv("one").Status.LastActivityUnix; got == nil || *got != old {
		s.t.Errorf("want the stamp left as it was, %d, got %v", old, got)
	}
}

func busyForEver(s *scene) {
	ignoredAnnouncement(s, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z is more than 24 hours ahead")
}

func busyInWords(s *scene) {
	ignoredAnnouncement(s, "soon", `"soon" is no RFC 3339 time`)
}

// ignoredAnnouncement is of a turn, and neither keeps a conversation from
// being rolled nor from being closed for idleness.
func ignoredAnnouncement(s *scene, until, because string) {
	l := s.start(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.turns("one"))
	l.told("")
	l.plays(s.edits("one", map[string]any{"metadata": map[string]any{"annotations": map[string]any{polychromev1alpha1.BusyUntilAnnotation: until}}}))
	want := []string{"Warning BusyUntilIgnored annotation polychrome.dev/busy-until is ignored: " + because}
	if diff := cmp.Diff(want, l.told("BusyUntilIgnored")); diff != "" {
		s.t.Errorf("events (-want +got):\n%s", diff)
	}
	l.plays(s.ages("one"), s.boots("one", "10.0.0.2"))
	s.finds("conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600")
	last := max(*s.conv("one").Status.LastActivityUnix, s.unit("one").CreationTimestamp.Unix())
	l.plays(s.until(last+600), s.nudges("one"))
	s.finds("conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600")
	l.plays(s.until(last + 602))
	s.finds("conversation one Closed b")
	if got := l.told("BusyUntilIgnored"); len(got) > 0 {
		s.t.Errorf("want it said once, got also %v", got)
	}
}

func closedAtTheEndOfTime(s *scene) {
	s.meanwhile(s.makes("one"), s.says("closed", "one", map[string]any{"closed": true, "closedAt": int64(math.MaxInt64)}))
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	s.finds("conversation one Closed")
	l.rests(5, 24*time.Hour)
	s.keeps("one", math.MaxInt64)
}

func activeAtTheEndOfTime(s *scene) {
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.says("active", "one", map[string]any{"lastActivityUnix": int64(math.MaxInt64)}))
	l.rests(5, 24*time.Hour)
	s.finds("conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600")
	l.plays(s.closes("one"))
	closedAt := *s.conv("one").Status.ClosedAt
	l.rests(5, 24*time.Hour)
	s.finds("conversation one Closed b")
	s.keeps("one", closedAt)
}

// closedBeforeTime has a stamp that counts for none.
func closedBeforeTime(s *scene) {
	s.meanwhile(s.makes("one"), s.says("closed", "one", map[string]any{"closed": true, "closedAt": int64(math.MinInt64)}))
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	s.finds("conversation one Closed")
	collectedInTime(l, "one")
}

// keeps fails unless a conversation is closed with that stamp.
func (s *scene) keeps(name string, closedAt int64) {
	s.t.Helper()
	if got := s.conv(name).Status; !got.Closed || got.ClosedAt == nil || *got.ClosedAt != closedAt {
		s.t.Errorf("want it closed at %d, got %+v", closedAt, got)
	}
}

func (s *scene) awaitUnrecorded(name string) {
	s.t.Helper()
	cluster.Eventually(s.t, settle, func() error {
		if got := s.conv(name).Status.SandboxClaimName; got != "" {
			s.Clock.Step(100 * time.Millisecond)
			return fmt.Errorf("claim %s is still recorded", got)
		}
		return nil
	})
}
