package probe

import (
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cases := map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"1":                             time.Second,
		"120":                           2 * time.Minute,
		"86400":                         24 * time.Hour,
		"86401":                         24 * time.Hour,
		"4294967295":                    24 * time.Hour,
		"99999999999999999999999":       0,
		"-1":                            0,
		"1.5":                           0,
		"soon":                          0,
		"Sun, 01 Mar 2026 12:01:00 GMT": time.Minute,
		"Sun, 01 Mar 2026 11:00:00 GMT": 0,
		"Sat, 01 Mar 2036 12:01:00 GMT": 24 * time.Hour,
	}
	for value, want := range cases {
		if got := retryAfter(value, now); got != want {
			t.Errorf("retryAfter(%q) = %s, want %s", value, got, want)
		}
	}
}
