package frameworktest

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"polychrome.dev/controller/framework"
)

// rewriteStories records what the commands print instead of comparing it.
var rewriteStories = flag.Bool("frameworktest.rewrite", false, "record what the commands of stories print")

// Story is a simulation whose passes a text file directs and shows. A file
// has one command in a line, perhaps with lines of input below it, then a
// line of four dashes, what the command prints, and a blank line. Lines that
// begin with a hash are comments.
//
// Every story knows these commands:
//
//	pass [fail=ACTION] [error=TEXT]
//	until-settled
//	step DURATION
//
// pass prints the decision, the actions with their errors, the wait, and the
// fields of the status that changed. With fail, the first action that is
// printed like that, or begins so, fails. until-settled runs passes until
// nothing happens in one. step moves the time. All others, which edit the
// world, belong to the kind.
type Story[T framework.Object, W, A any] struct {
	// Simulation is what the passes run in. Required.
	Simulation *Simulation[T, W, A]
	// Commands are the kind's own, by name. What they return is printed.
	Commands map[string]func(Command) (string, error)
	// Action renders an action in one line. Nil takes its own text.
	Action func(A) string
}

// RunStories tells every story whose file matches a pattern, each from a
// fresh beginning. The test fails when a command prints anything but what
// stands in the file; with the flag -frameworktest.rewrite that is recorded
// instead.
func RunStories[T framework.Object, W, A any](t *testing.T, pattern string, begin func(testing.TB) *Story[T, W, A]) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no story matches %s: %v", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), func(t *testing.T) {
			sections, err := readScript(path)
			if err != nil {
				t.Fatal(err)
			}
			told, differences := begin(t).tell(sections)
			if *rewriteStories {
				if err := os.WriteFile(path, []byte(told), 0o644); err != nil {
					t.Fatalf("recording the story: %v", err)
				}
				return
			}
			for _, difference := range differences {
				t.Errorf("%s:%s", path, difference)
			}
		})
	}
}

// tell runs the commands; it returns the file as it should be, and where the
// one that is there differs.
func (s *Story[T, W, A]) tell(sections []section) (string, []string) {
	var told strings.Builder
	var differences []string
	start := s.Simulation.Now
	for _, section := range sections {
		printed := ""
		if section.plain == nil {
			printed = s.run(section.command, start)
			if diff := lineDiff(section.want, printed); diff != "" {
				differences = append(differences, fmt.Sprintf("%d: %s (-want +got):\n%s", section.line, section.text[0], diff))
			}
		}
		told.WriteString(section.render(printed))
	}
	return told.String(), differences
}

// run carries a command out and returns what it prints. A mistake in the
// story is printed, too.
func (s *Story[T, W, A]) run(c Command, start time.Time) string {
	printed, err := s.dispatch(c, start)
	if err != nil {
		printed += fmt.Sprintf("\nerror: %v", err)
	}
	var lines []string
	for line := range strings.Lines(printed) {
		// A blank line would end it.
		if line = strings.TrimRight(line, " \t\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func (s *Story[T, W, A]) dispatch(c Command, start time.Time) (string, error) {
	if own, known := s.Commands[c.Name]; known {
		return own(c)
	}
	switch c.Name {
	case "pass":
		return s.pass(c)
	case "until-settled":
		return s.untilSettled()
	case "step":
		return s.step(c, start)
	}
	known := append([]string{"pass", "step", "until-settled"}, slices.Sorted(maps.Keys(s.Commands))...)
	return "", fmt.Errorf("no such command; there are %s", strings.Join(known, ", "))
}

func (s *Story[T, W, A]) pass(c Command) (string, error) {
	if s.Simulation.Gone() {
		return "gone", nil
	}
	fail, failing := c.Options["fail"]
	if failing {
		text := c.Options["error"]
		if text == "" {
			text = "injected"
		}
		s.Simulation.Fail = func(a A) error {
			if !failing || !strings.HasPrefix(s.render(a), fail) {
				return nil
			}
			failing = false
			return errors.New(text)
		}
		defer func() { s.Simulation.Fail = nil }()
	}
	printed := s.show(s.Simulation.Pass())
	if failing {
		return printed, fmt.Errorf("no action begins with %q", fail)
	}
	return printed, nil
}

// settleBound is how many passes until-settled runs at most.
const settleBound = 20

func (s *Story[T, W, A]) untilSettled() (string, error) {
	if s.Simulation.Gone() {
		return "gone", nil
	}
	passes, err := s.Simulation.Settle(settleBound)
	var printed strings.Builder
	for i, pass := range passes {
		fmt.Fprintf(&printed, "pass %d\n%s", i+1, indented(s.show(pass)))
	}
	return printed.String(), err
}

func indented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString("  " + line)
	}
	return out.String()
}

func (s *Story[T, W, A]) step(c Command, start time.Time) (string, error) {
	if len(c.Args) != 1 {
		return "", errors.New("step takes a duration")
	}
	d, err := time.ParseDuration(c.Args[0])
	if err != nil || d < 0 {
		return "", fmt.Errorf("not a step forward: %q", c.Args[0])
	}
	s.Simulation.Now = s.Simulation.Now.Add(d)
	return fmt.Sprintf("%s after the beginning", s.Simulation.Now.Sub(start)), nil
}

func (s *Story[T, W, A]) render(action A) string {
	if s.Action != nil {
		return s.Action(action)
	}
	return fmt.Sprint(action)
}

// show renders a pass.
func (s *Story[T, W, A]) show(pass Pass[T, A]) string {
	var out strings.Builder
	fmt.Fprintf(&out, "decision: %s\n", pass.Plan.Decision)
	for i, action := range pass.Plan.Actions {
		switch {
		case i >= len(pass.Done):
			fmt.Fprintf(&out, "not tried: %s\n", s.render(action))
		case pass.Done[i].Err != nil:
			fmt.Fprintf(&out, "failed: %s: %v\n", s.render(action), pass.Done[i].Err)
		default:
			fmt.Fprintf(&out, "action: %s\n", s.render(action))
		}
	}
	if pass.Plan.Wait > 0 {
		fmt.Fprintf(&out, "wait: %s\n", pass.Plan.Wait)
	}
	if s.Simulation.Gone() {
		out.WriteString("gone\n")
	}
	for _, line := range changedFields(statusOf(pass.Before), statusOf(pass.After)) {
		fmt.Fprintf(&out, "status: %s\n", line)
	}
	return out.String()
}
