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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// lookEvery is how often the Conversations are looked at.
const lookEvery = 250 * time.Millisecond

// show follows the Conversations of the examples.
type show struct {
	cluster    *cluster
	controller *controller
	screen     *screen
	// names are the Conversations to follow.
	names []string
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
	list, err := s.cluster.polychrome.PolychromeV1alpha1().Conversations(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the conversations: %w", err)
	}
	return rowsOf(list.Items, s.names, s.controller.generation, time.Now()), nil
}

// rowsOf are the rows of the names, in their order.
func rowsOf(found []polychromev1alpha1.Conversation, names []string, generation string, now time.Time) []row {
	rows := make([]row, 0, len(names))
	for _, name := range names {
		at := slices.IndexFunc(found, func(conv polychromev1alpha1.Conversation) bool { return conv.Name == name })
		if at < 0 {
			rows = append(rows, absent(name))
			continue
		}
		rows = append(rows, rowOf(&found[at], generation, now))
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
			fmt.Fprintf(&b, "  %s: %s: %s\n", r.name, r.reason, r.message)
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
