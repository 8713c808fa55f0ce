package routine

import (
	"fmt"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// checkWait fails unless the next look is as soon as promised.
func checkWait(t *testing.T, clock time.Time, routine *polychromev1alpha1.Routine) {
	t.Helper()
	plan := newReconciler().Plan(clock, routine, World{})
	says := judge(clock, routine)
	longest := plan.Wait
	if plan.Spread {
		longest += plan.Wait / 2
	}
	if plan.Wait != 0 && (plan.Wait < time.Second || longest > time.Hour || plan.WaitFor == "") {
		t.Errorf("a wait of %s, spread %t, for %q", plan.Wait, plan.Spread, plan.WaitFor)
	}
	if (plan.Wait == 0) != says.timeless {
		t.Errorf("%s waits %s", says.reason, plan.Wait)
	}
	if len(says.next) == 0 || plan.Spread {
		return
	}
	late := clock.Add(plan.Wait).Sub(says.next[0])
	if late < 0 || late > stagger && plan.Wait > time.Second {
		t.Errorf("a look %s after the fire of %s", late, says.next[0])
	}
}

func TestWait(t *testing.T) {
	far := onceAt("2026-05-05T13:45:00Z", "")
	tests := map[string]struct {
		routine *polychromev1alpha1.Routine
		spread  bool
		none    bool
	}{
		"minutely":                   {routine: bare(on(every("* * * * *", "UTC")))},
		"within the hour":            {routine: bare(on(onceAt("2026-05-05T13:29:00Z", "")))},
		"later":                      {routine: bare(on(far)), spread: true},
		"in years":                   {routine: bare(on(every("0 0 29 2 *", "UTC"))), spread: true},
		"has come":                   {routine: bare(on(onceAt("2026-05-05T12:00:00Z", ""))), spread: true},
		"was past from the start":    {routine: bare(on(onceAt("2020-05-05T12:00:00Z", ""))), none: true},
		"suspended":                  {routine: bare(suspended), none: true},
		"invalid":                    {routine: bare(prompting("")), none: true},
		"a fraction of a second off": {routine: bare(on(onceAt("2026-05-05T12:30:00.001Z", "")))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			checkWait(t, now, tt.routine)
			plan := newReconciler().Plan(now, tt.routine, World{})
			if plan.Spread != tt.spread || (plan.Wait == 0) != tt.none {
				t.Errorf("want spread %t, no wait %t; got %s, %t", tt.spread, tt.none, plan.Wait, plan.Spread)
			}
		})
	}
}

// A look is never so soon that a fire a moment away costs a turn of its own.
func TestAFireAMomentAway(t *testing.T) {
	soonest := longestWait
	for i := range 300 {
		routine := bare(on(onceAt("2026-05-05T12:30:00.001Z", "")), named(fmt.Sprint("uid-", i)))
		soonest = min(soonest, newReconciler().Plan(now, routine, World{}).Wait)
	}
	if soonest != shortestWait {
		t.Errorf("want the soonest of 300 looks after %s, got %s", shortestWait, soonest)
	}
}

// What is shown changes at the deadline and not before it.
func TestADeadlineIsExact(t *testing.T) {
	for i := range 50 {
		routine := settled(bare(on(every("*/10 * * * *", "UTC")), named(fmt.Sprint("uid-", i))))
		plan := newReconciler().Plan(now, routine, World{})
		due := now.Add(plan.Wait)
		if got := newReconciler().Status(due, routine, World{}, nil); got == routine {
			t.Errorf("nothing has changed %s on", plan.Wait)
		}
		before := due.Add(-delay(routine.UID) - time.Nanosecond)
		if got := newReconciler().Status(before, routine, World{}, nil); got != routine {
			t.Error("something has changed before the fire")
		}
	}
}

func TestAThousandRoutinesAtTheFullHourAreNoHerd(t *testing.T) {
	const fleet = 1000
	wakes := map[int]int{}
	for i := range fleet {
		routine := bare(on(every("0 * * * *", "UTC")), named(fmt.Sprintf("0b7c5f6e-%04d-4a3e-9c5d-2f1e0d9c8b7a", i)))
		plan, again := newReconciler().Plan(now, routine, World{}), newReconciler().Plan(now, routine, World{})
		if plan.Wait != again.Wait {
			t.Fatalf("two waits of one routine: %s and %s", plan.Wait, again.Wait)
		}
		fire := time.Date(2026, 5, 5, 13, 0, 0, 0, time.UTC)
		wakes[int(now.Add(plan.Wait).Sub(fire)/time.Second)]++
	}
	seconds := int(stagger / time.Second)
	if len(wakes) != seconds {
		t.Errorf("want wakes in each of %d seconds, got %d", seconds, len(wakes))
	}
	for second, n := range wakes {
		if second < 0 || second >= seconds || n > 2*fleet/seconds || n < fleet/seconds/3 {
			t.Errorf("%d of %d wake in second %d", n, fleet, second)
		}
	}
}

// A routine whose next fire is far is looked at within the hour, so that a
// clock that was put forward is noticed.
func TestAJumpOfTheClockIsNoticedWithinTheHour(t *testing.T) {
	for _, routine := range []*polychromev1alpha1.Routine{bare(), bare(on(onceAt("2030-01-01T00:00:00Z", ""))), bare(on(onceAt("2026-05-05T12:00:00Z", "")))} {
		for hour := range 48 {
			checkWait(t, now.Add(time.Duration(hour)*time.Hour), routine)
		}
	}
}
