package routine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/schedule"
)

const (
	// shownFires is how many fires are foretold.
	shownFires = 3
	// longestPrompt is how long a prompt may be, in bytes.
	longestPrompt = 32 << 10
)

// verdict is what there is to say of a routine.
type verdict struct {
	phase   polychromev1alpha1.RoutinePhase
	reason  polychromev1alpha1.Reason
	message string
	// ready says that the routine is as its spec wants it, stalled that only
	// another spec can help.
	ready, stalled bool
	// cadence and next are the schedule for people.
	cadence string
	next    []time.Time
	// timeless says that the passing of time changes nothing.
	timeless bool
}

// invalid is what is wrong with a spec.
type invalid struct {
	reason  polychromev1alpha1.Reason
	message string
}

// judge finds the one verdict on a routine at a time.
func judge(now time.Time, routine *polychromev1alpha1.Routine) verdict {
	plan, wrong := scheduleOf(routine.Spec.Schedule)
	if wrong == nil {
		wrong = otherwise(routine.Spec)
	}
	if wrong != nil {
		return refused(*wrong)
	}
	says := verdict{cadence: plan.Cadence()}
	switch at := plan.At(); {
	case routine.Spec.Suspend:
		says.phase, says.reason = polychromev1alpha1.RoutineSuspended, polychromev1alpha1.ReasonSuspended
		says.message = "spec.suspend is set: nothing fires until it is cleared, and nothing is made up for then"
		says.ready, says.timeless = true, true
	case !at.IsZero() && !at.After(routine.CreationTimestamp.Time):
		says.phase, says.reason = polychromev1alpha1.RoutineCompleted, polychromev1alpha1.ReasonOnceInPast
		says.message = "spec.schedule.once.at, " + shown(at) + ", was already past when the routine was made: write a later instant"
		says.stalled, says.timeless = true, true
	case !at.IsZero() && !at.After(now):
		says.phase, says.reason = polychromev1alpha1.RoutineCompleted, polychromev1alpha1.ReasonCompleted
		says.message = "the only instant, " + shown(at) + ", has come"
		says.ready = true
	default:
		if says.next = plan.Upcoming(now, shownFires); len(says.next) == 0 {
			return refused(invalid{
				polychromev1alpha1.ReasonNeverFires,
				"spec.schedule.cron.expression: no instant from now on matches it in this zone: write other times",
			})
		}
		says.phase, says.reason, says.ready = polychromev1alpha1.RoutineScheduled, polychromev1alpha1.ReasonScheduled, true
	}
	return says
}

func refused(wrong invalid) verdict {
	return verdict{
		phase: polychromev1alpha1.RoutineInvalid, reason: wrong.reason, message: wrong.message, stalled: true, timeless: true,
	}
}

// scheduleOf reads a schedule. Stored objects may break rules that the API
// server has today.
func scheduleOf(spec polychromev1alpha1.RoutineSchedule) (schedule.Schedule, *invalid) {
	var (
		read  schedule.Schedule
		err   error
		field string
	)
	switch cron, once := spec.Cron, spec.Once; {
	case cron != nil && once != nil:
		return read, &invalid{polychromev1alpha1.ReasonInvalidSchedule, "spec.schedule has both cron and once: write one of them"}
	case cron != nil:
		field = "spec.schedule.cron.expression"
		if read, err = schedule.Cron(cron.Expression, cron.TimeZone); schedule.IsInvalidZone(err) {
			field = "spec.schedule.cron.timeZone"
		}
	case once != nil:
		field = "spec.schedule.once.at"
		zone := cmp.Or(once.TimeZone, polychromev1alpha1.DefaultTimeZone)
		if read, err = schedule.Once(once.At, zone); schedule.IsInvalidZone(err) {
			field = "spec.schedule.once.timeZone"
		}
	default:
		return read, &invalid{polychromev1alpha1.ReasonInvalidSchedule,
			"spec.schedule is empty: write cron, which fires again and again, or once"}
	}
	if err == nil {
		return read, nil
	}
	wrong := &invalid{polychromev1alpha1.ReasonInvalidSchedule, field + ": " + err.Error()}
	switch {
	case schedule.IsInvalidZone(err):
		wrong.reason = polychromev1alpha1.ReasonInvalidTimeZone
	case schedule.IsNeverFires(err):
		wrong.reason = polychromev1alpha1.ReasonNeverFires
	}
	return read, wrong
}

// otherwise is what is wrong with a spec beside its schedule.
func otherwise(spec polychromev1alpha1.RoutineSpec) *invalid {
	switch n := len(spec.Prompt.Text); {
	case strings.TrimSpace(spec.Prompt.Text) == "":
		return &invalid{polychromev1alpha1.ReasonInvalidPrompt, "spec.prompt.text is blank: write what the agent should do"}
	case n > longestPrompt:
		return &invalid{polychromev1alpha1.ReasonInvalidPrompt,
			fmt.Sprintf("spec.prompt.text has %d bytes: write at most %d", n, longestPrompt)}
	}
	switch {
	case spec.Owner == "":
		return &invalid{polychromev1alpha1.ReasonInvalidSpec, "spec.owner is empty: write who the routine runs as"}
	case spec.Scope != "" && spec.Scope != polychromev1alpha1.RoutinePublic && spec.Scope != polychromev1alpha1.RoutinePrivate:
		return &invalid{polychromev1alpha1.ReasonInvalidSpec,
			fmt.Sprintf("spec.scope is %.64q: write %s or %s", spec.Scope, polychromev1alpha1.RoutinePublic, polychromev1alpha1.RoutinePrivate)}
	}
	return nil
}

// shown is an instant in its zone, as a status has it.
func shown(at time.Time) string { return at.Format(time.RFC3339Nano) }
