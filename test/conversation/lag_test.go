package conversation

import (
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/standin"
)

// unitLag is how late the controller hears of claims.
const unitLag = time.Second

// lateWatches are what happens to claims while the controller hears of it
// late. Every single write is looked at, not only the end.
var lateWatches = map[string]func(*scene){
	"rolled":                                 rolledLate,
	"closed and reopened":                    reopenedLate,
	"vanished":                               vanishedLate,
	"vanished as a roll to it is due":        vanishedAsARollIsDueLate,
	"deleted, and a namesake made":           namesakeLate,
	"made by another that was killed":        anothersLate,
	"closed, deleted while the claim is new": deletedLate,
}

// startLate runs a controller that hears of claims late.
func (s *scene) startLate(o conversation.Options) *life {
	s.t.Helper()
	l := s.enter(o, lagging())
	l.settle()
	return l
}

// wantsNothingWrong ends a film and judges it.
func (l *life) wantsNothingWrong(f *film) *judged {
	l.t.Helper()
	j := judge(f.end(l))
	for _, fault := range j.faults {
		l.t.Error(fault)
	}
	return j
}

func rolledLate(s *scene) {
	const fleet, limit = 5, 2
	film := s.films()
	standin.Start(s.t, s.Config, s.Namespace)
	l := s.start(conversation.Options{Generation: "a"})
	var want []string
	for i := range fleet {
		s.meanwhile(s.makes(fmt.Sprint("c", i)))
	}
	for i := range fleet {
		l.eventually(fmt.Sprint("c", i), polychromev1alpha1.ReasonHarnessReady)
	}
	l.stop()
	l = s.startLate(conversation.Options{Generation: generation, RollConcurrency: limit})
	uids := map[types.UID]bool{}
	for i := range fleet {
		name := fmt.Sprint("c", i)
		cluster.Eventually(s.t, settle, func() error {
			if conv := s.conv(name); !isReady(conv) || conv.Status.HarnessImageGeneration != generation || conv.Status.RollingHarness {
				l.Clock.Step(100 * time.Millisecond)
				return fmt.Errorf("%s is not rolled: %+v", name, conv.Status)
			}
			return nil
		})
		unit := s.unit(name)
		uids[unit.UID] = true
		want = append(want, fmt.Sprintf("conversation %s HarnessReady %s b %s", name, name, unit.Status.Sandbox.PodIPs[0]))
	}
	for i := range fleet {
		want = append(want, fmt.Sprintf("claim c%d for c%d b 600", i, i))
	}
	l.settle()
	s.finds(want...)
	if got := l.faults.Count(frameworktest.By("delete")); got != fleet {
		s.t.Errorf("want each of %d torn down once, got %d deletes", fleet, got)
	}
	j := l.wantsNothingWrong(film)
	if j.rolling != limit || j.down != limit {
		s.t.Errorf("want %d at once, got %d that rolled and %d without a unit", limit, j.rolling, j.down)
	}
}

