package conversation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/standin"
)

// TestAFleetIsRolledFiveAtATimeTheIdleFirst restarts the controller over a
// fleet with another generation.
func TestAFleetIsRolledFiveAtATimeTheIdleFirst(t *testing.T) {
	t.Parallel()
	size := 200
	if testing.Short() {
		size = 40
	}
	const limit = 5
	s := newScene(t, startBare(t))
	standin.Start(t, s.Config, s.Namespace)
	l := s.start(conversation.Options{Generation: "a"})
	s.each(size, s.makes)
	l.awaitFleet(size)
	// The higher the number the longer nobody has said anything.
	for i := range size {
		s.meanwhile(s.turnedAgo(nth(i), time.Duration(i)*time.Second))
	}
	l.settle()
	l.stop()
	film := s.films()
	l = s.start(conversation.Options{Generation: generation})
	cluster.Eventually(t, 2*settle, func() error {
		s.Clock.Step(20 * time.Millisecond)
		if rolled := len(s.readyWith(size, generation)); rolled != size {
			return fmt.Errorf("%d of %d are rolled", rolled, size)
		}
		return nil
	})
	l.settle()
	frames := film.end(l)
	j := judge(frames)
	for _, fault := range j.faults {
		t.Error(fault)
	}
	if j.rolling != limit || j.down != limit {
		t.Errorf("want %d at once, got %d that rolled and %d without a unit", limit, j.rolling, j.down)
	}
	began := rollsIn(frames)
	if len(began) != size {
		t.Fatalf("want each of %d rolled once, got %d rolls", size, len(began))
	}
	// Those that are rolled at the same time begin in any order.
	for i, name := range began {
		want := size - 1 - i
		if at := slices.Index(began, nth(want)); at-i >= limit || i-at >= limit {
			t.Errorf("roll %d was of %s, and %s, idle for longer, was rolled as number %d", i, name, nth(want), at)
		}
	}
}

// rollsIn names conversations in the order in which their rolls show.
func rollsIn(frames []frame) []string {
	var began []string
	rolling := map[string]int64{}
	for _, each := range frames {
		if each.conv == nil || each.conv.Status.RollStartedAt == nil {
			continue
		}
		if at := *each.conv.Status.RollStartedAt; rolling[each.conv.Name] != at {
			rolling[each.conv.Name] = at
			began = append(began, each.conv.Name)
		}
	}
	return began
}

// rollScenes are about rolls that do not end well.
var rollScenes = map[string]func(*scene){
	"a bad generation, then a good one":     goodAfterBad,
	"failed rolls halt the others":          haltedRolls,
	"and another generation lifts the halt": haltLifted,
}

// goodAfterBad asks for a generation whose units never boot, and corrects that
// before anybody has waited for too long.
func goodAfterBad(s *scene) {
	const size, limit = 8, 5
	s.fleet(size)
	film := s.films()
	l := s.start(conversation.Options{Generation: "bad"})
	l.plays(s.waits(time.Minute))
	if got := s.rollingNow(size); len(got) != limit {
		s.t.Fatalf("want %d that never get ready, got %v", limit, got)
	}
	l.stop()
	l = s.start(conversation.Options{Generation: generation})
	l.converges(size)
	if j := l.wantsNothingWrong(film); j.rolling != limit {
		s.t.Errorf("want %d at once, got %d", limit, j.rolling)
	}
}

// converges is a good operator, for as long as it takes.
func (l *life) converges(size int) {
	l.t.Helper()
	for round := range 4 * size {
		for i := range size {
			if unit := l.unitOrNone(nth(i)); unit != nil && !ready(unit) && generationOf(unit) == generation {
				l.meanwhile(l.boots(nth(i), fmt.Sprintf("10.1.%d.%d", round, i)))
			}
		}
		l.settle()
		if len(l.readyWith(size, generation)) == size {
			return
		}
		l.plays(l.waits(20 * time.Second))
	}
	for i := range size {
		l.t.Logf("%s: %+v", nth(i), l.conv(nth(i)).Status)
	}
	l.t.Errorf("want all %d rolled, got %v", size, l.readyWith(size, generation))
}

