package workflow

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/test/cluster"
)

// journey is something that people and clusters do to workflows.
type journey struct {
	// late has the watches of ServiceDefinitions be late.
	late bool
	// writes is how many writes it takes at most.
	writes int
	// deleted are the ServiceDefinitions that are deleted, in order.
	deleted []string
	// left is what is there at the end; see player.left.
	left  []string
	steps func(p player) []frameworktest.Step
}

// lag is how late watches are that are late. It must be more than a pass takes.
const lag = 300 * time.Millisecond

var journeys = map[string]journey{
	"three stages come up in order": {
		writes: 7,
		left: []string{"workflow one Ready StagesReady", "- c Ready", "- b Ready", "- a Ready",
			"one-a a:1 of one", "one-b b:1 of one", "one-c c:1 of one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", stage("c", "b"), stage("b", "a"), stage("a")), p.raises("one-a"), p.raises("one-b"), p.raises("one-c"),
			}
		},
	},
	"an upstream edited": {
		late: true, writes: 8,
		left: []string{"workflow one Ready StagesReady", "- a Ready", "- b Ready", "one-a a:2 of one", "one-b b:1 of one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", stage("a"), stage("b", "a")), p.raises("one-a"), p.raises("one-b"),
				p.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages[0].Image = "example.test/a:2" }), p.raises("one-a"),
			}
		},
	},
	"a stage lost, in a workflow of which another is edited": {
		writes: 9,
		left:   []string{"workflow one Degraded StageDegraded", "- a Pending StageDegraded", "- b Ready", "one-a a:1 of one", "one-b b:2 of one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", stage("a"), stage("b", "a")), p.raises("one-a"), p.raises("one-b"),
				p.says("one-a", "False", polychromev1alpha1.ReasonRolloutInProgress, ""),
				p.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages[1].Image = "example.test/b:2" }), p.raises("one-b"),
			}
		},
	},
	"a stage removed in the middle": {
		writes: 10, deleted: []string{"one-b"},
		left: []string{"workflow one Ready StagesReady", "- a Ready", "- c Ready", "one-a a:1 of one", "one-c c:1 of one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", stage("a"), stage("b", "a"), stage("c", "b")), p.raises("one-a"), p.raises("one-b"), p.raises("one-c"),
				p.stages("one", stage("a"), stage("c", "a")),
			}
		},
	},
	"a tail removed, downstream first": {
		late: true, writes: 11, deleted: []string{"one-c", "one-b"},
		left: []string{"workflow one Ready StagesReady", "- a Ready", "one-a a:1 of one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", stage("a"), stage("b", "a"), stage("c", "b")), p.raises("one-a"), p.raises("one-b"), p.raises("one-c"),
				p.stages("one", stage("a")), p.waits(time.Minute),
			}
		},
	},
	"a stage renamed": {
		writes: 9, deleted: []string{"one-b"},
		left: []string{"workflow one Ready StagesReady", "- a Ready", "- bee Ready", "one-a a:1 of one", "one-bee b:1 of one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", stage("a"), stage("b", "a")), p.raises("one-a"), p.raises("one-b"),
				p.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages[1].Name = "bee" }), p.raises("one-bee"),
			}
		},
	},
	"broken and mended": {
		writes: 7,
		left:   []string{"workflow one Progressing StagesProgressing", "- a Ready", "- b Pending", "one-a a:1 of one", "one-b b:2 of one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", stage("a"), stage("b", "a")), p.raises("one-a"),
				p.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) {
					spec.Stages[1].Image, spec.Stages[0].DependsOn = "example.test/b:2", []string{"b"}
				}),
				p.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages[0].DependsOn = nil }),
			}
		},
	},
	"a name taken, then free": {
		writes: 5,
		left:   []string{"workflow one Progressing StagesProgressing", "- a Ready", "- b Pending", "one-a a:1 of one", "one-b b:1 of one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.takes("one-b"), p.makes("one", stage("a"), stage("b")), p.raises("one-a"), p.deletes(definitions, "one-b"), p.waits(time.Minute),
			}
		},
	},
	"a child deleted and held": {
		late: true, writes: 7,
		left: []string{"workflow one Progressing StagesProgressing", "- a Ready", "- b Pending", "one-a a:1 of one", "one-b b:1 of one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", stage("a"), stage("b", "a")), p.raises("one-a"), p.holds("one-b", true), p.deletes(definitions, "one-b"), p.holds("one-b", false),
			}
		},
	},
	"deleted half-way": {
		writes: 4,
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", stage("a"), stage("b", "a"), stage("c", "b")), p.raises("one-a"), p.deletes(workflows, "one"), p.collected(),
			}
		},
	},
}

// collected waits for the garbage collector.
func (p player) collected() frameworktest.Step {
	return step("collected", func(ctx context.Context) error {
		watch, err := p.definitions().Watch(ctx, metav1.ListOptions{TimeoutSeconds: new(int64(settle.Seconds()))})
		if err != nil {
			return err
		}
		defer watch.Stop()
		for {
			left, err := p.definitions().List(ctx, metav1.ListOptions{})
			if err != nil || len(left.Items) == 0 {
				return err
			}
			if _, open := <-watch.ResultChan(); !open {
				return fmt.Errorf("%d ServiceDefinitions were not collected", len(left.Items))
			}
		}
	})
}

// TestAWorkflowBearsEveryCrash kills the controller at each write of each
// journey.
func TestAWorkflowBearsEveryCrash(t *testing.T) {
	t.Parallel()
	config := cluster.Shared(t)
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for name, j := range journeys {
		t.Run(name, func(t *testing.T) {
			report := frameworktest.CrashEverywhere(t, crash(config, client, j))
			if runs += report.Runs; report.Writes > j.writes {
				t.Errorf("want at most %d writes undisturbed, got %d", j.writes, report.Writes)
			}
		})
	}
	t.Logf("%d runs in all", runs)
}

func crash(config *rest.Config, client versioned.Interface, j journey) frameworktest.Crash {
	return frameworktest.Crash{
		Config: config,
		Scenario: func(run frameworktest.Run) (frameworktest.Scenario, error) {
			p := player{run, client}
			return frameworktest.Scenario{
				Start: crashing(run.Namespace),
				Steps: slices.Concat(j.steps(p), []frameworktest.Step{p.leaves(j.left)}),
				State: run.State(workflows, definitions),
			}, nil
		},
		Network: func(faults *frameworktest.Transport) {
			if j.late {
				faults.LagWatches(lag, definitions.Resource)
			}
			// The look at the schema is half of a short life's work, and
			// nothing that is written depends on it here.
			faults.Inject(frameworktest.Fault{Path: "/openapi/", Status: http.StatusNotFound, Times: -1})
		},
		Invariants: []frameworktest.Invariant{frameworktest.NoDeleteWithoutUID, inOrder(j.deleted...)},
	}
}

// inOrder holds if ServiceDefinitions are deleted in that order and no others
// are.
func inOrder(names ...string) frameworktest.Invariant {
	return func() func(frameworktest.Write) error {
		var deleted []string
		return func(w frameworktest.Write) error {
			if w.Resource != definitions.Resource || w.Verb != "delete" || slices.Contains(deleted, w.Name) {
				return nil
			}
			if deleted = append(deleted, w.Name); len(deleted) > len(names) || !slices.Equal(deleted, names[:len(deleted)]) {
				return fmt.Errorf("want the deletes %v, got %v", names, deleted)
			}
			return nil
		}
	}
}
