package conversation

import (
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// notReadySince has been seen as not ready for some seconds.
func notReadySince(seconds int64) option {
	return status(func(s *polychromev1alpha1.ConversationStatus) {
		s.Conditions = triadOf(false, true, false, polychromev1alpha1.ReasonWaitingForHarness)
		for i := range s.Conditions {
			s.Conditions[i].LastTransitionTime = metav1.NewTime(time.Unix(now-seconds, 0))
		}
	})
}

func bootingFor(seconds int64) execution.Unit {
	return with(bootingUnit, func(u *execution.Unit) { u.CreatedAt = now - seconds })
}

func TestReasonsOfUnitsThatTakeTooLong(t *testing.T) {
	blocked := with(bootingFor(700), func(u *execution.Unit) { u.BlockedBy, u.BlockedText = "TemplateNotFound", "no such template" })
	reclaimed := status(func(s *polychromev1alpha1.ConversationStatus) { s.IdleReclaimed = true })
	cases := []struct {
		name string
		conv *polychromev1alpha1.Conversation
		unit execution.Unit
		want polychromev1alpha1.Reason
	}{
		{"at ten minutes it is on its way", recorded(notReadySince(900)), bootingFor(600), polychromev1alpha1.ReasonWaitingForHarness},
		{"a second later it is late", recorded(notReadySince(900)), bootingFor(601), polychromev1alpha1.ReasonPendingDeadlineExceeded},
		{"a unit that was ready until lately has ten minutes anew", recorded(notReadySince(600)), bootingFor(9000), polychromev1alpha1.ReasonWaitingForHarness},
		{"and no more", recorded(notReadySince(601)), bootingFor(9000), polychromev1alpha1.ReasonPendingDeadlineExceeded},
		{"one that has just stopped being ready is not late", healthy(), bootingFor(9000), polychromev1alpha1.ReasonWaitingForHarness},
		{"one made in the future is not late", recorded(notReadySince(900)), bootingFor(-50), polychromev1alpha1.ReasonWaitingForHarness},
		{"one made at the end of time is not late", recorded(notReadySince(900)), with(bootingUnit, func(u *execution.Unit) { u.CreatedAt = math.MaxInt64 }),
			polychromev1alpha1.ReasonWaitingForHarness},
		{"a ready unit is not late", recorded(notReadySince(900)), readyUnit, polychromev1alpha1.ReasonHarnessReady},
		{"a unit that is going is not late", recorded(notReadySince(900)), goingUnit, polychromev1alpha1.ReasonExecutionUnitTerminating},
		{"a reclaimed one rests", recorded(notReadySince(900), reclaimed), bootingFor(900), polychromev1alpha1.ReasonIdleReclaimed},
		{"what blocks it comes first", recorded(notReadySince(900)), blocked, polychromev1alpha1.ReasonTemplateNotFound},
		{"a failed roll comes before what blocks it", recorded(rollingFor(601), ofGeneration(newGeneration)), blocked, polychromev1alpha1.ReasonRollFailed},
		{"a roll has ten minutes", recorded(rollingFor(600), ofGeneration(newGeneration)), bootingFor(590), polychromev1alpha1.ReasonWaitingForHarness},
		{"a failed roll without a unit", held(rollingFor(601)), noUnit, polychromev1alpha1.ReasonRollFailed},
		{"an ended unit comes before a failed roll", recorded(rollingFor(601)), endedUnit, polychromev1alpha1.ReasonPodFailed},
		{"the limit comes before a failed roll", recorded(rollingFor(601), losing(6, 60, 5)), bootingFor(5), polychromev1alpha1.ReasonRecreateLimit},
		{"a roll that ends well has not failed", recorded(rollingFor(601), ofGeneration(newGeneration)), readyUnit, polychromev1alpha1.ReasonHarnessReady},
		{"a roll that began before 1970 began just now", recorded(rollingFor(now + 5)), bootingFor(5), polychromev1alpha1.ReasonWaitingForHarness},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := on.reconciler().Status(time.Unix(now, 0), c.conv, World{Unit: c.unit}, nil)
			ready := meta.FindStatusCondition(got.Status.Conditions, "Ready")
			if ready.Reason != string(c.want) {
				t.Errorf("want %s, got %s", c.want, ready.Reason)
			}
		})
	}
}

func TestARollWhoseBeginningIsNotKnownBeginsNow(t *testing.T) {
	conv := recorded(ofGeneration(newGeneration), status(func(s *polychromev1alpha1.ConversationStatus) { s.RollingHarness = true }))
	got := on.reconciler().Status(time.Unix(now, 0), conv, World{Unit: bootingUnit}, nil)
	if at := got.Status.RollStartedAt; at == nil || *at != now {
		t.Errorf("want the roll to begin now, got %v", at)
	}
}

