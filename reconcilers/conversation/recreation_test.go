package conversation

import (
	"math"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

func TestBackoffOfRecreations(t *testing.T) {
	want := []int64{0, 0, 10, 20, 40, 80, 600, 600, 600}
	for count, seconds := range want {
		if got := backoffOf(int32(count)); got != seconds {
			t.Errorf("loss %d: want %d seconds, got %d", count, seconds, got)
		}
	}
	if got := backoffOf(math.MaxInt32); got != 600 {
		t.Errorf("want 600 seconds however many losses, got %d", got)
	}
}

func TestWhenALostUnitIsMadeAgain(t *testing.T) {
	cases := []struct {
		name string
		conv *polychromev1alpha1.Conversation
		unit execution.Unit
		want int64
	}{
		{"never lost", held(), noUnit, now},
		{"the first loss at once", held(losing(1, 0, 0)), noUnit, now},
		{"the second 10 s after it was noticed", held(losing(2, 60, 0)), noUnit, now + 10},
		{"the fifth 80 s after it was noticed", held(losing(5, 60, 30)), noUnit, now + 50},
		{"the sixth ten minutes after it was noticed", held(losing(6, 60, 0)), noUnit, now + 600},
		{"one never healthy is the next loss", recorded(losing(1, 60, 4)), noUnit, now + 6},
		{"one never healthy, the first time", recorded(), noUnit, now},
		{"a unit that is there is not waited for", recorded(losing(6, 60, 0)), bootingUnit, now},
		{"at the end of its hour a window still counts", held(losing(6, 3600, 0)), noUnit, now + 600},
		{"past that it does not", held(losing(6, 3601, 0)), noUnit, now},
		{"a window in the future does not count", held(losing(6, -1, 0)), noUnit, now},
		{"nor does a loss in the future", held(losing(6, 0, -1)), noUnit, now},
		{"nor does a negative count", held(losing(-1, 0, 0)), noUnit, now},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := recreateAt(now, c.conv, c.unit); got != c.want {
				t.Errorf("want %+d, got %+d", c.want-now, got-now)
			}
		})
	}
}

func TestALossOpensAWindowOrCountsInIt(t *testing.T) {
	cases := []struct {
		name string
		conv *polychromev1alpha1.Conversation
		want polychromev1alpha1.UnitRecreations
	}{
		{"the first", held(), *lost(1, 0, 0)},
		{"the next", held(losing(3, 100, 50)), *lost(4, 100, 0)},
		{"one after the window", held(losing(9, 3601, 50)), *lost(1, 0, 0)},
		{"one before the window", held(losing(9, -50, -50)), *lost(1, 0, 0)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			countLoss(now, &c.conv.Status)
			if got := *c.conv.Status.UnitRecreations; got != c.want {
				t.Errorf("want %+v, got %+v", c.want, got)
			}
		})
	}
}

// losses has somebody take a unit away as soon as it is made, and returns how
// many seconds after the beginning each one was made.
func losses(t *testing.T, s *simulation, until int64, take func()) []int64 {
	t.Helper()
	var made []int64
	before := s.uids
	for began := s.now; s.now-began <= until; {
		if err := s.settle(6); err != nil {
			t.Fatal(err)
		}
		if s.uids > before {
			before = s.uids
			if made = append(made, s.now-began); len(made) > 100 {
				t.Fatal("a loop")
			}
			take()
			continue
		}
		s.now += int64(s.Plan(time.Unix(s.now, 0), s.conv, s.world()).Wait / time.Second)
	}
	return made
}

func TestAJobThatDeletesEveryClaimDoesNotMakeALoop(t *testing.T) {
	s := newSimulation(bare())
	made := losses(t, s, 3500, func() { s.unit = noUnit })
	want := []int64{0, 0, 10, 30, 70, 150, 750, 1350, 1950, 2550, 3150}
	if len(made) != len(want) {
		t.Fatalf("want claims made at %v, got %v", want, made)
	}
	for i := range want {
		if made[i] != want[i] {
			t.Errorf("want claims made at %v, got %v", want, made)
			break
		}
	}
	if got := saysOf(s.conv); got.Reason != polychromev1alpha1.ReasonRecreateLimit || got.Conditions != "PD" {
		t.Errorf("want the limit told of, got %s, %s", got.Reason, got.Conditions)
	}
}

func TestAPodThatExitsAtOnceIsReplacedLessAndLess(t *testing.T) {
	s := newSimulation(bare())
	reasons := map[polychromev1alpha1.Reason]int{}
	made := losses(t, s, 3500, func() {
		s.unit.EndedBy, s.unit.EndedText = "PodFailed", "exit code 1"
		if err := s.settle(1); err == nil {
			t.Fatal("an ended unit is left alone")
		}
		reasons[saysOf(s.conv).Reason]++
	})
	if len(made) != 11 {
		t.Errorf("want 11 units within the hour, got %v", made)
	}
	want := map[polychromev1alpha1.Reason]int{polychromev1alpha1.ReasonPodFailed: 5, polychromev1alpha1.ReasonRecreateLimit: 6}
	for reason, n := range want {
		if reasons[reason] != n {
			t.Errorf("want %s said %d times, got %v", reason, n, reasons)
		}
	}
	if said := s.conv.Status.Conditions[0].Message; !containsAll(said, "more than 5 times", "PodFailed: exit code 1") {
		t.Errorf("want the last cause said, got %q", said)
	}
	s.now += 3600
	if err := s.settle(6); err != nil {
		t.Fatal(err)
	}
	s.boot("10.4.2.8")
	s.expect(t, "it stays", "Ready", polychromev1alpha1.ReasonHarnessReady, 1)
}

