package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// upcoming are the next instants, in UTC.
func upcoming(s Schedule, after time.Time, n int) []string {
	var all []string
	for _, next := range s.Upcoming(after, n) {
		all = append(all, next.UTC().Format(time.RFC3339))
	}
	return all
}

func TestNext(t *testing.T) {
	tests := map[string]struct {
		expression, zone, after string
		want                    []string
	}{
		"a gap moves a fixed time to the first instant after it": {
			"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z",
			[]string{"2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"},
		},
		"a day without midnight": {
			"0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z",
			[]string{"2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"},
		},
		"another day without midnight": {
			"0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z",
			[]string{"2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
		},
		"a repeated hour fires a fixed time once, the first": {
			"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"},
		},
		"from within the repeated hour a fixed time is over": {
			"30 1 * * *", "America/New_York", "2026-11-01T06:10:00Z",
			[]string{"2026-11-02T06:30:00Z"},
		},
		"a repeated hour fires steps twice": {
			"*/30 1 * * *", "America/New_York", "2026-11-01T04:59:00Z",
			[]string{"2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z", "2026-11-02T06:00:00Z"},
		},
		"a step without a * follows real time too": {
			"0-30/30 1 * * *", "America/New_York", "2026-11-01T04:59:00Z",
			[]string{"2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z"},
		},
		"ranges and lists do not": {
			"0,30 1-1 * * *", "America/New_York", "2026-11-01T04:59:00Z",
			[]string{"2026-11-01T05:00:00Z", "2026-11-01T05:30:00Z", "2026-11-02T06:00:00Z"},
		},
		"the second of the repeated hours counts though the next match is far": {
			"*/30 1 1 11 *", "America/New_York", "2026-11-01T05:30:00Z",
			[]string{"2026-11-01T06:00:00Z", "2026-11-01T06:30:00Z", "2027-11-01T05:00:00Z"},
		},
		"a gap leaves steps out": {
			"*/30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z",
			[]string{"2026-03-09T06:00:00Z", "2026-03-09T06:30:00Z"},
		},
		"an hourly one goes through a gap": {
			"15 * * * *", "America/New_York", "2026-03-08T06:00:00Z",
			[]string{"2026-03-08T06:15:00Z", "2026-03-08T07:15:00Z"},
		},
		"all fixed times in a gap are one fire": {
			"0,15,45 2 * * *", "America/New_York", "2026-03-08T06:00:00Z",
			[]string{"2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z"},
		},
		"leap days across a century without one": {
			"0 0 29 2 *", "UTC", "2097-01-01T00:00:00Z",
			[]string{"2104-02-29T00:00:00Z", "2108-02-29T00:00:00Z"},
		},
		"either day": {
			"0 9 13 * 5", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-02T09:00:00Z", "2026-01-09T09:00:00Z", "2026-01-13T09:00:00Z"},
		},
		"a field that begins with * does not restrict": {
			"0 9 */2 * 5", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-09T09:00:00Z", "2026-01-23T09:00:00Z"},
		},
		"a gap of half an hour": {
			"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z",
			[]string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"},
		},
		"a day that a country left out": {
			"0 9 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z",
			[]string{"2011-12-29T19:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T19:00:00Z"},
		},
		"steps on a day that a country left out": {
			"0 */12 * * *", "Pacific/Apia", "2011-12-29T23:00:00Z",
			[]string{"2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"},
		},
		"7 is Sunday, as 0 is": {
			"0 0 * * 7", "UTC", "2026-01-01T00:00:00Z", []string{"2026-01-04T00:00:00Z"},
		},
		"fractions of a second count as after": {
			"* * * * *", "UTC", "2026-01-01T00:00:00.000000001Z", []string{"2026-01-01T00:01:00Z"},
		},
		"strictly after": {
			"* * * * *", "UTC", "2026-01-01T00:00:00Z", []string{"2026-01-01T00:01:00Z"},
		},
		"long before 1970": {
			"0 12 * * *", "UTC", "1899-12-31T12:00:00Z", []string{"1900-01-01T12:00:00Z"},
		},
		"the end of the calendar": {
			"0 0 1 1 *", "America/New_York", "9998-06-01T00:00:00Z", []string{"9999-01-01T05:00:00Z"},
		},
		"a leap day on a day of the week": {
			"0 0 29 2 */6", "UTC", "2026-01-01T00:00:00Z", []string{"2032-02-29T00:00:00Z", "2048-02-29T00:00:00Z"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := cron(t, tt.expression, tt.zone)
			if diff := cmp.Diff(tt.want, upcoming(s, at(t, tt.after), max(len(tt.want), 1))); diff != "" {
				t.Errorf("next instants (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingComesAfterTheLastYear(t *testing.T) {
	for _, zone := range []string{UTC, "America/New_York", "Pacific/Apia"} {
		for _, after := range []string{"9999-12-31T23:59:59Z", "9999-12-31T10:00:00Z", "9999-12-31T23:59:59-12:00"} {
			if next, ok := cron(t, "0 0 * * *", zone).Next(at(t, after)); ok && next.Year() > 9999 {
				t.Errorf("in %s after %s: %s", zone, after, next)
			}
		}
	}
	if next, ok := cron(t, "@yearly", UTC).Next(at(t, "9999-01-01T00:00:00Z")); ok {
		t.Errorf("it fires again at %s", next)
	}
}

func TestNextIsInItsZone(t *testing.T) {
	next, ok := cron(t, "0 9 * * *", "Asia/Kolkata").Next(at(t, "2026-01-01T00:00:00Z"))
	if got := next.Format(time.RFC3339); !ok || got != "2026-01-01T09:00:00+05:30" {
		t.Errorf("want 09:00 with the offset of the zone, got %s", got)
	}
}

func TestOnce(t *testing.T) {
	s, err := Once("2026-03-08T09:00:00Z", "Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[string]bool{
		"2026-03-08T08:59:59Z": true, "2026-03-08T09:00:00Z": false, "2036-01-01T00:00:00Z": false,
	} {
		next, ok := s.Next(at(t, after))
		if ok != want || ok && next.Format(time.RFC3339) != "2026-03-08T10:00:00+01:00" {
			t.Errorf("after %s: want %t, got %s, %t", after, want, next, ok)
		}
	}
	if got := len(s.Upcoming(at(t, "2026-01-01T00:00:00Z"), 5)); got != 1 {
		t.Errorf("one instant comes %d times", got)
	}
}

func TestTheZeroScheduleNeverFires(t *testing.T) {
	if _, ok := (Schedule{}).Next(time.Unix(0, 0)); ok {
		t.Error("it fires")
	}
}

// Nothing that fired before counts, so that a clock that goes wrong costs
// nothing but the wrong time.
func TestTheClockGoesBackAnHourOrForwardAYear(t *testing.T) {
	s, now := cron(t, "*/20 * * * *", "UTC"), at(t, "2026-05-05T12:30:00Z")
	for clock, want := range map[time.Duration]string{
		0: "2026-05-05T12:40:00Z", -time.Hour: "2026-05-05T11:40:00Z", 365 * 24 * time.Hour: "2027-05-05T12:40:00Z",
	} {
		if got := upcoming(s, now.Add(clock), 1); got[0] != want {
			t.Errorf("the clock off by %s: want %s, got %s", clock, want, got[0])
		}
	}
}

// A zone whose clocks leave out the only hour of a schedule, every year, is
// searched to the end, which comes soon.
func TestWhatIsLostInEveryGapNeverFires(t *testing.T) {
	s := cron(t, "*/5 2 31 3 *", UTC)
	s.zone = yearly(t)
	before := time.Date(2030, 3, 31, 1, 59, 59, 0, s.zone)
	if got := before.Add(time.Second).Format("15:04"); got != "03:00" {
		t.Fatalf("a second after %s it is %s", before, got)
	}
	for _, after := range []string{"1972-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "2030-03-31T02:00:00Z", "9000-01-01T00:00:00Z"} {
		if next, steps, ok := s.walk(at(t, after)); ok || steps > mostSteps {
			t.Errorf("after %s it fires at %s, found with %d steps", after, next, steps)
		}
	}
}

// yearly is a zone that leaves out 02:00 to 03:00 on each 31 March.
func yearly(t *testing.T) *time.Location {
	t.Helper()
	const reserved = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	data := "TZif2" + reserved + header(0) + "TZif2" + reserved + header(1) +
		"\x00\x00\x00\x00\x00\x00XST\x00" + "\nXST0XDT,J90/2,J280/2\n"
	z, err := time.LoadLocationFromTZData("Yearly", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// header is the counts of a TZif file with that many kinds of local time.
func header(kinds byte) string {
	chars := kinds * 4
	return string([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, kinds, 0, 0, 0, chars})
}

func BenchmarkNext(b *testing.B) {
	for name, expression := range map[string]string{
		"every minute": "* * * * *", "fixed": "30 2 * * *", "leap day": "0 0 29 2 *",
	} {
		b.Run(name, func(b *testing.B) {
			s, now := cron(b, expression, "America/New_York"), time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)
			b.ReportAllocs()
			for b.Loop() {
				s.Next(now)
			}
		})
	}
}
