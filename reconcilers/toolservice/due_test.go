package toolservice

import (
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestDueAfterAProbe(t *testing.T) {
	const (
		connection = polychromev1alpha1.ReasonConnectionRefused
		ok         = polychromev1alpha1.ReasonCatalogListed
	)
	asks := func(last *Outcome, d time.Duration) *Outcome {
		last.RetryAfter = d
		return last
	}
	cases := map[string]struct {
		ts            *polychromev1alpha1.ToolService
		last          *Outcome
		atLeast, most time.Duration
	}{
		"healthy":                             {told(ok), listed(), 54 * time.Second, 66 * time.Second},
		"healthy, with an interval":           {told(ok, every(600)), listed(), 540 * time.Second, 660 * time.Second},
		"an interval below what is allowed":   {told(ok, every(1)), listed(), 9 * time.Second, 11 * time.Second},
		"no interval at all":                  {told(ok, every(0)), listed(), 54 * time.Second, 66 * time.Second},
		"the first failure":                   {told(ok), failed(connection, 1), 5 * time.Second, 6 * time.Second},
		"the second":                          {told(ok), failed(connection, 2), 10 * time.Second, 12 * time.Second},
		"the third":                           {told(ok), failed(connection, 3), 20 * time.Second, 24 * time.Second},
		"the fourth":                          {told(ok), failed(connection, 4), 40 * time.Second, 48 * time.Second},
		"the fifth":                           {told(ok), failed(connection, 5), 80 * time.Second, 96 * time.Second},
		"the sixth":                           {told(ok), failed(connection, 6), 100 * time.Second, 2 * time.Minute},
		"the millionth":                       {told(ok), failed(connection, 1_000_000), 100 * time.Second, 2 * time.Minute},
		"nobody was asked":                    {told(ok), &Outcome{Ask: Ask{Generation: 1}, At: now, Tries: 3}, 20 * time.Second, 24 * time.Second},
		"401 is no failure to hurry":          {told(ok), failed(polychromev1alpha1.ReasonAuthRequired, 1), 54 * time.Second, 66 * time.Second},
		"nor is 403":                          {told(ok), failed(polychromev1alpha1.ReasonForbidden, 7), 54 * time.Second, 66 * time.Second},
		"nor a Secret of the wrong type":      {told(ok), failed(polychromev1alpha1.ReasonReservedSecret, 2), 54 * time.Second, 66 * time.Second},
		"a missing Secret is":                 {told(ok), failed(polychromev1alpha1.ReasonSecretNotFound, 1), 5 * time.Second, 6 * time.Second},
		"the server asks for more":            {told(ok), asks(failed(polychromev1alpha1.ReasonRateLimited, 1), 5*time.Minute), 5 * time.Minute, 6 * time.Minute},
		"the server asks for less":            {told(ok), asks(failed(polychromev1alpha1.ReasonRateLimited, 4), time.Second), 40 * time.Second, 48 * time.Second},
		"the server asks for ever":            {told(ok), asks(failed(polychromev1alpha1.ReasonRateLimited, 1), 1<<62), time.Hour, 72 * time.Minute},
		"the server asks for the past":        {told(ok), asks(failed(polychromev1alpha1.ReasonRateLimited, 1), -time.Hour), 5 * time.Second, 6 * time.Second},
		"the server asks while it refuses us": {told(ok), asks(failed(polychromev1alpha1.ReasonAuthRequired, 1), 10*time.Minute), 10 * time.Minute, 10 * time.Minute},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			seen := map[time.Duration]bool{}
			for _, uid := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				named(uid)(test.ts)
				wait := due(now, test.ts, after(test.last)).Sub(now)
				if wait < test.atLeast || wait > test.most {
					t.Errorf("want between %s and %s, got %s", test.atLeast, test.most, wait)
				}
				if again := due(now.Add(time.Second), test.ts, after(test.last)).Sub(now); again != wait {
					t.Errorf("the moment has moved from %s to %s", wait, again)
				}
				seen[wait] = true
			}
			if test.most > test.atLeast && len(seen) < 4 {
				t.Errorf("want moments that differ, got %v", seen)
			}
		})
	}
}

func TestTheJitterOfAnObjectDiffersFromProbeToProbe(t *testing.T) {
	seen := map[time.Duration]bool{}
	for count := range 20 {
		last := listed()
		last.Count = count
		seen[pace(told(polychromev1alpha1.ReasonCatalogListed), last)] = true
	}
	if len(seen) < 15 {
		t.Errorf("want 20 waits that differ, got %d", len(seen))
	}
}

func TestARestartSpreadsOverTheInterval(t *testing.T) {
	cases := map[string]struct {
		reason  polychromev1alpha1.Reason
		seconds int32
		window  time.Duration
	}{
		"ready":                       {polychromev1alpha1.ReasonCatalogListed, 300, 5 * time.Minute},
		"not ready":                   {polychromev1alpha1.ReasonTimeout, 20, 20 * time.Second},
		"not ready, looked at seldom": {polychromev1alpha1.ReasonTimeout, 86_400, 2 * time.Minute},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			const fleet, parts = 1000, 10
			var met [parts]int
			for i := range fleet {
				ts := told(test.reason, every(test.seconds), named(nth(i)))
				wait := due(now, ts, Memory{Since: now, First: askOf(ts)}).Sub(now)
				if wait < 0 || wait > test.window {
					t.Fatalf("want at most %s, got %s", test.window, wait)
				}
				met[min(int(wait*parts/test.window), parts-1)]++
			}
			for _, n := range met {
				if n < fleet/parts/2 || n > fleet/parts*2 {
					t.Errorf("want a tenth in each tenth of the interval, got %v", met)
				}
			}
		})
	}
}

func TestTimeoutOf(t *testing.T) {
	for seconds, want := range map[int32]time.Duration{0: 10 * time.Second, -1: 10 * time.Second, 7: 7 * time.Second, 600: time.Minute} {
		ts := bare(func(ts *polychromev1alpha1.ToolService) {
			ts.Spec.Probe = &polychromev1alpha1.ToolServiceProbe{TimeoutSeconds: seconds}
		})
		if got := timeoutOf(ts); got != want {
			t.Errorf("%d: want %s, got %s", seconds, want, got)
		}
	}
	if got := timeoutOf(bare()); got != 10*time.Second {
		t.Errorf("unset: got %s", got)
	}
}
