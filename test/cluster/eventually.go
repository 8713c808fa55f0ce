package cluster

import (
	"testing"
	"time"
)

const pollInterval = 50 * time.Millisecond

// Eventually repeats a check until it returns nil, and fails the test with its last error when it does not within the
// timeout.
func Eventually(t testing.TB, timeout time.Duration, check func() error) {
	t.Helper()
	deadline := time.After(timeout)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("the test ended before this held: %v", err)
		case <-deadline:
			t.Fatalf("still not so after %v: %v", timeout, err)
		case <-tick.C:
		}
	}
}
