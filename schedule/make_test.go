package schedule

import (
	"testing"
	"time"
)

func cron(t testing.TB, expression, zone string) Schedule {
	t.Helper()
	s, err := Cron(expression, zone)
	if err != nil {
		t.Fatalf("%s in %s: %v", expression, zone, err)
	}
	return s
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
