package toolservice

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/test/cluster"
)

// crashJourney is something that people and servers do to tool services.
type crashJourney struct {
	// writes is how many writes it takes at most.
	writes int
	// left is what is there at the end; see player.left.
	left  []string
	steps func(p player) []frameworktest.Step
}

// often lets enough time pass for whatever a fresh process does differently.
func often(p player) []frameworktest.Step {
	var steps []frameworktest.Step
	for range 8 {
		steps = append(steps, p.waits(interval))
	}
	return steps
}

var crashJourneys = map[string]crashJourney{
	"made": {
		writes: 2,
		left:   []string{"one Ready True CatalogListed True ServerResponds a,b"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.serves("one", lists("a", "b")), p.makes("one")}
		},
	},
	"its tools change": {
		writes: 3,
		left:   []string{"one Ready True CatalogListed True ServerResponds b,c"},
		steps: func(p player) []frameworktest.Step {
			return slices.Concat([]frameworktest.Step{p.serves("one", lists("a", "b")), p.makes("one"), p.serves("one", lists("b", "c"))}, often(p))
		},
	},
	"its spec is edited": {
		writes: 4,
		left:   []string{"one Ready True CatalogListed True ServerResponds z"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.serves("one", lists("a")), p.makes("one"),
				p.edits("one", map[string]any{"spec": map[string]any{"remotes": nil}}),
				p.serves("two", lists("z")), p.moves("one", "two"),
			}
		},
	},
	"its server goes and comes back": {
		writes: 4,
		left:   []string{"one Ready True CatalogListed True ServerResponds a"},
		steps: func(p player) []frameworktest.Step {
			return slices.Concat([]frameworktest.Step{p.serves("one", lists("a")), p.makes("one"), p.serves("one", nil)}, often(p),
				[]frameworktest.Step{p.leaves([]string{"one Unreachable False ConnectionRefused False ConnectionRefused a"}), p.serves("one", lists("a"))}, often(p))
		},
	},
	"its Secret comes late": {
		writes: 3,
		left:   []string{"one Ready True CatalogListed True ServerResponds search"},
		steps: func(p player) []frameworktest.Step {
			return slices.Concat([]frameworktest.Step{
				p.serves("one", needs("t")), p.makes("one", bearer("late")),
				p.hides("late", corev1.SecretTypeOpaque, map[string]string{"token": "t"}),
			}, often(p))
		},
	},
	"deleted": {
		writes: 3,
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.serves("one", lists("a")), p.makes("one"), p.deletes("one")}
		},
	},
}

func TestAToolServiceBearsEveryCrash(t *testing.T) {
	t.Parallel()
	config := cluster.Shared(t)
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for name, j := range crashJourneys {
		t.Run(name, func(t *testing.T) {
			report := frameworktest.CrashEverywhere(t, crash(config, client, kube, j))
			if runs += report.Runs; report.Writes != j.writes {
				t.Errorf("want %d writes undisturbed, got %d", j.writes, report.Writes)
			}
		})
	}
	t.Logf("%d runs in all", runs)
}

func crash(config *rest.Config, client versioned.Interface, kube kubernetes.Interface, j crashJourney) frameworktest.Crash {
	return frameworktest.Crash{
		Config: config,
		Scenario: func(run frameworktest.Run) (frameworktest.Scenario, error) {
			p := player{run, client, kube, newServers()}
			return frameworktest.Scenario{
				Start: func(access *rest.Config, clock clock.WithTicker) (*framework.Manager, error) {
					manager, _, err := program(access, clock, run.Namespace, p.servers, nil, slog.New(slog.DiscardHandler))
					return manager, err
				},
				Steps: append(j.steps(p), p.leaves(j.left)),
				State: run.State(toolServices),
			}, nil
		},
		Network: func(faults *frameworktest.Transport) {
			// The look at the schema is half of a short life's work, and
			// nothing that is written depends on it here.
			faults.Inject(frameworktest.Fault{Path: "/openapi/", Status: http.StatusNotFound, Times: -1})
		},
		Invariants: []frameworktest.Invariant{frameworktest.NoDeleteWithoutUID, heldBeforeTold},
	}
}

// heldBeforeTold holds if no status is written to a ToolService without the
// finalizer: nothing may be remembered of one that can go unseen.
func heldBeforeTold() func(frameworktest.Write) error {
	return func(w frameworktest.Write) error {
		if w.Resource != toolServices.Resource+"/status" {
			return nil
		}
		var answer metav1.PartialObjectMetadata
		if err := json.Unmarshal(w.Answer, &answer); err != nil {
			return fmt.Errorf("reading the answer to %s %s %s: %w", w.Verb, w.Resource, w.Name, err)
		}
		if !slices.Contains(answer.Finalizers, polychromev1alpha1.ToolServiceFinalizer) {
			return fmt.Errorf("the status of %s is written before it is held", w.Name)
		}
		return nil
	}
}
