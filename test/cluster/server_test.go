package cluster

import (
	"testing"
	"time"
)

func TestTheProcessEndsWithItsStarter(t *testing.T) {
	t.Parallel()
	c := Start(t, Options{APIOnly: true})
	// What the kernel does when the test binary is killed.
	if err := c.server.lifeline.Close(); err != nil {
		t.Fatalf("closing the lifeline: %v", err)
	}
	select {
	case <-c.server.ended:
	case <-time.After(10 * time.Second):
		t.Error("the control plane is still running")
	}
}
