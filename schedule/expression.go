package schedule

import (
	"strings"
	"time"
)

// longest is how long an expression may be, in bytes.
const longest = 128

// expression is a parsed one.
type expression struct {
	minute, hour, dayOfMonth, month, dayOfWeek field
}

// shorthands stand for expressions.
var shorthands = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

func parse(text string) (expression, error) {
	if len(text) > longest {
		return expression{}, refuse(partExpression, "the expression has %d bytes: write at most %d", len(text), longest)
	}
	full, err := expand(text)
	if err != nil {
		return expression{}, err
	}
	words := strings.FieldsFunc(full, func(r rune) bool { return r == ' ' || r == '\t' })
	if err := five(words); err != nil {
		return expression{}, err
	}
	var e expression
	for i, into := range []*field{&e.minute, &e.hour, &e.dayOfMonth, &e.month, &e.dayOfWeek} {
		if *into, err = ranges[i].parse(words[i]); err != nil {
			return expression{}, err
		}
	}
	// 7 is Sunday too.
	if e.dayOfWeek.has(7) {
		e.dayOfWeek.values = e.dayOfWeek.values&^(1<<7) | 1
	}
	if !e.possible() {
		return expression{}, refuse(partNever, "no month that is named has such a day, so it never fires: write another day, or other months")
	}
	return e, nil
}

// expand puts the five fields in the place of a shorthand, and refuses what
// other programs put before them.
func expand(text string) (string, error) {
	trimmed := strings.Trim(text, " \t")
	word, _, _ := strings.Cut(trimmed, " ")
	switch lower := strings.ToLower(trimmed); {
	case trimmed == "":
		return "", refuse(partExpression, "the expression is empty: write five fields, such as 0 9 * * MON-FRI")
	case shorthands[lower] != "":
		return shorthands[lower], nil
	case strings.HasPrefix(lower, "@every"):
		return "", refuse(partExpression, "@every counts from a start that nothing records: write steps, such as */15 * * * * for every 15 minutes")
	case strings.HasPrefix(lower, "@reboot"):
		return "", refuse(partExpression, "@reboot is no time: write five fields, such as 0 9 * * *")
	case trimmed[0] == '@':
		return "", refuse(partExpression, "there is no %s: write five fields, or one of @hourly, @daily, @weekly, @monthly and @yearly", quoted(word))
	case strings.HasPrefix(lower, "tz=") || strings.HasPrefix(lower, "cron_tz="):
		return "", refuse(partExpression, "%s does not belong into the expression: write the zone into timeZone, and the five fields alone here", quoted(word))
	}
	return trimmed, nil
}

func five(words []string) error {
	switch n := len(words); {
	case n == 5:
		return nil
	case n == 6:
		return refuse(partExpression,
			"the expression has six fields: leave out the seconds or the year and write five, minute, hour, day of the month, month and day of the week, such as 0 9 * * MON-FRI")
	default:
		return refuse(partExpression,
			"the expression has %d fields: write five, minute, hour, day of the month, month and day of the week, such as 0 9 * * MON-FRI", n)
	}
}

// daysIn are the days of the longest a month gets.
var daysIn = [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// possible reports whether any day matches. All pairs of a date and a day of
// the week come within 400 years.
func (e expression) possible() bool {
	if e.eitherDay() {
		return true
	}
	first, _ := e.dayOfMonth.from(1)
	for month, days := range daysIn {
		if e.month.has(month+1) && first <= days {
			return true
		}
	}
	return false
}

// eitherDay reports whether a day need only match one of its two fields.
func (e expression) eitherDay() bool { return !e.dayOfMonth.star && !e.dayOfWeek.star }

// day reports whether the expression has the day of a date.
func (e expression) day(dayOfMonth int, dayOfWeek time.Weekday) bool {
	byDate, byWeek := e.dayOfMonth.has(dayOfMonth), e.dayOfWeek.has(int(dayOfWeek))
	if e.eitherDay() {
		return byDate || byWeek
	}
	return byDate && byWeek
}

// timeOfDay is the first minute of a day, not before another, that the expression
// has.
func (e expression) timeOfDay(minute int) (int, bool) {
	for hour := minute / 60; hour < 24; hour++ {
		if e.hour.has(hour) {
			if within, ok := e.minute.from(minute % 60); ok {
				return hour*60 + within, true
			}
		}
		minute = 0
	}
	return 0, false
}

// followsRealTime tells a schedule that fires whenever the wall clock shows a
// time from one that fires once for each time.
func (e expression) followsRealTime() bool {
	return e.minute.star || e.minute.step || e.hour.star || e.hour.step
}
