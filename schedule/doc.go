// Package schedule tells when something fires: at the times of a cron
// expression in a time zone, or once. It needs the standard library alone, no
// cluster and no time zone files of the system.
//
//	s, err := schedule.Cron("0 9 * * MON-FRI", "Europe/London")
//	next, ok := s.Next(time.Now())
//	s.Cadence() // every weekday at 09:00 Europe/London
//
// # Expressions
//
// Five fields: minute 0-59, hour 0-23, day of the month 1-31, month 1-12 or
// JAN-DEC, day of the week 0-7 or SUN-SAT, where 0 and 7 are Sunday. A field is
// a list of items with commas between them; an item is a *, a value, a range
// 1-5, each with a step behind it or not: */15, 8-18/2, 10/20, which goes on to
// the end of the field. Names may be written in any case. @hourly, @daily,
// @midnight, @weekly, @monthly, @yearly and @annually stand for what they say.
// Whatever is refused is refused with what to write instead.
//
// Where both days are restricted, a day that matches either is one. A field that
// begins with * does not restrict: then a day has to match both.
//
// # Wall time and real time
//
// A schedule whose hours and minutes are values and ranges names times of the
// wall clock. Each such time fires once, when the clock first shows it or, where
// clocks are put forward over it, a later one: at the first instant after the
// gap. Times that are put back over and come twice fire the first time.
//
// A schedule with a * or a step among its hours or minutes follows real time:
// it fires at each instant whose wall time matches, twice in a repeated hour and
// not at all in one that is left out.
//
// # Zones
//
// A zone is a name of the IANA database, in its own spelling. The database is
// part of the package, a copy of the one that the Go toolchain brings, and the
// only one that is asked: what a machine has installed, or ZONEINFO names, does
// not change when anything fires, and two programs with the same version of this
// package never disagree.
//
// # What it never does
//
// It reads no clock and no file, and it never searches without end: the calendar
// repeats after 400 years, and what does not fire within them never does.
package schedule
