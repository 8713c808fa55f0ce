package routine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestStatus(t *testing.T) {
	tests := map[string]struct {
		routine *polychromev1alpha1.Routine
		want    polychromev1alpha1.RoutineStatus
		reason  polychromev1alpha1.Reason
	}{
		"a schedule shows its next three fires with the offset of its zone": {
			routine: bare(),
			want: polychromev1alpha1.RoutineStatus{
				Ready: true, Phase: polychromev1alpha1.RoutineScheduled, Cadence: "every weekday at 09:00 Europe/London",
				NextFireTimes: []string{"2026-05-06T09:00:00+01:00", "2026-05-07T09:00:00+01:00", "2026-05-08T09:00:00+01:00"},
			},
			reason: polychromev1alpha1.ReasonScheduled,
		},
		"across a change of the clocks the offset changes": {
			routine: bare(on(every("0 9 25-26 10 *", "Europe/London"))),
			want: polychromev1alpha1.RoutineStatus{
				Ready: true, Phase: polychromev1alpha1.RoutineScheduled, Cadence: "on days 25 and 26 of the month in October at 09:00 Europe/London",
				NextFireTimes: []string{"2026-10-25T09:00:00Z", "2026-10-26T09:00:00Z", "2027-10-25T09:00:00+01:00"},
			},
			reason: polychromev1alpha1.ReasonScheduled,
		},
		"one instant that comes": {
			routine: bare(on(onceAt("2026-05-05T12:30:01Z", "Europe/Paris"))),
			want: polychromev1alpha1.RoutineStatus{
				Ready: true, Phase: polychromev1alpha1.RoutineScheduled, Cadence: "once on 2026-05-05 at 14:30:01 Europe/Paris",
				NextFireTimes: []string{"2026-05-05T14:30:01+02:00"},
			},
			reason: polychromev1alpha1.ReasonScheduled,
		},
		"one instant that has come, and is shown in UTC": {
			routine: bare(on(onceAt("2026-05-05T14:30:00+02:00", ""))),
			want: polychromev1alpha1.RoutineStatus{
				Ready: true, Phase: polychromev1alpha1.RoutineCompleted, Cadence: "once on 2026-05-05 at 12:30 UTC",
				Message: "the only instant, 2026-05-05T12:30:00Z, has come",
			},
			reason: polychromev1alpha1.ReasonCompleted,
		},
		"one instant that came after the routine was made, whenever it was written": {
			routine: bare(on(onceAt("2026-04-25T12:30:01Z", "UTC"))),
			want: polychromev1alpha1.RoutineStatus{
				Ready: true, Phase: polychromev1alpha1.RoutineCompleted, Cadence: "once on 2026-04-25 at 12:30:01 UTC",
				Message: "the only instant, 2026-04-25T12:30:01Z, has come",
			},
			reason: polychromev1alpha1.ReasonCompleted,
		},
		"one instant that was past when the routine was made": {
			routine: bare(on(onceAt("2026-04-25T12:30:00Z", "UTC"))),
			want: polychromev1alpha1.RoutineStatus{
				Phase: polychromev1alpha1.RoutineCompleted, Cadence: "once on 2026-04-25 at 12:30 UTC",
				Message: "spec.schedule.once.at, 2026-04-25T12:30:00Z, was already past when the routine was made: write a later instant",
			},
			reason: polychromev1alpha1.ReasonOnceInPast,
		},
		"suspended has no next fires": {
			routine: bare(suspended),
			want: polychromev1alpha1.RoutineStatus{
				Ready: true, Phase: polychromev1alpha1.RoutineSuspended, Cadence: "every weekday at 09:00 Europe/London",
				Message: "spec.suspend is set: nothing fires until it is cleared, and nothing is made up for then",
			},
			reason: polychromev1alpha1.ReasonSuspended,
		},
		"suspended goes before what has come": {
			routine: bare(suspended, on(onceAt("2026-05-05T12:00:00Z", "UTC"))),
			want: polychromev1alpha1.RoutineStatus{
				Ready: true, Phase: polychromev1alpha1.RoutineSuspended, Cadence: "once on 2026-05-05 at 12:00 UTC",
				Message: "spec.suspend is set: nothing fires until it is cleared, and nothing is made up for then",
			},
			reason: polychromev1alpha1.ReasonSuspended,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := settled(tt.routine)
			ready := conditionOf(got, polychromev1alpha1.ConditionReady)
			if ready == nil || ready.Reason != string(tt.reason) || (ready.Status == metav1.ConditionTrue) != tt.want.Ready || ready.Message == "" {
				t.Errorf("want Ready %t, %s, with a message; got %+v", tt.want.Ready, tt.reason, ready)
			}
			if stalled := conditionOf(got, polychromev1alpha1.ConditionStalled); (stalled != nil) == tt.want.Ready {
				t.Errorf("want Stalled with what only another spec can help, got %+v", stalled)
			}
			want := tt.want
			want.ObservedGeneration, want.Conditions = tt.routine.Generation, got.Status.Conditions
			if diff := cmp.Diff(want, got.Status); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsInvalidSaysWhatToWrite(t *testing.T) {
	both := every("* * * * *", "UTC")
	both.Once = onceAt("2026-06-01T00:00:00Z", "UTC").Once
	tests := map[string]struct {
		change  option
		reason  polychromev1alpha1.Reason
		message string
	}{
		"no schedule":           {on(polychromev1alpha1.RoutineSchedule{}), polychromev1alpha1.ReasonInvalidSchedule, "spec.schedule is empty: write cron"},
		"two schedules":         {on(both), polychromev1alpha1.ReasonInvalidSchedule, "write one of them"},
		"an expression":         {on(every("0 0 9 * * 1-5", "UTC")), polychromev1alpha1.ReasonInvalidSchedule, "spec.schedule.cron.expression: the expression has six fields: leave out"},
		"a day that never is":   {on(every("0 0 30 2 *", "UTC")), polychromev1alpha1.ReasonNeverFires, "spec.schedule.cron.expression: no month that is named has such a day"},
		"a zone in lower case":  {on(every("* * * * *", "utc")), polychromev1alpha1.ReasonInvalidTimeZone, `spec.schedule.cron.timeZone: there is no zone "utc": write UTC`},
		"no zone":               {on(every("* * * * *", "")), polychromev1alpha1.ReasonInvalidTimeZone, "spec.schedule.cron.timeZone: no zone is named: write"},
		"the machine's zone":    {on(every("* * * * *", "Local")), polychromev1alpha1.ReasonInvalidTimeZone, "write an IANA name"},
		"a path":                {on(onceAt("2026-06-01T00:00:00Z", "../etc/passwd")), polychromev1alpha1.ReasonInvalidTimeZone, "spec.schedule.once.timeZone: there is no zone"},
		"an instant":            {on(onceAt("tomorrow", "")), polychromev1alpha1.ReasonInvalidSchedule, "spec.schedule.once.at: \"tomorrow\" is no instant: write RFC 3339"},
		"a blank prompt":        {prompting(" \n\t　"), polychromev1alpha1.ReasonInvalidPrompt, "spec.prompt.text is blank: write"},
		"a long prompt":         {prompting(strings.Repeat("é", 16385)), polychromev1alpha1.ReasonInvalidPrompt, "has 32770 bytes: write at most 32768"},
		"no owner":              {func(r *polychromev1alpha1.Routine) { r.Spec.Owner = "" }, polychromev1alpha1.ReasonInvalidSpec, "spec.owner is empty: write"},
		"a scope":               {func(r *polychromev1alpha1.Routine) { r.Spec.Scope = "Secret" }, polychromev1alpha1.ReasonInvalidSpec, `"Secret": write Public or Private`},
		"also while suspended":  {func(r *polychromev1alpha1.Routine) { suspended(r); r.Spec.Owner = "" }, polychromev1alpha1.ReasonInvalidSpec, "spec.owner"},
		"a year without an end": {on(onceAt("99999-01-01T00:00:00Z", "")), polychromev1alpha1.ReasonInvalidSchedule, "write RFC 3339"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := settled(bare()).DeepCopy()
			got.Generation++
			tt.change(got)
			got = settled(got)
			s := got.Status
			if s.Ready || s.Phase != polychromev1alpha1.RoutineInvalid || s.Cadence != "" || s.NextFireTimes != nil || s.ObservedGeneration != 2 {
				t.Errorf("want nothing but that it is invalid, got %+v", s)
			}
			if !strings.Contains(s.Message, tt.message) {
				t.Errorf("want a message with %q, got %q", tt.message, s.Message)
			}
			for kind, status := range map[polychromev1alpha1.ConditionType]metav1.ConditionStatus{
				polychromev1alpha1.ConditionReady: "False", polychromev1alpha1.ConditionStalled: "True",
			} {
				c := conditionOf(got, kind)
				if c == nil || c.Status != status || c.Reason != string(tt.reason) || c.Message != s.Message || c.ObservedGeneration != 2 {
					t.Errorf("want %s %s, %s, with the message; got %+v", kind, status, tt.reason, c)
				}
			}
			plan := newReconciler().Plan(now, got, World{Leftovers: []Found{{CronJob, leftover(ownerOf(got))}}})
			if plan.Decision != reportInvalid || plan.Actions != nil || plan.Wait != 0 {
				t.Errorf("want no action and no wait, got %+v", plan)
			}
			mended := bare(func(r *polychromev1alpha1.Routine) { r.Status, r.Generation = s, 3 })
			if mended = settled(mended); conditionOf(mended, polychromev1alpha1.ConditionStalled) != nil || !mended.Status.Ready || mended.Status.Message != "" {
				t.Errorf("want nothing left of it once mended, got %+v", mended.Status)
			}
		})
	}
}

func TestReasonsAreListed(t *testing.T) {
	for _, routine := range samples() {
		got := settled(routine)
		for _, c := range got.Status.Conditions {
			listed := slices.ContainsFunc(polychromev1alpha1.Conditions(), func(f polychromev1alpha1.ConditionFacts) bool {
				reasons := f.False
				if c.Status == metav1.ConditionTrue {
					reasons = f.True
				}
				return f.Kind == "Routine" && string(f.Type) == c.Type && slices.Contains(reasons, polychromev1alpha1.Reason(c.Reason))
			})
			if !listed {
				t.Errorf("%s %s may not have the reason %s", c.Type, c.Status, c.Reason)
			}
		}
	}
}

// samples has a routine for each verdict.
func samples() []*polychromev1alpha1.Routine {
	return []*polychromev1alpha1.Routine{
		bare(), bare(suspended), bare(on(onceAt("2026-05-05T12:00:00Z", ""))), bare(on(onceAt("2020-05-05T12:00:00Z", ""))),
		bare(on(every("nonsense", "UTC"))), bare(on(every("0 0 30 2 *", "UTC"))), bare(on(every("* * * * *", "EUROPE/PARIS"))),
		bare(prompting("")), bare(func(r *polychromev1alpha1.Routine) { r.Spec.Owner = "" }),
	}
}

func TestTheSchedulersConditionSurvivesAHundredPasses(t *testing.T) {
	for _, routine := range samples() {
		missed(routine)
		want := *conditionOf(routine, polychromev1alpha1.ConditionMissedFire)
		r, clock := newReconciler(), now
		for range 100 {
			routine = r.Status(clock, routine, World{}, nil)
			clock = clock.Add(7 * time.Hour)
		}
		got := conditionOf(routine, polychromev1alpha1.ConditionMissedFire)
		if got == nil {
			t.Fatal("MissedFire is gone")
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("MissedFire (-want +got):\n%s", diff)
		}
	}
}

func TestASettledStatusIsTheSameObject(t *testing.T) {
	for _, routine := range samples() {
		routine = settled(routine)
		if settled(routine) != routine {
			t.Errorf("a second pass changes the status of %+v", routine.Spec.Schedule)
		}
	}
}

func TestTheTimeOfATransitionStays(t *testing.T) {
	routine := settled(bare())
	first := conditionOf(routine, polychromev1alpha1.ConditionReady).LastTransitionTime
	routine.Spec.Suspend, routine.Generation = true, 2
	routine = newReconciler().Status(now.Add(time.Hour), routine, World{}, nil)
	ready := conditionOf(routine, polychromev1alpha1.ConditionReady)
	if ready.Reason != string(polychromev1alpha1.ReasonSuspended) || !ready.LastTransitionTime.Equal(&first) {
		t.Errorf("want another reason since %s, got %+v", first, ready)
	}
}

func TestResumingReplaysNothing(t *testing.T) {
	routine := settled(bare(suspended, on(every("* * * * *", "UTC"))))
	routine.Spec.Suspend, routine.Generation = false, 2
	routine = newReconciler().Status(now.Add(240*time.Hour), routine, World{}, nil)
	want := []string{"2026-05-15T12:31:00Z", "2026-05-15T12:32:00Z", "2026-05-15T12:33:00Z"}
	if diff := cmp.Diff(want, routine.Status.NextFireTimes); diff != "" {
		t.Errorf("next fires (-want +got):\n%s", diff)
	}
}

// The controller was away for ten days, or the clock is wrong: what is shown
// follows from the present time alone.
func TestTheClockJumps(t *testing.T) {
	for name, jump := range map[string]time.Duration{
		"ten days away": 240 * time.Hour, "an hour back": -time.Hour, "a year on": 365 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			r, minutely := newReconciler(), settled(bare(on(every("* * * * *", "UTC"))))
			then := now.Add(jump)
			got := r.Status(then, minutely, World{}, nil)
			if want := then.Add(time.Minute).Format(time.RFC3339); got.Status.NextFireTimes[0] != want || len(got.Status.NextFireTimes) != 3 {
				t.Errorf("want three fires from %s on, got %v", want, got.Status.NextFireTimes)
			}
			once := r.Status(then, settled(bare(on(onceAt("2026-05-05T12:00:00Z", "")))), World{}, nil)
			want := polychromev1alpha1.RoutineCompleted
			if jump < 0 {
				want = polychromev1alpha1.RoutineScheduled
			}
			if once.Status.Phase != want {
				t.Errorf("one instant: want %s, got %s", want, once.Status.Phase)
			}
		})
	}
}
