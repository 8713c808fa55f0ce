package schedule

import "time"

const (
	minute = 60
	day    = 24 * 60 * minute

	// slack is more than any two zones, or times of one zone, are apart.
	slack = 30 * 60 * minute

	// A zone's clocks change by one rule from lastTable on at the latest, and
	// the calendar repeats after cycle years.
	lastTable = 2040
	cycle     = 400

	// lastYear is the last that can be written.
	lastYear = 9999
)

// walk is a search for the next instant. Times are whole seconds since 1970:
// real ones, and those of the wall clock as if it were in UTC.
type walk struct {
	expression
	zone *time.Location
	// end is the day after the last that is looked at.
	end int64
	// steps counts what was looked at.
	steps int
}

// walk finds the next instant after another, and tells how many steps that
// took.
func (s Schedule) walk(after time.Time) (next time.Time, steps int, ok bool) {
	year := after.UTC().Year()
	if s.zone == nil || year < 1 || year > lastYear {
		return time.Time{}, 0, false
	}
	last := min(max(year, lastTable)+cycle, lastYear)
	w := &walk{expression: s.expression, zone: s.zone, end: firstOf(last+1, time.January)}
	var at int64
	if w.followsRealTime() {
		at, ok = w.nextReal(after.Unix() + 1)
	} else if wall, found := w.matching(w.highest(after.Unix()) + 1); found {
		at, ok = w.first(wall), true
	}
	if !ok {
		return time.Time{}, w.steps, false
	}
	return time.Unix(at, 0).In(s.zone), w.steps, true
}

// nextReal is the first instant, not before another, whose wall time matches.
func (w *walk) nextReal(at int64) (int64, bool) {
	for {
		p := w.period(at)
		wall, ok := w.matching(at + p.offset)
		if !ok {
			return 0, false
		}
		if found := wall - p.offset; found < p.end {
			return found, true
		}
		if p.end < at+slack {
			// The clock may be put back over times that matched before.
			at = p.end
		} else {
			at = max(p.end, wall-slack)
		}
	}
}

// highest is the latest wall time that was seen up to an instant: more than
// that of the instant if the clock was put back shortly before.
func (w *walk) highest(at int64) int64 {
	p := w.period(at)
	top := at + p.offset
	for p.start > at-slack {
		last := p.start - 1
		p = w.period(last)
		top = max(top, last+p.offset)
	}
	return top
}

// first is the first instant at which the wall clock shows a time or a later
// one.
func (w *walk) first(wall int64) int64 {
	at := wall - slack
	for {
		p := w.period(at)
		if found := max(at, wall-p.offset); found < p.end {
			return found
		}
		at = p.end
	}
}

// period is a time without changes of the clock: from start until before end.
type period struct {
	start, end int64
	offset     int64
}

const (
	always  = int64(-1) << 62
	forever = int64(1) << 62
)

// period is the one that an instant is in.
func (w *walk) period(at int64) period {
	w.steps++
	moment := time.Unix(at, 0).In(w.zone)
	_, offset := moment.Zone()
	p := period{start: always, end: forever, offset: int64(offset)}
	start, end := moment.ZoneBounds()
	if !start.IsZero() {
		p.start = start.Unix()
	}
	if !end.IsZero() {
		p.end = end.Unix()
	}
	return p
}

// matching is the first wall time, not before another, that matches.
func (w *walk) matching(wall int64) (int64, bool) {
	minutes := floorDiv(wall+minute-1, minute)
	today := floorDiv(minutes, day/minute)
	begin := int(minutes - today*(day/minute))
	for today < w.end {
		w.steps++
		year, month, date := time.Unix(today*day, 0).UTC().Date()
		switch {
		case !w.month.has(int(month)):
			today = firstOf(year, month+1)
		default:
			if w.day(date, weekday(today)) {
				if found, ok := w.timeOfDay(begin); ok {
					return today*day + int64(found)*minute, true
				}
			}
			today++
		}
		begin = 0
	}
	return 0, false
}

// firstOf is the first day of a month, as a number since 1970.
func firstOf(year int, month time.Month) int64 {
	return floorDiv(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix(), day)
}

// weekday of a day; the first of 1970 was a Thursday.
func weekday(today int64) time.Weekday {
	return time.Weekday((today%7 + 7 + int64(time.Thursday)) % 7)
}

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}
