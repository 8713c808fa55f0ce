package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Cadence is the schedule as a sentence for people, such as "every weekday at
// 09:00 Europe/London". It names all times, so that schedules that read the
// same differ at most in an hour in which clocks are changed.
func (s Schedule) Cadence() string {
	switch {
	case !s.at.IsZero():
		return "once on " + s.at.Format("2006-01-02 at 15:04"+seconds(s.at)) + " " + s.zone.String()
	case s.zone == nil:
		return "never"
	}
	e := s.expression
	days := e.days()
	if times, few := e.times(); few {
		if days == "" {
			days = "every day"
		}
		return days + e.months() + " at " + times + " " + s.zone.String()
	}
	phrases := []string{e.rhythm()}
	if months := e.months(); days != "" {
		phrases = append(phrases, days+months)
	} else if months != "" {
		phrases = append(phrases, "every day"+months)
	}
	return strings.Join(append(phrases, s.zone.String()), ", ")
}

// seconds is the layout of what an instant has below the minute.
func seconds(at time.Time) string {
	switch {
	case at.Nanosecond() != 0:
		return ":05.999999999"
	case at.Second() != 0:
		return ":05"
	}
	return ""
}

// fewTimes is how many times of a day are listed.
const fewTimes = 6

// times are the times of a day, if they are few and named one by one.
func (e expression) times() (string, bool) {
	if e.followsRealTime() || e.hour.count()*e.minute.count() > fewTimes {
		return "", false
	}
	var all []string
	for at, ok := e.timeOfDay(0); ok; at, ok = e.timeOfDay(at + 1) {
		all = append(all, fmt.Sprintf("%02d:%02d", at/60, at%60))
	}
	return and(all), true
}

// rhythm says how often within a day.
func (e expression) rhythm() string {
	if distance, even := e.minute.every(0, 60); even && distance < 60 {
		return e.steady(distance)
	}
	if hourly := e.hourly(); hourly != "" {
		return hourly
	}
	text := "at " + plural("minute", e.minute, strconv.Itoa)
	if e.hour.count() == 24 {
		return text + " of every hour"
	}
	return text + " of " + plural("hour", e.hour, strconv.Itoa)
}

// steady is the rhythm of minutes that are the same distance apart.
func (e expression) steady(distance int) string {
	text := "every minute"
	if distance > 1 {
		text = fmt.Sprintf("every %d minutes", distance)
	}
	switch {
	case e.hour.count() == 24:
		return text
	case e.hour.unbroken():
		return text + e.stretch()
	}
	return text + " of " + plural("hour", e.hour, strconv.Itoa)
}

// hourly is the rhythm of one minute of many hours; nothing if it has none.
func (e expression) hourly() string {
	if e.minute.count() > 1 {
		return ""
	}
	minute, _ := e.minute.from(0)
	distance, even := e.hour.every(0, 24)
	switch {
	case e.hour.count() == 24 && minute == 0:
		return "every hour"
	case e.hour.count() == 24:
		return fmt.Sprintf("every hour at minute %d", minute)
	case e.hour.unbroken():
		return "every hour" + e.stretch()
	case even && minute == 0:
		return fmt.Sprintf("every %d hours", distance)
	}
	return ""
}

// stretch is from the first time of a day to the last.
func (e expression) stretch() string {
	hour, _ := e.hour.from(0)
	minute, _ := e.minute.from(0)
	return fmt.Sprintf(" from %02d:%02d to %02d:%02d", hour, minute, e.hour.last(), e.minute.last())
}

// days are the days on which it fires; nothing for all of them.
func (e expression) days() string {
	dates, week := "", ""
	if e.dayOfMonth.count() < 31 {
		dates = "on " + plural("day", e.dayOfMonth, strconv.Itoa) + " of the month"
	}
	if e.dayOfWeek.count() < 7 {
		week = e.week()
	}
	switch {
	case e.eitherDay() && (dates == "" || week == ""):
		return ""
	case dates == "" && week == "":
		return ""
	case dates == "":
		return "every " + week
	case week == "":
		return dates
	case e.eitherDay():
		return dates + " and every " + week
	}
	return dates + " if that is a " + strings.ReplaceAll(week, " and ", " or ")
}

const (
	weekdays = 1<<time.Monday | 1<<time.Tuesday | 1<<time.Wednesday | 1<<time.Thursday | 1<<time.Friday
	weekend  = 1<<time.Saturday | 1<<time.Sunday
)

// week names the days of the week, Sunday last.
func (e expression) week() string {
	switch e.dayOfWeek.values {
	case weekdays:
		return "weekday"
	case weekend:
		return "Saturday and Sunday"
	}
	fromMonday := field{values: e.dayOfWeek.values>>1 | e.dayOfWeek.values&1<<6}
	return and(fromMonday.runs(func(day int) string { return time.Weekday((day + 1) % 7).String() }))
}

// months restricts the days; nothing for all months.
func (e expression) months() string {
	if e.month.count() == 12 {
		return ""
	}
	return " in " + and(e.month.runs(func(month int) string { return time.Month(month).String() }))
}

func (f field) count() int { return bits.OnesCount64(f.values) }

// unbroken reports whether no value is left out between the first and the last.
func (f field) unbroken() bool {
	first, ok := f.from(0)
	return ok && f.last()-first+1 == f.count()
}

// last is the highest value.
func (f field) last() int { return bits.Len64(f.values) - 1 }

// every is the distance of values that begin at the first and are the same
// distance apart, also from the last to the first of the next time round.
func (f field) every(first, size int) (int, bool) {
	n := f.count()
	if n == 0 || size%n != 0 {
		return 0, false
	}
	step := size / n
	for value := first; value < first+size; value += step {
		if !f.has(value) {
			return 0, false
		}
	}
	return step, true
}

// runs are the values, with three or more in a row as a range.
func (f field) runs(name func(int) string) []string {
	var all []string
	for low, ok := f.from(0); ok; {
		high := low
		for f.has(high + 1) {
			high++
		}
		switch {
		case high-low >= 2:
			all = append(all, name(low)+" to "+name(high))
		case high > low:
			all = append(all, name(low), name(high))
		default:
			all = append(all, name(low))
		}
		low, ok = f.from(high + 1)
	}
	return all
}

// plural names one or several values.
func plural(noun string, f field, name func(int) string) string {
	if f.count() > 1 {
		noun += "s"
	}
	return noun + " " + and(f.runs(name))
}

func and(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}
