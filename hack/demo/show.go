package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// lookEvery is how often the objects are looked at.
const lookEvery = 100 * time.Millisecond

// show follows the objects of the examples.
type show struct {
	cluster    *cluster
	controller *controller
	screen     *screen
	// ids are the objects to follow.
	ids []string
	// working is set once the controller has been seen to lead: before that
	// the rows may be those of an earlier run.
	working bool
}

// untilSettled shows the rows until nothing more will happen by itself.
func (s *show) untilSettled(ctx context.Context, timeout time.Duration) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	deadline := time.Now().Add(timeout)
	for {
		rows, err := s.look(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if died := s.controller.died(); died != nil {
			return died
		}
		if err == nil {
			s.screen.show(rows, time.Now())
			if s.working && !slices.ContainsFunc(rows, func(r row) bool { return !r.settled }) {
				return nil
			}
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("not settled after %s:\n%s", timeout, s.unsettled(rows)), err)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// look reads the rows. An error is an outage: the last rows stay.
func (s *show) look(ctx context.Context) ([]row, error) {
	s.working = s.working || s.controller.leads(ctx)
	found, err := s.cluster.items(ctx)
	if err != nil {
		return nil, err
	}
	return rowsOf(found, s.ids, s.controller.generation, time.Now()), nil
}

// rowsOf are the rows of the ids, in their order.
func rowsOf(found map[string]item, ids []string, generation string, now time.Time) []row {
	rows := make([]row, 0, len(ids))
	for _, id := range ids {
		if i, there := found[id]; there {
			rows = append(rows, rowOf(i, generation, now))
		} else {
			rows = append(rows, absent(id))
		}
	}
	return rows
}

// unsettled says what is still to happen, and why it has not.
func (s *show) unsettled(rows []row) string {
	var b strings.Builder
	if !s.working {
		fmt.Fprintf(&b, "  the controller does not lead; see %s\n", s.controller.options.log())
	}
	for _, r := range rows {
		if !r.settled {
			fmt.Fprintf(&b, "  %s: %s: %s\n", r.id, r.reason, r.message)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// untilInterrupted writes a line for each change until ctx ends. Each line
// read from keys rolls the units.
func (s *show) untilInterrupted(ctx context.Context, keys io.Reader) error {
	s.screen.below()
	enter := make(chan struct{})
	go func() {
		for scanner := bufio.NewScanner(keys); scanner.Scan(); {
			enter <- struct{}{}
		}
	}()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			fmt.Println("\ndemo: stopping")
			return nil
		case <-enter:
			fmt.Println("demo: restarting the controller with harness image generation", nextGeneration(s.controller.generation))
			if err := s.controller.roll(); err != nil {
				return err
			}
		case <-ticker.C:
		}
		if died := s.controller.died(); died != nil {
			return died
		}
		if rows, err := s.look(ctx); err == nil {
			s.screen.show(rows, time.Now())
		}
	}
}
