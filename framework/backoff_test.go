package framework

import (
	"fmt"
	"testing"
	"time"
)

func TestFirstRetriesAreJitteredAroundTheirBase(t *testing.T) {
	for i, base := range firstRetries {
		low, high := time.Hour, time.Duration(0)
		for range 2000 {
			got := retryDelay("a", i+1)
			low, high = min(low, got), max(high, got)
		}
		if low < base/2 || high >= base*3/2 {
			t.Errorf("failure %d: want within [%s, %s), got [%s, %s]", i+1, base/2, base*3/2, low, high)
		}
		if high-low < base*8/10 {
			t.Errorf("failure %d: want the delays spread over the window, got [%s, %s]", i+1, low, high)
		}
	}
}

func TestSteadyRetryIsTheNamesOwn(t *testing.T) {
	if a, b := retryDelay("x/a", 5), retryDelay("x/a", 500); a != b {
		t.Errorf("want one steady delay for a name, got %s and %s", a, b)
	}
	// 64-bit FNV-1a, inclusive on both ends.
	for name, want := range map[string]time.Duration{"": 57 * time.Second, "a": 20 * time.Second} {
		if got := retryDelay(name, 9); got != want {
			t.Errorf("name %q: want %s, got %s", name, want, got)
		}
	}
}

func TestAFleetThatFailsTogetherSpreadsOut(t *testing.T) {
	seen := map[time.Duration]int{}
	low, high := time.Hour, time.Duration(0)
	for i := range 1000 {
		delay := retryDelay(fmt.Sprintf("fleet/conversation-%d", i), 5)
		seen[delay]++
		low, high = min(low, delay), max(high, delay)
	}
	if low < steadyMin || high > steadyMax {
		t.Errorf("want within [%s, %s], got [%s, %s]", steadyMin, steadyMax, low, high)
	}
	if window := steadyMax - steadyMin; high-low < window*9/10 {
		t.Errorf("want at least 90%% of %s covered, got %s", window, high-low)
	}
	for delay, count := range seen {
		if count > 60 {
			t.Errorf("want no second with more than 60 of 1000 retries, got %d at %s", count, delay)
		}
	}
}

func TestWindowWithMaxBelowMinIsTheMin(t *testing.T) {
	if got := withinWindow("a", 30*time.Second, 10*time.Second); got != 30*time.Second {
		t.Errorf("want 30s, got %s", got)
	}
}

func TestSpreadStaysWithTheObject(t *testing.T) {
	const wait = 5 * time.Minute
	now := time.Unix(1_800_000_000, 0)
	low, high := time.Hour, time.Duration(0)
	for i := range 1000 {
		uid := fmt.Sprintf("uid-%d", i)
		got := spread(now, wait, uid)
		low, high = min(low, got), max(high, got)
		next := now.Add(got)
		for _, restarted := range []time.Duration{time.Second, wait / 3, wait, 7 * wait} {
			again := now.Add(restarted)
			moment := again.Add(spread(again, wait, uid))
			if apart := moment.Sub(next) % wait; apart != 0 {
				t.Fatalf("want the moments of %s whole waits apart, got %s and %s", uid, next, moment)
			}
		}
	}
	if low < wait/2 || high >= wait+wait/2 || high-low < wait*9/10 {
		t.Errorf("want the waits over [%s, %s), got [%s, %s]", wait/2, wait+wait/2, low, high)
	}
	if got := spread(now, 0, "x"); got != 0 {
		t.Errorf("want no wait for none, got %s", got)
	}
}
