package conversation

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
)

// unitScenes are about units that do not stay, or do not come.
var unitScenes = map[string]func(*scene){
	"a claim deleted as soon as it is made":  lostAgain(func(s *scene) frameworktest.Step { return s.deletes(claims, "one") }),
	"a pod that exits at once":               lostAgain(func(s *scene) frameworktest.Step { return s.ends("one") }),
	"a pod that is done":                     endedOnce,
	"a claim of which nothing is ever heard": neverHeardOf,
}

// lostAgain loses every unit as soon as it is made, for most of an hour.
func lostAgain(loses func(*scene) frameworktest.Step) func(*scene) {
	return func(s *scene) {
		film := s.films()
		l := s.start(conversation.Options{Generation: generation})
		l.plays(s.makes("one"))
		var made []time.Duration
		began := s.Clock.Now()
		for s.Clock.Since(began) < 40*time.Minute {
			for s.unitOrNone("one") != nil {
				made = append(made, s.Clock.Since(began).Round(10*time.Second))
				l.plays(loses(s))
			}
			l.plays(s.waits(10 * time.Second))
		}
		// Two at once, then after 10, 20, 40 and 80 s, then every ten minutes.
		if len(made) != 9 {
			s.t.Errorf("want 9 units made in 40 minutes, got %d, at %v", len(made), made)
		}
		conv := s.conv("one")
		if reasonOf(conv) != polychromev1alpha1.ReasonRecreateLimit {
			s.t.Errorf("want the limit told of, got %+v", conv.Status)
		}
		l.stop()
		// A restart forgets nothing.
		l = s.start(conversation.Options{Generation: generation})
		if unit := s.unitOrNone("one"); unit != nil {
			s.t.Errorf("want no unit made just because the controller started, got one made at %s", unit.CreationTimestamp)
		}
		for s.unitOrNone("one") == nil {
			l.plays(s.waits(10 * time.Second))
		}
		l.plays(s.boots("one", "10.0.0.1"))
		s.finds("conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600")
		l.wantsNothingWrong(film)
	}
}

func endedOnce(s *scene) {
	film := s.films()
	l := s.start(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"))
	before := s.unit("one").UID
	l.plays(s.done("one"), s.boots("one", "10.0.0.2"))
	if after := s.unit("one").UID; after == before {
		s.t.Error("want another unit in place of the one that ended")
	}
	s.finds("conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600")
	frames := film.end(l)
	var reasons []polychromev1alpha1.Reason
	uids := map[types.UID]bool{}
	for _, each := range frames {
		if each.claim != nil {
			uids[each.claim.UID] = true
			continue
		}
		if reason := reasonOf(each.conv); len(reasons) == 0 || reasons[len(reasons)-1] != reason {
			reasons = append(reasons, reason)
		}
	}
	want := "Pending CreatingExecutionUnit HarnessReady PodSucceeded CreatingExecutionUnit HarnessReady"
	if got := words(toAny(reasons)...); got != want || len(uids) != 2 {
		s.t.Errorf("want %s, and two units; got %s, and %d", want, got, len(uids))
	}
}

func toAny[E any](list []E) []any {
	var out []any
	for _, each := range list {
		out = append(out, each)
	}
	return out
}

// done is the operator: the pod of a claim has succeeded, and an older
// operator says so in Ready alone.
func (p player) done(name string) frameworktest.Step {
	return p.patches("done", claims, name, "status", map[string]any{"status": map[string]any{
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "False", "reason": "PodSucceeded", "message": "it is done", "lastTransitionTime": "2026-01-01T00:00:00Z",
		}},
	}})
}

func neverHeardOf(s *scene) {
	l := s.start(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.waits(9*time.Minute))
	s.finds("conversation one CreatingExecutionUnit one b", "claim one for one b 600")
	l.plays(s.waits(2 * time.Minute))
	s.finds("conversation one PendingDeadlineExceeded one b", "claim one for one b 600")
	before := s.conv("one").ResourceVersion
	l.plays(s.waits(4*time.Minute), s.waits(time.Hour))
	if after := s.conv("one").ResourceVersion; after != before {
		s.t.Errorf("want it said once, got %+v", s.conv("one").Status)
	}
	l.plays(s.boots("one", "10.0.0.1"))
	s.finds("conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600")
}
