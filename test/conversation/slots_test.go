package conversation

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
)

// slotScenes are about how many conversations roll at once.
var slotScenes = map[string]func(*scene){
	"five closed in the middle of their rolls":       func(s *scene) { closedMidRoll(s, false) },
	"five closed whose units cannot be torn down":    func(s *scene) { closedMidRoll(s, true) },
	"killed between a teardown and its status write": killedMidRoll,
}

// fleet boots conversations c0 to c(n-1), each on its own address, with
// generation a.
func (s *scene) fleet(n int) {
	s.t.Helper()
	l := s.start(conversation.Options{Generation: "a"})
	for i := range n {
		s.meanwhile(s.makes(nth(i)))
	}
	l.settle()
	for i := range n {
		s.meanwhile(s.boots(nth(i), fmt.Sprint("10.0.0.", i)))
	}
	l.settle()
	l.stop()
}

func nth(i int) string { return fmt.Sprint("c", i) }

// rollingNow names those of a fleet that roll.
func (s *scene) rollingNow(n int) []string {
	s.t.Helper()
	var names []string
	for i := range n {
		if conv := s.conv(nth(i)); conv.Status.RollingHarness {
			names = append(names, conv.Name)
		}
	}
	return names
}

// closedMidRoll closes five that roll, and has five others roll. While the
// units of the closed ones are stuck, their statuses still say that they roll.
func closedMidRoll(s *scene, stuck bool) {
	const limit = 5
	s.fleet(2 * limit)
	film := s.films()
	l := s.start(conversation.Options{Generation: generation})
	// Their units never boot: they would keep their slots.
	l.plays(s.waits(time.Minute))
	closed := s.rollingNow(2 * limit)
	if len(closed) != limit {
		s.t.Fatalf("want %d rolling, got %v", limit, closed)
	}
	freed := l.closesAll(closed, stuck)
	var others []string
	cluster.Eventually(s.t, settle, func() error {
		others = slices.DeleteFunc(s.rollingNow(2*limit), func(name string) bool { return slices.Contains(closed, name) })
		if len(others) != limit {
			s.Clock.Step(100 * time.Millisecond)
			return fmt.Errorf("want %d others rolling, got %v", limit, others)
		}
		return nil
	})
	freed()
	l.plays(s.waits(time.Minute))
	for i, name := range others {
		s.meanwhile(s.boots(name, fmt.Sprint("10.0.1.", i)))
	}
	l.settle()
	for i, name := range others {
		if got := s.conv(name).Status; got.HarnessImageGeneration != generation || got.PodIP != fmt.Sprint("10.0.1.", i) || got.RollingHarness || !got.HarnessReady {
			s.t.Errorf("want %s rolled, got %+v", name, got)
		}
	}
	for _, name := range closed {
		if got := s.conv(name); reasonOf(got) != polychromev1alpha1.ReasonClosed || got.Status.RollingHarness || got.Status.RollStartedAt != nil {
			s.t.Errorf("want %s closed, and not rolling, got %+v", name, got.Status)
		}
	}
	if j := l.wantsNothingWrong(film); j.rolling != limit || j.down != limit {
		s.t.Errorf("want %d at once, got %d that rolled and %d without a unit", limit, j.rolling, j.down)
	}
}

// closesAll closes conversations, whose units are stuck if told until the
// function that it returns is called.
func (l *life) closesAll(names []string, stuck bool) func() {
	l.t.Helper()
	var faults []*frameworktest.Injected
	for _, name := range names {
		if stuck {
			faults = append(faults, l.faults.Inject(frameworktest.Fault{
				Verb: "delete", Resource: claims.Resource, Name: name, Status: http.StatusInternalServerError, Times: -1,
			}))
		}
		l.meanwhile(l.closes(name))
	}
	return func() {
		for _, fault := range faults {
			l.meets(fault)
			fault.Stop()
		}
	}
}

// killedMidRoll kills the controller when one roll shows in a status and the
// next has torn its unit down without saying so: both slots are taken.
func killedMidRoll(s *scene) {
	const n, limit = 6, 2
	s.fleet(n)
	film := s.films()
	o := conversation.Options{Generation: generation, RollConcurrency: limit}
	faults := frameworktest.NewTransport()
	gate := make(chan struct{})
	first := faults.Inject(frameworktest.Fault{Verb: "patch", Resource: "conversations/status", Hold: gate, Status: http.StatusServiceUnavailable})
	l := s.enter(o, faults)
	cluster.Eventually(s.t, settle, func() error {
		if done := faults.Count(frameworktest.By("delete"), frameworktest.Answered(200)); done < limit || first.Hits() == 0 {
			// A fleet that is rewritten is paced.
			s.Clock.Step(20 * time.Millisecond)
			return fmt.Errorf("%d of %d units are torn down", done, limit)
		}
		return nil
	})
	cluster.Eventually(s.t, settle, func() error {
		if got := s.rollingNow(n); len(got) != 1 {
			return fmt.Errorf("want one that says it rolls, got %v", got)
		}
		return nil
	})
	faults.Cut()
	close(gate)
	l.stop()

	l = s.start(o)
	for round := range 2 * n {
		for i := range n {
			unit, err := s.client.AgentSandboxV1alpha1().SandboxClaims(s.Namespace).Get(s.t.Context(), nth(i), metav1.GetOptions{})
			if err == nil && !ready(unit) {
				s.meanwhile(s.boots(nth(i), fmt.Sprintf("10.1.%d.%d", round, i)))
			}
		}
		l.plays(s.waits(20 * time.Second))
	}
	for i := range n {
		conv, unit := s.conv(nth(i)), s.unit(nth(i))
		if got := conv.Status; !isReady(conv) || got.HarnessImageGeneration != generation || got.RollingHarness || generationOf(unit) != generation {
			s.t.Errorf("want %s rolled, got %+v", conv.Name, got)
		}
	}
	j := l.wantsNothingWrong(film)
	// The unit of which nobody knows that it was rolled is made again like one
	// that vanished, without a slot.
	if j.rolling != limit || j.down > limit+1 {
		s.t.Errorf("want %d at once, and one more unit made again, got %d that rolled and %d without a unit", limit, j.rolling, j.down)
	}
}
