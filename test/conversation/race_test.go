package conversation

import (
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
)

// retention is that of every scene which needs one, in seconds.
const retention = 3600

// races are what happens between a decision and its write.
var races = map[string]func(*scene){
	"closed as the status write after the claim is refused": func(s *scene) {
		closedAsTheClaimIsMade(s, frameworktest.Fault{Status: http.StatusInternalServerError}, false)
	},
	"closed as the status write after the claim meets the close": func(s *scene) {
		closedAsTheClaimIsMade(s, frameworktest.Fault{}, false)
	},
	"closed as the answer to the status write after the claim is lost": func(s *scene) {
		closedAsTheClaimIsMade(s, frameworktest.Fault{Reset: true, Forward: true}, true)
	},
	"closed before a claim was made":                                    closedBeforeAClaim,
	"a turn between the idle decision and its write":                    turnBeforeTheIdleClose,
	"resumed between the end of retention and the delete":               resumedBeforeTheDelete,
	"a turn, still closed, between the end of retention and the delete": turnBeforeTheDelete,
}

// closedAsTheClaimIsMade has the user close when the claim is made and the
// status, which would record it, is on its way: before it arrives, or after it
// was recorded without the controller's hearing of that.
func closedAsTheClaimIsMade(s *scene, fault frameworktest.Fault, recorded bool) {
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	gate := make(chan struct{})
	fault.Verb, fault.Resource, fault.Hold = "patch", "conversations/status", gate
	met := l.faults.Inject(fault)
	s.meanwhile(s.makes("one"))
	s.meets(met)
	s.finds("conversation one Pending", "claim one for one b 600")
	end := "conversation one Closed"
	if recorded {
		close(gate)
		cluster.Eventually(s.t, settle, func() error {
			return s.leaves([]string{"conversation one CreatingExecutionUnit one b", "claim one for one b 600"}).Do(s.t.Context())
		})
		end += " b"
	}
	s.meanwhile(s.closes("one"))
	if !recorded {
		close(gate)
	}
	l.settle()
	s.finds(end)
	collectedInTime(l, "one")
}

// collectedInTime fails unless a closed conversation is kept for its
// retention, to the second, and then deleted.
func collectedInTime(l *life, name string) {
	l.t.Helper()
	closedAt := l.conv(name).Status.ClosedAt
	if closedAt == nil || *closedAt > l.Clock.Now().Unix() || *closedAt < l.Clock.Now().Unix()-60 {
		l.t.Fatalf("want it stamped as closed just now, at about %d, got %v", l.Clock.Now().Unix(), closedAt)
	}
	// A pass in the last second, as any event may bring one.
	l.plays(l.until(*closedAt+retention), l.nudges(name))
	if conv := l.conv(name); reasonOf(conv) != polychromev1alpha1.ReasonClosed {
		l.t.Errorf("want it closed for the whole of its retention, got %+v", conv.Status)
	}
	l.plays(l.until(*closedAt + retention + 2))
	l.finds()
}

func closedBeforeAClaim(s *scene) {
	s.meanwhile(s.makes("one"), s.closes("one"))
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	s.finds("conversation one Closed")
	if conv := s.conv("one"); len(conv.Finalizers) != 0 {
		s.t.Errorf("want nothing held for nothing, got %v", conv.Finalizers)
	}
	collectedInTime(l, "one")
	if got := l.asked(frameworktest.On("sandboxclaims"), frameworktest.Writes); len(got) != 0 {
		s.t.Errorf("want no claim ever, got %v", got)
	}
}

func turnBeforeTheIdleClose(s *scene) {
	l := s.start(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.turns("one"))
	ready := s.conv("one")
	gate := make(chan struct{})
	met := l.faults.Inject(frameworktest.Fault{Verb: "patch", Resource: "conversations/status", Hold: gate})
	s.meanwhile(s.waits(time.Hour))
	s.meets(met)
	s.meanwhile(s.turns("one"))
	close(gate)
	l.settle()
	s.finds("conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600")
	if conv := s.conv("one"); conv.Status.Closed || conv.Status.Phase != polychromev1alpha1.ConversationReady || conv.Generation != ready.Generation {
		s.t.Errorf("want it open, got %+v", conv.Status)
	}
	refusedOnce(l, "patch", "conversations/status")
	if got := l.faults.Count(frameworktest.By("delete")); got != 0 {
		s.t.Errorf("want nothing torn down, got %d deletes", got)
	}
	// Nor is it closed by what was decided before: it gets a full timeout.
	last := *s.conv("one").Status.LastActivityUnix
	l.plays(s.until(last+600), s.nudges("one"))
	s.finds("conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600")
	l.plays(s.until(last + 602))
	s.finds("conversation one Closed b")
}

func resumedBeforeTheDelete(s *scene) {
	l, uid := aboutToCollect(s, s.turns("one"))
	l.plays(s.boots("one", "10.0.0.2"))
	s.finds("conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600")
	if conv := s.conv("one"); conv.UID != uid || conv.Status.ClosedAt != nil {
		s.t.Errorf("want the same conversation %s without a stamp of its close, got %s, %v", uid, conv.UID, conv.Status.ClosedAt)
	}
}

func turnBeforeTheDelete(s *scene) {
	last := s.Clock.Now().Unix() + 2*retention
	l, uid := aboutToCollect(s, s.says("a turn", "one", map[string]any{"lastActivityUnix": last}))
	l.plays(s.until(last+retention), s.nudges("one"))
	s.finds("conversation one Closed b")
	if conv := s.conv("one"); conv.UID != uid {
		s.t.Errorf("want the same conversation %s, got %s", uid, conv.UID)
	}
	l.plays(s.until(last + retention + 2))
	s.finds()
}

// aboutToCollect has somebody do something when a conversation is on the
// point of being deleted for its age.
func aboutToCollect(s *scene, then frameworktest.Step) (*life, types.UID) {
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"), s.closes("one"))
	uid := s.conv("one").UID
	gate := make(chan struct{})
	met := l.faults.Inject(frameworktest.Fault{Verb: "delete", Resource: "conversations", Hold: gate})
	s.meanwhile(s.waits(2 * retention * time.Second))
	s.meets(met)
	s.meanwhile(then)
	close(gate)
	l.settle()
	refusedOnce(l, "delete", "conversations")
	return l, uid
}

// refusedOnce fails unless just one request of a kind met a newer version.
func refusedOnce(l *life, verb, resource string) {
	l.t.Helper()
	got := l.faults.Count(frameworktest.By(verb), frameworktest.On(resource), frameworktest.Answered(http.StatusConflict))
	if got != 1 {
		l.t.Errorf("want one %s of %s refused for its version, got %d", verb, resource, got)
	}
}