// haltedBy has the rolls of a fleet to a generation fail.
func (s *scene) haltedBy(size int, bad string) *life {
	s.t.Helper()
	s.fleet(size)
	l := s.start(conversation.Options{Generation: bad})
	l.plays(s.waits(time.Minute), s.waits(conversationRollTime), s.waits(time.Minute), s.waits(30*time.Minute))
	return l
}

const conversationRollTime = 10 * time.Minute

func haltedRolls(s *scene) {
	const size, limit = 12, 5
	l := s.haltedBy(size, generation)
	failed := s.rollingNow(size)
	if len(failed) != limit {
		s.t.Fatalf("want %d failed and no other touched, got %v", limit, failed)
	}
	for _, name := range failed {
		conv := s.conv(name)
		if reasonOf(conv) != polychromev1alpha1.ReasonRollFailed || !meta.IsStatusConditionTrue(conv.Status.Conditions, "RollHalted") {
			s.t.Errorf("want %s to say that its roll has failed and that rolls are halted, got %+v", name, conv.Status.Conditions)
		}
	}
	if got := l.told("RollHalted"); len(got) != limit {
		s.t.Errorf("want a warning of each of %d, got %q", limit, got)
	}
	want := map[string]float64{"polychrome_conversation_rolls_halted": 1, "polychrome_conversation_rolls failed": limit, "polychrome_conversation_rolls waiting": size - limit, "polychrome_conversation_rolls rolling": 0}
	if diff := cmp.Diff(want, l.gauges("polychrome_conversation_rolls")); diff != "" {
		s.t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if waiting := s.readyWith(size, "a"); len(waiting) != size-limit {
		s.t.Errorf("want the others ready as they were, got %v", waiting)
	}
	l.stop()
	// A restart forgets nothing; recovery lifts the halt.
	l = s.start(conversation.Options{Generation: generation})
	l.plays(s.waits(time.Minute))
	if got := s.rollingNow(size); len(got) != limit {
		s.t.Fatalf("want the halt to survive a restart, got %v rolling", got)
	}
	l.converges(size)
	if got := l.gauges("polychrome_conversation_rolls_halted"); got["polychrome_conversation_rolls_halted"] != 0 {
		s.t.Errorf("want the halt lifted, got %v", got)
	}
	for i := range size {
		if got := meta.FindStatusCondition(s.conv(nth(i)).Status.Conditions, "RollHalted"); got != nil {
			s.t.Errorf("want %s silent about halts, got %+v", nth(i), got)
		}
	}
}

func haltLifted(s *scene) {
	const size, limit = 12, 5
	l := s.haltedBy(size, "bad")
	failed := slices.Sorted(slices.Values(s.rollingNow(size)))
	l.stop()
	film := s.films()
	l = s.start(conversation.Options{Generation: generation})
	l.converges(size)
	began := rollsIn(film.end(l))
	first := slices.Sorted(slices.Values(began[:min(limit, len(began))]))
	if diff := cmp.Diff(failed, first); diff != "" {
		s.t.Errorf("rolled first (-those that had failed +got):\n%s", diff)
	}
}

// turnedAgo has had its last turn a while ago.
func (s *scene) turnedAgo(name string, ago time.Duration) frameworktest.Step {
	return s.says("a turn", name, map[string]any{"lastActivityUnix": s.Clock.Now().Add(-ago).Unix()})
}

// readyWith names those of a fleet that are ready with a generation.
func (s *scene) readyWith(size int, generation string) []string {
	s.t.Helper()
	var names []string
	for i := range size {
		if conv := s.conv(nth(i)); isReady(conv) && conv.Status.HarnessImageGeneration == generation {
			names = append(names, conv.Name)
		}
	}
	return names
}

// unitOrNone reads a claim; nil if there is none.
func (s *scene) unitOrNone(name string) *agentsandboxv1alpha1.SandboxClaim {
	s.t.Helper()
	claim, err := s.client.AgentSandboxV1alpha1().SandboxClaims(s.Namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		s.t.Fatal(err)
	}
	return claim
}

// gauges reads the metrics of a prefix, by name and label values.
func (l *life) gauges(prefix string) map[string]float64 {
	l.t.Helper()
	families, err := l.manager.Registry.Gather()
	if err != nil {
		l.t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), prefix) {
			continue
		}
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = metric.GetGauge().GetValue()
		}
	}
	return values
}
