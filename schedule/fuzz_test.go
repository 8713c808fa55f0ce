package schedule

import (
	"testing"
	"time"
	"unicode/utf8"
)

// mostSteps bounds what one search looks at.
const mostSteps = 50_000

func FuzzCron(f *testing.F) {
	for _, text := range []string{
		"0 9 * * MON-FRI", "*/15 * * * *", "0 0 29 2 *", "0 0 30 2 *", "@daily", "@every 5m", "TZ=UTC * * * * *", "22-2 * * * *",
		"1,,2 * * * *", "* * * * * *", "0 9 13 * 5", "0 0 31 12 7", "59/5 * * * *", "\x00\xff", "*/5 2 */30 3 0",
	} {
		f.Add(text, "America/New_York", int64(1_772_884_800))
		f.Add(text, "Pacific/Apia", int64(1_325_150_000))
	}
	f.Add("* * * * *", "../etc/passwd", int64(0))
	f.Add("* * * * *", "Antarctica/Troll", int64(-1)<<62)
	f.Fuzz(func(t *testing.T, text, zone string, unix int64) {
		s, err := Cron(text, zone)
		if err != nil {
			if !utf8.ValidString(err.Error()) || len(err.Error()) > 1024 {
				t.Fatalf("a refusal that nobody can read: %q", err)
			}
			return
		}
		if len(s.Cadence()) > 4096 {
			t.Fatalf("a sentence of %d bytes", len(s.Cadence()))
		}
		for after := time.Unix(unix, 0); ; {
			next, steps, ok := s.walk(after)
			if steps > mostSteps {
				t.Fatalf("%d steps after %s", steps, after)
			}
			if again, _, found := s.walk(after); found != ok || !again.Equal(next) {
				t.Fatalf("%s and %s after %s", next, again, after)
			}
			if !ok {
				return
			}
			if !next.After(after) {
				t.Fatalf("%s is not after %s", next, after)
			}
			if next.Sub(after) > time.Hour*24*366*60 || next.Unix() > unix+3600*24*366*100 {
				return
			}
			if sub, _, found := s.walk(next.Add(-time.Second)); !found || !sub.Equal(next) {
				t.Fatalf("a second before %s the next is %s", next, sub)
			}
			after = next
			if next.Unix() > unix+3600*24*3 {
				return
			}
		}
	})
}

func FuzzZone(f *testing.F) {
	for _, name := range []string{"UTC", "utc", "Europe/London", "../etc/passwd", "Local", "", "GMT+8", "+08:00", "posix/UTC", "UTC+05:30"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		z, err := Zone(name)
		switch {
		case err == nil && z.String() != name:
			t.Fatalf("%q is %s", name, z)
		case err != nil && (!IsInvalidZone(err) || !utf8.ValidString(err.Error()) || len(err.Error()) > 1024):
			t.Fatalf("a refusal that nobody can read: %q", err)
		}
	})
}

func FuzzOnce(f *testing.F) {
	for _, text := range []string{"2026-03-08T09:00:00Z", "2026-03-08T09:00:00.123456789+14:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"} {
		f.Add(text, int64(0))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		s, err := Once(text, "Europe/London")
		if err != nil {
			return
		}
		if next, ok := s.Next(time.Unix(unix, 0)); ok && !next.After(time.Unix(unix, 0)) {
			t.Fatalf("%s is not after %d", next, unix)
		}
		if s.Cadence() == "" {
			t.Fatal("no sentence")
		}
	})
}