func TestPlanOfEndedUnits(t *testing.T) {
	teardown := []Action{{Kind: TeardownUnit, Unit: refBooting}}
	full := World{Unit: endedUnit}
	runPlanCases(t, []planCase{
		{name: "an ended unit is torn down", conv: recorded(), world: full, want: "SyncStatus", wantActions: teardown},
		{name: "whatever generation is due: it comes back with that", rules: on, conv: recorded(ofGeneration(oldGeneration)), world: full,
			want: "SyncStatus", wantActions: teardown},
		{name: "one found and not recorded is recorded first", conv: held(), world: full, want: "CreateSandboxClaim"},
		{name: "drift of it is not mended", conv: recorded(), world: World{Unit: drifted(endedUnit)}, want: "SyncStatus", wantActions: teardown},
		{name: "one that goes already is waited for", conv: recorded(), world: World{Unit: with(endedUnit, func(u *execution.Unit) { u.Terminating = true })},
			want: "SyncStatus"},
		{name: "while recreation backs off none is made", conv: held(losing(2, 60, 5)), want: "CreateSandboxClaim"},
		{name: "nor in place of one that never was healthy", conv: recorded(losing(1, 60, 5)), want: "SyncStatus"},
		{name: "then it is", conv: held(losing(2, 60, 10)), want: "CreateSandboxClaim", wantActions: []Action{makeUnit}},
	})
}

func TestStatusOfEndedUnits(t *testing.T) {
	away := polychromev1alpha1.ConversationStatus{ObservedGeneration: 1, Phase: polychromev1alpha1.ConversationPending, UnitRecreations: lost(1, 0, 0)}
	waiting := away
	waiting.UnitRecreations = lost(2, 60, 5)
	limited := away
	limited.UnitRecreations = lost(6, 60, 5)
	stays := recorded().Status
	stays.ObservedGeneration, stays.Phase = 1, polychromev1alpha1.ConversationPending
	tried := stays
	tried.UnitRecreations = lost(6, 60, 5)
	runStatusCases(t, []statusCase{
		{name: "an ended unit is let go of once torn down", rules: on, conv: healthy(ofGeneration(oldGeneration)), unit: endedUnit, done: did(well(TeardownUnit, nil)),
			want: says{away, polychromev1alpha1.ReasonPodFailed, "PD"}},
		{name: "it is told of while it cannot be torn down", conv: recorded(), unit: endedUnit, done: did(badly(TeardownUnit, errServer)),
			want: says{stays, polychromev1alpha1.ReasonPodFailed, "PD"}},
		{name: "why it went is remembered while it is waited for", conv: held(losing(2, 60, 5), saying(polychromev1alpha1.ReasonPodSucceeded)), unit: noUnit,
			want: says{waiting, polychromev1alpha1.ReasonPodSucceeded, "PD"}},
		{name: "where that is not known it vanished", conv: held(losing(2, 60, 5)), unit: noUnit,
			want: says{waiting, polychromev1alpha1.ReasonExecutionUnitVanished, "PD"}},
		{name: "the limit comes before what went wrong", conv: held(losing(6, 60, 5), saying(polychromev1alpha1.ReasonPodFailed)), unit: noUnit,
			want: says{limited, polychromev1alpha1.ReasonRecreateLimit, "PD"}},
		{name: "the limit shows through a try", conv: recorded(losing(6, 60, 5)), unit: bootingUnit,
			want: says{tried, polychromev1alpha1.ReasonRecreateLimit, "PD"}},
		{name: "and is over once that is ready", conv: healthy(losing(6, 60, 5)), unit: readyUnit, wantSame: true},
		{name: "an ended unit of a closing conversation is not of interest", conv: healthy(activeAt(0)), unit: with(endedUnit, func(u *execution.Unit) { u.CreatedAt = 0 }),
			want: says{func() polychromev1alpha1.ConversationStatus {
				s := healthy(activeAt(0)).Status
				s.Conditions, s.Closed, s.Phase = nil, true, polychromev1alpha1.ConversationClosing
				return s
			}(), polychromev1alpha1.ReasonClosingIdleConversation, "P"}},
	})
}

func TestWhatSomebodyAskedForIsNoLoss(t *testing.T) {
	at := time.Unix(now, 0)
	rolled := on.reconciler().Status(at, healthy(ofGeneration(oldGeneration), losing(6, 60, 5)), World{Unit: readyUnit}, did(well(RollUnit, nil)))
	closed := on.reconciler().Status(at, shut(losing(6, 60, 5)), World{Unit: readyUnit}, did(well(TeardownUnit, nil)))
	for what, conv := range map[string]*polychromev1alpha1.Conversation{"roll": rolled, "closing": closed} {
		if got := conv.Status.UnitRecreations; got != nil {
			t.Errorf("want the losses before a %s forgotten, got %+v", what, got)
		}
	}
}
