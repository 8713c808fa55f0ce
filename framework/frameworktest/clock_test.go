package frameworktest_test

import (
	"testing"
	"time"

	"polychrome.dev/controller/framework/frameworktest"
)

func TestAClockStartsAtRealTimeAndMovesBySteps(t *testing.T) {
	before := time.Now()
	clock := frameworktest.NewClock()
	start := clock.Now()
	if start.Before(before) || start.After(time.Now()) {
		t.Errorf("want the real time, got %s", start)
	}
	timer, ticker := clock.NewTimer(time.Minute), clock.NewTicker(time.Second)
	clock.Step(59 * time.Second)
	select {
	case <-timer.C():
		t.Error("the timer was early")
	default:
	}
	<-ticker.C()
	clock.Step(time.Second)
	<-timer.C()
	if got := clock.Since(start); got != time.Minute {
		t.Errorf("want a minute passed, got %s", got)
	}
	clock.StepTo(start.Add(time.Hour))
	if got := clock.Since(start); got != time.Hour {
		t.Errorf("want an hour passed, got %s", got)
	}
}

func TestAClockNeverGoesBack(t *testing.T) {
	clock := frameworktest.NewClock()
	start := clock.Now()
	clock.StepTo(start.Add(-time.Hour))
	if !clock.Now().Equal(start) {
		t.Errorf("want %s, got %s", start, clock.Now())
	}
	defer func() {
		if recover() == nil {
			t.Error("want a panic on a step back")
		}
	}()
	clock.Step(-time.Second)
}
