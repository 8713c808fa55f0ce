package routine

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
)

// scenes are what a stepped clock makes certain. They share a control plane,
// each in a namespace of its own.
var scenes = map[string]func(*scene){
	"a life":                                   aLife,
	"one instant that comes":                   oneInstant,
	"one instant that was past":                oneInstantPast,
	"a hundred fires beside the scheduler":     besideTheScheduler,
	"the scheduler between our read and write": schedulerInBetween,
	"a year on":                                aYearOn,
	"settled costs nothing":                    settledCostsNothing,
	"no herd":                                  noHerd,
	"objects of others":                        objectsOfOthers,
	"taken over before the delete":             takenOverInBetween,
	"made again before the delete":             madeAgainInBetween,
	"a trigger that may not be deleted":        mayNotDelete,
	"triggers that may not be seen":            mayNotSee,
	"invalid keeps its trigger":                invalidKeepsItsTrigger,
	"paused":                                   paused,
}

func TestScenes(t *testing.T) {
	t.Parallel()
	config := startBare(t)
	for name, play := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(newScene(t, config))
		})
	}
}

func aLife(s *scene) {
	l := s.start()
	l.plays(s.makes("one", every("0 9 * * 1-5", "Europe/London")))
	s.finds("routine one Scheduled 3")
	made := s.routine("one")
	if made.Status.Cadence != "every weekday at 09:00 Europe/London" || made.Status.ObservedGeneration != 1 || !made.Status.Ready {
		s.t.Errorf("want it described, got %+v", made.Status)
	}
	l.plays(s.reschedules("one", "* * * * *", "Europe/Berlin"))
	if st := s.routine("one").Status; st.Cadence != "every minute, Europe/Berlin" || st.ObservedGeneration != 2 {
		s.t.Errorf("want the new schedule, got %+v", st)
	}
	l.plays(s.suspends("one", true))
	s.finds("routine one Suspended 0")
	l.plays(s.waits(240*time.Hour), s.suspends("one", false))
	s.finds("routine one Scheduled 3")
	if next := s.nextOf("one"); next.Sub(s.Clock.Now()) > time.Minute || !next.After(s.Clock.Now()) {
		s.t.Errorf("want it to go on within a minute of %s, got %s", s.Clock.Now(), next)
	}
	l.plays(s.reschedules("one", "0 0 30 2 *", "Europe/Berlin"))
	s.finds("routine one NeverFires 0")
	l.plays(s.reschedules("one", "0 9 * * *", "europe/berlin"))
	s.finds("routine one InvalidTimeZone 0")
	if st := s.routine("one").Status; !strings.HasSuffix(st.Message, "write Europe/Berlin") || st.Phase != polychromev1alpha1.RoutineInvalid {
		s.t.Errorf("want it to say what to write, got %+v", st)
	}
	if got := l.faults.Count(frameworktest.Writes); got != 6 {
		s.t.Errorf("want a write for each of six edits, got %d", got)
	}
	l.plays(s.deletes(routines, "one"))
	s.finds()
	if specs := l.asked(frameworktest.On("routines"), frameworktest.Writes); len(specs) > 0 {
		s.t.Errorf("want nothing but statuses written, got %v", specs)
	}
}

