package frameworktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"polychrome.dev/controller/framework"
)

// Crash describes a journey that shall end the same wherever the program is
// killed on the way. See the package documentation for an example.
type Crash struct {
	// Config is an administrator's access to a real API server. Required.
	Config *rest.Config
	// Scenario makes the journey of one run, in a namespace of its own. It is
	// called from several goroutines. Required.
	Scenario func(Run) (Scenario, error)
	// Invariants must hold over the writes of every run.
	Invariants []Invariant
	// Network, if not nil, is told of the connection of each life before it
	// begins: it may have watches lag, or let other faults happen.
	Network func(*Transport)
	// Points are where the program is hit. Default all four.
	Points []Point
	// Parallel is how many runs go on at once. Default 8.
	Parallel int
	// Patience bounds how long a run may take to become quiet after a step.
	// Default 30 s.
	Patience time.Duration
	// Allowance is how many writes more than undisturbed a run may make, in
	// all and to each object, because of the one time it was hit. Default 2.
	Allowance int
	// Log takes the progress. Nil takes none.
	Log func(format string, args ...any)
}

// Run is what a Scenario is made for.
type Run struct {
	// Name tells the run from others.
	Name string
	// Namespace is the run's own. It is deleted afterwards.
	Namespace string
	// Config is the user's access, which no fault touches.
	Config *rest.Config
	// Live is a client of that access.
	Live dynamic.Interface
	// Clock is the program's time, in all its lives.
	Clock *Clock
}

// Scenario is a program and what a user does to it.
type Scenario struct {
	// Start makes the program of one life and does not run it: everything
	// anew, on this configuration and clock, as its main would. Required.
	Start func(config *rest.Config, clock clock.WithTicker) (*framework.Manager, error)
	// Steps are what the user does, one after another. The program runs to
	// quiescence before the first and after each.
	Steps []Step
	// State renders what is left at the end, without what differs from run to
	// run; see Run.State. Required.
	State func(context.Context) (string, error)
}

// Step is one thing that a user does. The program may be killed meanwhile and
// is started again at once, so that a step may wait for what the program does.
type Step struct {
	// Name tells the step in errors.
	Name string
	// Do does it. It may step the clock.
	Do func(context.Context) error
}

// Report is what the runs came to.
type Report struct {
	// Runs is how many there were, Writes how many writes an undisturbed one
	// makes.
	Runs, Writes int
	// Failures are in the order of the writes.
	Failures []Failure
}

// Failure is one thing that was wrong with a run.
type Failure struct {
	// Write is the number of the write at which the program was hit, from 1;
	// 0 in an undisturbed run. Point is where.
	Write int
	Point Point
	// Request is that write. Zero if the run never came to it.
	Request Request
	// What is wrong, in a sentence.
	What string
	// Diff is how the end differs from the undisturbed one (-want +got).
	// Empty if something else is wrong.
	Diff string
}

// String is a failure as people read it.
func (f Failure) String() string {
	text := plan{write: f.Write, point: f.Point}.String()
	if f.Request.Verb != "" {
		text += fmt.Sprintf(" (%s %s %s)", f.Request.Verb, f.Request.Resource, f.Request.Name)
	}
	text += ": " + f.What
	if f.Diff != "" {
		text += " (-want +got):\n" + f.Diff
	}
	return text
}

// CrashEverywhere fails a test if a journey does not end the same wherever
// the program is killed. It returns what the runs came to.
func CrashEverywhere(t testing.TB, c Crash) Report {
	t.Helper()
	if c.Log == nil {
		c.Log = t.Logf
	}
	report, err := c.Everywhere(t.Context())
	if err != nil {
		t.Fatalf("crashing everywhere: %v", err)
	}
	for _, failure := range report.Failures {
		t.Error(failure)
	}
	return report
}

// Everywhere runs the journey twice undisturbed and counts the program's
// writes, then once for each write and point. The error says that there was
// nothing to compare with.
func (c Crash) Everywhere(ctx context.Context) (Report, error) {
	s, err := newStage(c)
	if err != nil {
		return Report{}, err
	}
	started := time.Now()
	want, err := s.undisturbed(ctx)
	if err != nil {
		return Report{}, err
	}
	report := Report{Runs: 2, Writes: want.attempts, Failures: s.judge(plan{}, want, want)}
	plans := s.plans(want.attempts)
	s.Log("%d writes undisturbed, after %s; %d runs to come", want.attempts, time.Since(started).Round(time.Millisecond), len(plans))
	for _, failures := range s.perform(ctx, plans, want) {
		report.Runs++
		report.Failures = append(report.Failures, failures...)
	}
	s.Log("%d runs after %s, %d failures", report.Runs, time.Since(started).Round(time.Millisecond), len(report.Failures))
	return report, ctx.Err()
}

// undisturbed plays the journey twice, so that a State that shows what
// differs from run to run is not taken for a mistake of the program.
func (s *stage) undisturbed(ctx context.Context) (outcome, error) {
	one, two := s.play(ctx, plan{}), s.play(ctx, plan{})
	if err := errors.Join(one.err, two.err); err != nil {
		return outcome{}, fmt.Errorf("running the journey undisturbed: %w", err)
	}
	if diff := lineDiff(one.state, two.state); diff != "" {
		return outcome{}, fmt.Errorf("two undisturbed runs end differently; mask what differs from run to run (-one +two):\n%s", diff)
	}
	if one.attempts < two.attempts {
		return two, nil
	}
	return one, nil
}

// perform plays all plans, some at a time, and returns what was wrong with
// each, in their order.
func (s *stage) perform(ctx context.Context, plans []plan, want outcome) [][]Failure {
	failures := make([][]Failure, len(plans))
	work := make(chan int)
	var players sync.WaitGroup
	for range min(s.Parallel, len(plans)) {
		players.Go(func() {
			for i := range work {
				failures[i] = s.judge(plans[i], want, s.play(ctx, plans[i]))
			}
		})
	}
	for i := range plans {
		if i > 0 && i%(4*s.Parallel) == 0 {
			s.Log("%d of %d runs begun", i, len(plans))
		}
		select {
		case work <- i:
		case <-ctx.Done():
		}
	}
	close(work)
	players.Wait()
	return failures
}