func TestLooksAtDeadlines(t *testing.T) {
	cases := []struct {
		name string
		conv *polychromev1alpha1.Conversation
		unit execution.Unit
		want time.Duration
		what string
	}{
		{"the unit is late in 20 s", recorded(notReadySince(900)), bootingFor(581), 20 * time.Second, "the unit to get ready in time"},
		{"the roll fails in 10 s", recorded(notReadySince(900), rollingFor(591)), bootingFor(581), 10 * time.Second, "the roll to succeed in time"},
		{"the unit may be made in 7 s", held(losing(2, 60, 3)), noUnit, 7 * time.Second, "the unit to be made again"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			plan := on.reconciler().Plan(time.Unix(now, 0), c.conv, World{Unit: c.unit})
			if plan.Wait != c.want || plan.Spread || plan.WaitFor != c.what {
				t.Errorf("want exactly %s for %s, got %s for %s, spread %t", c.want, c.what, plan.Wait, plan.WaitFor, plan.Spread)
			}
		})
	}
}

func TestAHaltIsSaidByThoseWhoCauseIt(t *testing.T) {
	halt := World{Unit: bootingUnit, Rolls: haltedRolls}
	cases := []struct {
		name string
		conv *polychromev1alpha1.Conversation
		w    World
		want bool
	}{
		{"a failed roll to the desired generation", recorded(rollingFor(601), ofGeneration(newGeneration)), halt, true},
		{"a failed roll whose unit could not even be made", held(rollingFor(601)), World{Unit: noUnit, Rolls: haltedRolls}, true},
		{"a failed roll to another generation", recorded(rollingFor(601), ofGeneration(oldGeneration)), halt, false},
		{"a roll under way", recorded(rollingFor(60), ofGeneration(newGeneration)), halt, false},
		{"one that waits", healthy(ofGeneration(oldGeneration)), World{Unit: readyUnit, Rolls: haltedRolls}, false},
		{"a failed roll without a halt", recorded(rollingFor(601), ofGeneration(newGeneration)), World{Unit: bootingUnit}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, at := on.reconciler(), time.Unix(now, 0)
			got := r.Status(at, c.conv, c.w, nil)
			if says := meta.IsStatusConditionTrue(got.Status.Conditions, "RollHalted"); says != c.want {
				t.Errorf("condition: want %t, got %t", c.want, says)
			}
			told := r.Plan(at, c.conv, c.w).Events
			if (len(told) == 1 && told[0].Reason == "RollHalted" && told[0].Warning) != c.want {
				t.Errorf("event: want %t, got %v", c.want, told)
			}
			if again := r.Status(at, got, c.w, nil); again != got {
				t.Error("want it said once")
			}
			if lifted := r.Status(at, got, World{Unit: c.w.Unit}, nil); meta.FindStatusCondition(lifted.Status.Conditions, "RollHalted") != nil {
				t.Error("want it taken back when the halt is over")
			}
		})
	}
}

func TestNoRollBeginsDuringAHalt(t *testing.T) {
	conv := healthy(ofGeneration(oldGeneration))
	plan := on.reconciler().Plan(time.Unix(now, 0), conv, World{Unit: drifted(readyUnit), Rolls: haltedRolls})
	want := []Action{{Kind: EnsureUnit, Unit: refReady, Drift: drifted(readyUnit).Drift}}
	if plan.Decision != "SyncStatus" || len(plan.Actions) != 1 || plan.Actions[0].String() != want[0].String() {
		t.Errorf("want the unit mended and not rolled, got %s %v", plan.Decision, plan.Actions)
	}
	if plan.WaitFor != "the end of the halt of rolls to "+newGeneration {
		t.Errorf("want it said what is waited for, got %q", plan.WaitFor)
	}
}

func TestOnlyRollsThemselvesAreUnpaced(t *testing.T) {
	old := healthy(ofGeneration(oldGeneration))
	cases := map[string]struct {
		conv *polychromev1alpha1.Conversation
		unit execution.Unit
		want bool
	}{
		"a roll":                                 {old, readyUnit, true},
		"a roll that mends while it has to wait": {old, drifted(readyUnit), false},
		"a mending":                              {healthy(ofGeneration(newGeneration)), drifted(readyUnit), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := on.reconciler().Plan(time.Unix(now, 0), c.conv, World{Unit: c.unit}).Unpaced; got != c.want {
				t.Errorf("want %t, got %t", c.want, got)
			}
		})
	}
}