// nextOf is the next fire that is shown.
func (s *scene) nextOf(name string) time.Time {
	s.t.Helper()
	times := s.routine(name).Status.NextFireTimes
	if len(times) == 0 {
		s.t.Fatal("no next fire is shown")
	}
	next, err := time.Parse(time.RFC3339, times[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return next
}

func oneInstant(s *scene) {
	l := s.start()
	l.plays(s.makes("one", onceAt(s.Clock.Now().Add(2*time.Hour))))
	s.finds("routine one Scheduled 1")
	l.plays(s.waits(time.Hour), s.waits(time.Hour), s.waits(30*time.Second))
	s.finds("routine one Completed 0")
	if st := s.routine("one").Status; !st.Ready || st.Phase != polychromev1alpha1.RoutineCompleted {
		s.t.Errorf("want it completed and well, got %+v", st)
	}
	if got := l.faults.Count(frameworktest.Writes); got != 2 {
		s.t.Errorf("want two writes, got %d", got)
	}
}

func oneInstantPast(s *scene) {
	l := s.start()
	l.plays(s.makes("one", onceAt(s.Clock.Now().Add(-time.Minute))))
	s.finds("routine one OnceInPast 0")
	if st := s.routine("one").Status; st.Ready || st.Phase != polychromev1alpha1.RoutineCompleted {
		s.t.Errorf("want it completed and not well, got %+v", st)
	}
	before := l.faults.Count(frameworktest.Writes)
	l.plays(s.waits(3*time.Hour), s.waits(3*time.Hour))
	if got := l.faults.Count(frameworktest.Writes); got != before {
		s.t.Errorf("want no retry, got %d writes more", got-before)
	}
}

func besideTheScheduler(s *scene) {
	l := s.start()
	l.plays(s.makes("one", every("* * * * *", "UTC")), s.misses("one", "the scheduler was away"))
	s.finds("routine one Scheduled 3 missed: the scheduler was away")
	l.faults.Forget()
	// A fire shows within 30 seconds.
	for range 200 {
		l.plays(s.waits(30 * time.Second))
	}
	s.finds("routine one Scheduled 3 missed: the scheduler was away")
	if got := l.faults.Count(frameworktest.Writes); got < 99 || got > 101 {
		s.t.Errorf("want a write for each of a hundred fires, got %d", got)
	}
	l.plays(s.suspends("one", true))
	s.finds("routine one Suspended 0 missed: the scheduler was away")
	l.plays(s.reschedules("one", "nonsense", "UTC"))
	s.finds("routine one InvalidSchedule 0 missed: the scheduler was away")
}

func schedulerInBetween(s *scene) {
	l := s.start()
	l.plays(s.makes("one", every("0 9 * * *", "UTC")), s.misses("one", "first"))
	gate := make(chan struct{})
	met := l.faults.Inject(frameworktest.Fault{Verb: "patch", Resource: "routines/status", Hold: gate})
	l.faults.Forget()
	s.meanwhile(s.suspends("one", true))
	s.meets(met)
	s.meanwhile(s.misses("one", "second"))
	close(gate)
	l.settle()
	s.finds("routine one Suspended 0 missed: second")
	if got := l.faults.Count(frameworktest.Writes, frameworktest.Answered(http.StatusConflict)); got != 1 {
		s.t.Errorf("want one write refused, got %d", got)
	}
}

func aYearOn(s *scene) {
	l := s.start()
	l.plays(s.makes("one", every("30 2 * * *", "America/New_York")), s.waits(365*24*time.Hour))
	if next := s.nextOf("one"); next.Before(s.Clock.Now()) || next.Sub(s.Clock.Now()) > 25*time.Hour {
		s.t.Errorf("want the next fire after %s, got %s", s.Clock.Now(), next)
	}
	if got := l.faults.Count(frameworktest.Writes); got != 2 {
		s.t.Errorf("want nothing replayed, got %d writes", got)
	}
}

func settledCostsNothing(s *scene) {
	l := s.start()
	for name, schedule := range map[string]polychromev1alpha1.RoutineSchedule{
		"yearly": every("@yearly", "UTC"), "invalid": every("0 0 30 2 *", "UTC"), "past": onceAt(s.Clock.Now().Add(-time.Hour)),
		"far": onceAt(s.Clock.Now().AddDate(50, 0, 0)),
	} {
		l.plays(s.makes(name, schedule))
	}
	l.plays(s.takes("yearly"))
	l.faults.Forget()
	for range 12 {
		l.plays(s.waits(20 * time.Minute))
	}
	if diff := cmp.Diff([]string(nil), l.asked()); diff != "" {
		s.t.Errorf("requests but watches in four hours (-want +got):\n%s", diff)
	}
}

// noHerd has a fleet fire at one instant and looks when it is written about.
func noHerd(s *scene) {
	const fleet = 120
	l := s.start()
	for i := range fleet {
		s.meanwhile(s.makes(string(rune('a'+i%26))+strings.Repeat("x", i/26), every("0 * * * *", "UTC")))
	}
	l.settle()
	hour := s.Clock.Now().Truncate(time.Hour).Add(time.Hour)
	s.Clock.StepTo(hour.Add(-time.Second))
	l.settle()
	l.faults.Forget()
	seconds, most := 0, 0
	for range 31 {
		before := l.faults.Count(frameworktest.Writes)
		l.plays(s.waits(time.Second))
		if n := l.faults.Count(frameworktest.Writes) - before; n > 0 {
			seconds, most = seconds+1, max(most, n)
		}
	}
	if got := l.faults.Count(frameworktest.Writes); got != fleet || seconds < 20 || most > fleet/6 {
		s.t.Errorf("want %d writes over 30 seconds, got %d in %d of them, %d in one", fleet, got, seconds, most)
	}
}

func objectsOfOthers(s *scene) {
	s.meanwhile(s.takes("one"), s.makes("two", every("@daily", "UTC")), s.leftBehind("two"))
	// The owner of these is an earlier routine of the name.
	s.meanwhile(s.deletes(routines, "two"))
	var before []any
	all := []struct {
		resource schema.GroupVersionResource
		name     string
	}{{cronJobs, "routine-one"}, {accounts, "routine-one"}, {cronJobs, "routine-two"}, {accounts, "routine-two"}}
	for _, of := range all {
		before = append(before, s.raw(of.resource, of.name).Object)
	}
	l := s.start()
	l.plays(s.makes("one", every("* * * * *", "UTC")), s.makes("two", every("@daily", "UTC")), s.waits(time.Hour),
		s.reschedules("one", "nonsense", "UTC"), s.suspends("two", true), s.deletes(routines, "one"), s.deletes(routines, "two"))
	for i, of := range all {
		if diff := cmp.Diff(before[i], any(s.raw(of.resource, of.name).Object)); diff != "" {
			s.t.Errorf("%s %s was touched (-before +after):\n%s", of.resource.Resource, of.name, diff)
		}
	}
	if got := l.faults.Count(frameworktest.By("delete")); got != 0 {
		s.t.Errorf("want no delete tried, got %d", got)
	}
}

// takenOverInBetween and madeAgainInBetween are about one object alone: which
// of two is seen first nobody can say.
func takenOverInBetween(s *scene) {
	s.beforeTheDelete(s.disowned(cronJobs, "one"))
}

func madeAgainInBetween(s *scene) {
	s.beforeTheDelete(s.deletes(cronJobs, "routine-one"), s.made(cronJobs, "one", false))
}

func (s *scene) beforeTheDelete(steps ...frameworktest.Step) {
	s.t.Helper()
	l := s.start()
	l.plays(s.makes("one", every("@daily", "UTC")))
	gate := make(chan struct{})
	met := l.faults.Inject(frameworktest.Fault{Verb: "delete", Resource: "cronjobs", Hold: gate})
	s.meanwhile(s.made(cronJobs, "one", true))
	s.meets(met)
	s.meanwhile(steps...)
	close(gate)
	l.settle()
	s.finds("routine one Scheduled 3", "cronjobs routine-one")
	if got := l.faults.Count(frameworktest.By("delete")); got != 1 {
		s.t.Errorf("want one delete tried, got %d", got)
	}
}

func mayNotDelete(s *scene) {
	l := s.start()
	denied := l.faults.Inject(frameworktest.Fault{Verb: "delete", Status: http.StatusForbidden, Times: -1})
	l.plays(s.makes("one", every("@daily", "UTC")), s.leftBehind("one"), s.waits(10*time.Minute))
	s.finds("routine one Scheduled 3", "cronjobs routine-one", "serviceaccounts routine-one")
	told := l.told("OldTriggerKept")
	if len(told) != 2 || !slices.ContainsFunc(told, func(e string) bool { return strings.Contains(e, "CronJob routine-one") }) {
		s.t.Errorf("want one warning for each of the two, got %q", told)
	}
	denied.Stop()
	l.plays(s.waits(time.Hour))
	s.finds("routine one Scheduled 3")
	if told := l.told("OldTriggerRemoved"); len(told) != 2 {
		s.t.Errorf("want one piece of news for each of the two, got %q", told)
	}
}

func invalidKeepsItsTrigger(s *scene) {
	l := s.start()
	l.plays(s.makes("one", every("0 0 30 2 *", "UTC")), s.leftBehind("one"))
	s.finds("routine one NeverFires 0", "cronjobs routine-one", "serviceaccounts routine-one")
	l.plays(s.reschedules("one", "0 0 29 2 *", "UTC"))
	s.finds("routine one Scheduled 3")
}

func paused(s *scene) {
	l := s.start()
	l.plays(s.makes("one", every("* * * * *", "UTC")), s.pauses("one", "true"))
	shown := s.routine("one").Status.NextFireTimes
	l.plays(s.leftBehind("one"), s.waits(time.Hour))
	s.finds("routine one Scheduled 3", "cronjobs routine-one", "serviceaccounts routine-one")
	if diff := cmp.Diff(shown, s.routine("one").Status.NextFireTimes); diff != "" {
		s.t.Errorf("written while paused (-before +after):\n%s", diff)
	}
	l.plays(s.pauses("one", nil))
	s.finds("routine one Scheduled 3")
}