func reopenedLate(s *scene) {
	film := s.films()
	l := s.startLate(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"))
	// For a second the controller still sees the claim that it has deleted.
	s.meanwhile(s.closes("one"))
	s.awaitNoUnit("one")
	s.meanwhile(s.turns("one"))
	l.settle()
	s.finds("conversation one CreatingExecutionUnit one b", "claim one for one b 600")
	l.plays(s.boots("one", "10.0.0.2"))
	s.finds("conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600")
	l.wantsNothingWrong(film)
}

func vanishedLate(s *scene) {
	film := s.films()
	l := s.startLate(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"))
	// What happens meanwhile must not be taken for a sign of life.
	s.meanwhile(s.deletes(claims, "one"), s.nudges("one"), s.edits("one", map[string]any{"spec": map[string]any{"model": "other"}}))
	l.settle()
	l.plays(s.waits(2 * time.Second))
	s.finds("conversation one CreatingExecutionUnit one b", "claim one for one b 600")
	l.plays(s.boots("one", "10.0.0.2"))
	s.finds("conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600")
	l.wantsNothingWrong(film)
}

func vanishedAsARollIsDueLate(s *scene) {
	film := s.films()
	l := s.start(conversation.Options{Generation: "a"})
	l.plays(s.makes("one"), s.makes("two"), s.boots("one", "10.0.0.1"), s.boots("two", "10.0.0.2"))
	l.stop()
	// The one slot is taken, so that the unit is there while its roll is due.
	l = s.startLate(conversation.Options{Generation: generation, RollConcurrency: 1})
	rolled, waits := "one", "two"
	if s.conv("two").Status.RollingHarness || !s.conv("one").Status.RollingHarness {
		rolled, waits = waits, rolled
	}
	if got := s.conv(waits).Status; got.HarnessImageGeneration != "a" || !got.HarnessReady {
		s.t.Errorf("want %s to wait for its roll, got %+v", waits, got)
	}
	// What it waits for is no reason not to mend it, nor to call it newer.
	old := s.unit(waits)
	l.plays(s.edits(waits, map[string]any{"spec": map[string]any{"idleTimeoutSeconds": 900}}))
	if unit := s.unit(waits); unit.UID != old.UID || *unit.Spec.Lifecycle.TTLSecondsAfterFinished != 900 || generationOf(unit) != "a" {
		s.t.Errorf("want the same claim with another timeout and still of generation a, got %+v, %+v", unit.ObjectMeta, unit.Spec.Lifecycle)
	}
	l.plays(s.deletes(claims, waits), s.waits(2*time.Second))
	// It comes back without a slot.
	if got := s.conv(waits).Status; got.HarnessImageGeneration != generation || got.RollingHarness || got.PodIP != "" {
		s.t.Errorf("want %s made again and not rolled, got %+v", waits, got)
	}
	l.plays(s.boots(waits, "10.0.0.3"), s.boots(rolled, "10.0.0.4"))
	for name, address := range map[string]string{waits: "10.0.0.3", rolled: "10.0.0.4"} {
		if got := s.conv(name).Status; got.PodIP != address || !got.HarnessReady || got.HarnessImageGeneration != generation || got.RollingHarness {
			s.t.Errorf("want %s ready on %s and on b, got %+v", name, address, got)
		}
	}
	l.wantsNothingWrong(film)
}

// anothersLate has a claim of which no status tells: its maker was killed, and
// wanted another generation.
func anothersLate(s *scene) {
	film := s.films()
	faults, gate := lagging(), make(chan struct{})
	met := faults.Inject(frameworktest.Fault{Verb: "patch", Resource: "conversations/status", Hold: gate, Status: http.StatusServiceUnavailable})
	l := s.enter(conversation.Options{Generation: "a"}, faults)
	s.meanwhile(s.makes("one"))
	s.meets(met)
	faults.Cut()
	close(gate)
	l.stop()
	s.finds("conversation one Pending", "claim one for one a 600")
	old := s.unit("one").UID

	l = s.startLate(conversation.Options{Generation: generation})
	s.finds("conversation one CreatingExecutionUnit one b", "claim one for one b 600")
	l.plays(s.boots("one", "10.0.0.1"))
	s.finds("conversation one HarnessReady one b 10.0.0.1", "claim one for one b 600")
	if s.unit("one").UID == old {
		s.t.Error("want another claim")
	}
	l.wantsNothingWrong(film)
}

func lagging() *frameworktest.Transport {
	faults := frameworktest.NewTransport()
	faults.LagWatches(unitLag, claims.Resource)
	return faults
}

func namesakeLate(s *scene) {
	film := s.films()
	l := s.startLate(conversation.Options{Generation: generation})
	l.plays(s.makes("one"), s.boots("one", "10.0.0.1"))
	s.meanwhile(s.deletes(conversations, "one"))
	cluster.Eventually(s.t, settle, func() error {
		_, err := s.client.PolychromeV1alpha1().Conversations(s.Namespace).Get(s.t.Context(), "one", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the conversation is still there: %w", err)
	})
	s.meanwhile(s.makes("one"))
	l.settle()
	l.plays(s.waits(time.Minute))
	s.finds("conversation one CreatingExecutionUnit one b", "claim one for one b 600")
	l.plays(s.boots("one", "10.0.0.2"))
	s.finds("conversation one HarnessReady one b 10.0.0.2", "claim one for one b 600")
	l.wantsNothingWrong(film)
}

// deletedLate deletes while the controller does not see yet what it has made.
func deletedLate(s *scene) {
	film := s.films()
	l := s.startLate(conversation.Options{Generation: generation})
	s.meanwhile(s.makes("one"), s.makes("two"))
	for _, name := range []string{"one", "two"} {
		cluster.Eventually(s.t, settle, func() error {
			_, err := s.client.AgentSandboxV1alpha1().SandboxClaims(s.Namespace).Get(s.t.Context(), name, metav1.GetOptions{})
			return err
		})
	}
	s.meanwhile(s.closes("one"), s.deletes(conversations, "two"))
	l.settle()
	s.finds("conversation one Closed b")
	if got := l.faults.Count(frameworktest.By("delete"), frameworktest.On(claims.Resource), frameworktest.Answered(http.StatusOK)); got != 2 {
		s.t.Errorf("want each claim torn down once, got %d deletes", got)
	}
	l.wantsNothingWrong(film)
}

func (s *scene) awaitNoUnit(name string) {
	s.t.Helper()
	cluster.Eventually(s.t, settle, func() error {
		_, err := s.client.AgentSandboxV1alpha1().SandboxClaims(s.Namespace).Get(s.t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("claim %s is still there: %w", name, err)
	})
}
