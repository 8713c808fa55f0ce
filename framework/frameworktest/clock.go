package frameworktest

import (
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// Clock is a clock that stands until it is stepped. It starts at the real
// time, because a real API server stamps times too and a program compares
// the two, and it only ever moves forward. It is safe for concurrent use.
type Clock struct {
	fake *clocktesting.FakeClock
}

var _ clock.WithTicker = (*Clock)(nil)

// NewClock makes a clock that stands at the real time of now.
func NewClock() *Clock {
	return &Clock{fake: clocktesting.NewFakeClock(time.Now())}
}

// Step moves the clock forward and wakes who waits for it. It panics on a
// step back.
func (c *Clock) Step(d time.Duration) {
	if d < 0 {
		panic("frameworktest: a clock steps forward only")
	}
	c.fake.Step(d)
}

// StepTo moves the clock to a time, unless it is there already: to the age of
// an object, for instance, that the API server has stamped.
func (c *Clock) StepTo(t time.Time) {
	if d := t.Sub(c.fake.Now()); d > 0 {
		c.fake.Step(d)
	}
}

// Now implements clock.PassiveClock.
func (c *Clock) Now() time.Time { return c.fake.Now() }

// Since implements clock.PassiveClock.
func (c *Clock) Since(t time.Time) time.Duration { return c.fake.Since(t) }

// After implements clock.Clock.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.fake.After(d) }

// NewTimer implements clock.Clock.
func (c *Clock) NewTimer(d time.Duration) clock.Timer { return c.fake.NewTimer(d) }

// NewTicker implements clock.WithTicker.
func (c *Clock) NewTicker(d time.Duration) clock.Ticker { return c.fake.NewTicker(d) }

// Sleep implements clock.Clock: it steps the clock.
func (c *Clock) Sleep(d time.Duration) { c.Step(d) }

// Tick implements clock.Clock.
func (c *Clock) Tick(d time.Duration) <-chan time.Time { return c.fake.Tick(d) }
