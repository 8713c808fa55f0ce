package conversation

import (
	"math"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

func TestWait(t *testing.T) {
	const minute = time.Minute
	long := func(c *polychromev1alpha1.Conversation) { c.Spec.IdleTimeoutSeconds = 315 }
	cases := []struct {
		name       string
		rules      rules
		conv       *polychromev1alpha1.Conversation
		unit       execution.Unit
		want       time.Duration
		wantSpread bool
	}{
		{"after the finalizer", off, bare(), noUnit, time.Second, false},
		{"after making the claim", off, held(), noUnit, 30 * time.Second, true},
		{"while booting", off, recorded(), bootingUnit, 30 * time.Second, true},
		{"while ready", off, healthy(), readyUnit, 5 * minute, true},
		{"ready without an address is not ready", off, healthy(),
			with(readyUnit, func(u *execution.Unit) { u.Address = "" }), 30 * time.Second, true},
		{"after vanishing", off, healthy(), noUnit, time.Second, false},
		{"while going", off, healthy(), goingUnit, 30 * time.Second, true},
		{"until a second after the idle deadline", off, healthy(activeAt(now - 200)), readyUnit, 101 * time.Second, false},
		{"at the boundary one more second", off, healthy(activeAt(now - 300)), readyUnit, time.Second, false},
		{"an idle deadline later than the look waits for it", off, healthy(activeAt(now), long), bootingUnit, 30 * time.Second, true},
		{"an idle deadline just behind the look is met exactly, since a look may be late", off, healthy(activeAt(now), long), readyUnit, 316 * time.Second, false},
		{"until the turn that keeps it open ends", off, healthy(activeAt(0), busyFor(20)), readyUnit, 20 * time.Second, false},
		{"a roll that is due looks again as if it were not", on, healthy(ofGeneration(oldGeneration)), readyUnit, 5 * minute, true},
		{"after closing for idleness", off, healthy(activeAt(0)), readyUnit, 5 * time.Second, false},
		{"after cleaning up", off, shut(), readyUnit, 5 * time.Second, false},
		{"closed, without retention", off, shut(), noUnit, 5 * minute, true},
		{"closed, until a second after the retention", on, shut(closedAt(now - 20)), noUnit, 41 * time.Second, false},
		{"closed, retention far away", rules{retention: math.MaxInt64}, shut(closedAt(now)), noUnit, 5 * minute, true},
		{"deleting conversations have no timer", off, recorded(deletedFor(0)), readyUnit, 0, false},
		{"nor have those held by others", off, recorded(deletedFor(0), func(c *polychromev1alpha1.Conversation) { c.Finalizers = nil }), readyUnit, 0, false},
		{"deleting after retention has none", on, shut(closedAt(0)), noUnit, 0, false},
		{"a stamp at the end of time", off, healthy(activeAt(math.MaxInt64)), readyUnit, 5 * minute, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.rules.readyPoll = 5 * minute
			plan := c.rules.reconciler().Plan(time.Unix(now, 0), c.conv, World{Unit: c.unit})
			if plan.Wait != c.want || plan.Spread != c.wantSpread {
				t.Errorf("want %s (spread %t), got %s (spread %t)", c.want, c.wantSpread, plan.Wait, plan.Spread)
			}
		})
	}
}

func TestSinceDoesNotWrapRound(t *testing.T) {
	cases := []struct{ now, then, want int64 }{
		{10, 4, 6}, {4, 10, -6}, {0, 0, 0}, {5, -5, 10},
		{now, math.MinInt64, math.MaxInt64},
		{math.MinInt64, now, math.MinInt64},
		{math.MaxInt64, -1, math.MaxInt64},
		{-2, math.MaxInt64, math.MinInt64},
		{now, math.MaxInt64, now - math.MaxInt64},
		{math.MinInt64, math.MinInt64, 0},
	}
	for _, c := range cases {
		if got := since(c.now, c.then); got != c.want {
			t.Errorf("since(%d, %d): want %d, got %d", c.now, c.then, c.want, got)
		}
	}
}

func TestLaterDoesNotWrapRound(t *testing.T) {
	cases := []struct{ then, n, want int64 }{
		{1, 2, 3}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64 - 1, 1, math.MaxInt64}, {now, math.MaxInt64, math.MaxInt64}, {-5, 3, -2},
	}
	for _, c := range cases {
		if got := later(c.then, c.n); got != c.want {
			t.Errorf("later(%d, %d): want %d, got %d", c.then, c.n, c.want, got)
		}
	}
}

func TestBusyUntil(t *testing.T) {
	cases := []struct {
		name        string
		annotation  string
		want        int64
		wantProblem bool
	}{
		{"unset", "", 0, false},
		{"in the future", "2027-01-15T08:01:00Z", now + 60, false},
		{"in another zone", "2027-01-15T10:01:00+02:00", now + 60, false},
		{"a part of a second counts as a whole one", "2027-01-15T08:01:00.001Z", now + 61, false},
		{"in the past", "2027-01-15T07:00:00Z", now - 3600, false},
		{"a day ahead", "2027-01-16T08:00:00Z", now + 86_400, false},
		{"more than a day ahead", "2027-01-16T08:00:01Z", 0, true},
		{"in the last year there is", "9999-12-31T23:59:59Z", 0, true},
		{"in the first year there is", "0001-01-01T00:00:00Z", -62135596800, false},
		{"no time", "true", 0, true},
		{"Unix seconds", "1800000060", 0, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, problem := busyUntil(now, bare(annotated(polychromev1alpha1.BusyUntilAnnotation, c.annotation)))
			if got != c.want || (problem != "") != c.wantProblem {
				t.Errorf("want %d (problem %t), got %d (%q)", c.want, c.wantProblem, got, problem)
			}
		})
	}
}
