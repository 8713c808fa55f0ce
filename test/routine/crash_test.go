package routine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
)

// leastRuns is how many runs all journeys make at least.
const leastRuns = 200

// journey is something that people and clusters do to routines.
type journey struct {
	// network is what happens to the connection of each life, if anything.
	network func(*frameworktest.Transport)
	// writes is how many writes it takes at most, refused ones included.
	writes int
	// left is what is there at the end; see player.left.
	left  []string
	steps func(p player) []frameworktest.Step
}

// lag is how late watches are that are late. It must be more than a pass takes.
const lag = 300 * time.Millisecond

func late(resource schema.GroupVersionResource) func(*frameworktest.Transport) {
	return func(faults *frameworktest.Transport) { faults.LagWatches(lag, resource.Resource) }
}

var (
	daily    = every("0 9 * * *", "Europe/London")
	minutely = every("* * * * *", "UTC")
)

var journeys = map[string]journey{
	"edited, suspended, resumed, deleted and made again": {
		writes: 5,
		left:   []string{"routine one Scheduled 3"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", daily), p.reschedules("one", "@monthly", "America/New_York"), p.suspends("one", true), p.suspends("one", false),
				p.deletes(routines, "one"), p.makes("one", daily),
			}
		},
	},
	"invalid, then mended": {
		writes: 5,
		left:   []string{"routine one Scheduled 3"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", every("0 0 30 2 *", "UTC")), p.leftBehind("one"), p.reschedules("one", "0 0 28 2 *", "utc"),
				p.reschedules("one", "0 0 28 2 *", "UTC"),
			}
		},
	},
	"one instant comes": {
		network: late(routines),
		writes:  3,
		left:    []string{"routine one Completed 0 missed: as it came"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", onceAt(p.Clock.Now().Add(90*time.Minute))), p.waits(time.Hour),
				p.does(p.misses("one", "as it came"), p.waits(time.Hour)),
			}
		},
	},
	"fires beside the scheduler": {
		network: late(routines),
		writes:  8,
		left:    []string{"routine one Scheduled 3 missed: second"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", minutely), p.waits(90 * time.Second), p.misses("one", "first"), p.does(p.misses("one", "second"), p.waits(90*time.Second)),
				p.waits(90 * time.Second), p.suspends("one", true), p.waits(time.Hour), p.suspends("one", false),
			}
		},
	},
	"a trigger of its own": {
		writes: 3,
		left:   []string{"routine one Scheduled 3"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one", daily), p.leftBehind("one"), p.waits(time.Hour)}
		},
	},
	"a trigger of its own, seen late": {
		network: late(cronJobs),
		writes:  5,
		left:    []string{"routine one Scheduled 3"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.makes("one", daily), p.leftBehind("one"), p.leftBehind("one")}
		},
	},
	"a trigger that cannot be removed at first": {
		network: func(faults *frameworktest.Transport) {
			faults.Inject(frameworktest.Fault{Verb: "delete", Resource: cronJobs.Resource, Status: http.StatusInternalServerError})
			faults.Inject(frameworktest.Fault{Verb: "delete", Resource: accounts.Resource, Status: http.StatusConflict})
		},
		writes: 6,
		left:   []string{"routine one Suspended 0"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{p.does(p.makes("one", daily), p.suspends("one", true)), p.leftBehind("one")}
		},
	},
	"triggers of others, in turn with its own": {
		writes: 6,
		left:   []string{"routine one Scheduled 3", "cronjobs routine-one", "serviceaccounts routine-one"},
		steps: func(p player) []frameworktest.Step {
			taken := []frameworktest.Step{p.deletes(cronJobs, "routine-one"), p.deletes(accounts, "routine-one")}
			return []frameworktest.Step{
				p.takes("one"), p.makes("one", daily), p.reschedules("one", "@daily", "UTC"), p.does(taken...), p.leftBehind("one"), p.takes("one"),
				p.suspends("one", true), p.suspends("one", false),
			}
		},
	},
	"taken over while paused": {
		writes: 3,
		left:   []string{"routine one Scheduled 3", "cronjobs routine-one", "serviceaccounts routine-one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.makes("one", daily), p.pauses("one", "true"), p.leftBehind("one"),
				p.does(p.disowned(cronJobs, "one"), p.disowned(accounts, "one")), p.pauses("one", nil),
			}
		},
	},
	"deleted with its trigger": {
		writes: 2,
		// Nobody collects garbage here.
		left: []string{"cronjobs routine-one", "serviceaccounts routine-one"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.does(p.makes("one", daily), p.edits("one", map[string]any{"metadata": map[string]any{"finalizers": []any{"example.test/hold"}}})),
				p.does(p.deletes(routines, "one"), p.leftBehind("one")), p.waits(time.Hour),
				p.edits("one", map[string]any{"metadata": map[string]any{"finalizers": nil}}),
			}
		},
	},
	"two at once": {
		writes: 10,
		left:   []string{"routine one Scheduled 3", "routine two InvalidSchedule 0"},
		steps: func(p player) []frameworktest.Step {
			return []frameworktest.Step{
				p.does(p.makes("one", daily), p.makes("two", minutely)), p.does(p.leftBehind("two"), p.leftBehind("one")), p.waits(90 * time.Second),
				p.reschedules("two", "* * * * * *", "UTC"),
			}
		},
	},
}

// TestARoutineBearsEveryCrash kills the controller at each write of each
// journey. These faults it has been seen to catch, each planted in the program
// alone and taken out again:
//
//	delete of what was not judged
//	    reconcilers/routine/act.go: no version with the delete.
//	    framework/write.go: a precondition on the UID alone.
//	    "a trigger of its own": not quiet, and the invariant onlyStatusesAndJudgedDeletes.
//	delete of what is not ours
//	    reconcilers/routine/children.go: whatever has the name counts as owned.
//	    "triggers of others, in turn with its own": there is none left.
//	baseline from the cache
//	    framework/write.go: a status patch without a resourceVersion.
//	    "one instant comes", by its late watch: the scheduler's condition is gone.
//	forgotten requeue
//	    reconcilers/routine/plan.go: no wait.
//	    "one instant comes" is never completed.
//	work on the deleted
//	    reconcilers/routine/plan.go: a deletion is not looked at.
//	    "deleted with its trigger": the trigger is gone.
func TestARoutineBearsEveryCrash(t *testing.T) {
	t.Parallel()
	config := startBare(t)
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	begun, runs := 0, 0
	for name, j := range journeys {
		t.Run(name, func(t *testing.T) {
			begun++
			report := frameworktest.CrashEverywhere(t, crash(config, player{client: client, kube: kube}, j))
			if runs += report.Runs; report.Writes > j.writes {
				t.Errorf("want at most %d writes undisturbed, got %d", j.writes, report.Writes)
			}
		})
	}
	t.Logf("%d runs in all", runs)
	// With a part of the journeys selected there are fewer.
	if begun == len(journeys) && runs < leastRuns {
		t.Errorf("want at least %d runs", leastRuns)
	}
}

func crash(config *rest.Config, p player, j journey) frameworktest.Crash {
	return frameworktest.Crash{
		Config: config,
		Scenario: func(run frameworktest.Run) (frameworktest.Scenario, error) {
			p := player{run, p.client, p.kube}
			return frameworktest.Scenario{
				Start: func(access *rest.Config, clock clock.WithTicker) (*framework.Manager, error) {
					return program(access, clock, run.Namespace, func(*framework.ManagerOptions) {})
				},
				Steps: append(j.steps(p), p.leaves(j.left)),
				State: frameworktest.Snapshot{
					Live: run.Live, Namespace: run.Namespace, Mask: mask,
					Resources: []schema.GroupVersionResource{routines, cronJobs, accounts},
				}.Text,
			}, nil
		},
		Network: func(faults *frameworktest.Transport) {
			if j.network != nil {
				j.network(faults)
			}
			// The look at the schema is half of a short life's work, and
			// nothing that is written depends on it here.
			faults.Inject(frameworktest.Fault{Path: "/openapi/", Status: http.StatusNotFound, Times: -1})
		},
		Invariants: []frameworktest.Invariant{frameworktest.NoDeleteWithoutUID, onlyStatusesAndJudgedDeletes},
	}
}

// onlyStatusesAndJudgedDeletes holds if nothing is written but statuses of
// routines, and nothing deleted but the very version that was judged.
func onlyStatusesAndJudgedDeletes() func(frameworktest.Write) error {
	return func(w frameworktest.Write) error {
		switch {
		case w.Verb == "patch" && w.Resource == routines.Resource+"/status", w.Resource == "events":
			return nil
		case w.Verb != "delete" || w.Resource == routines.Resource:
			return fmt.Errorf("%s %s %s is no write of ours", w.Verb, w.Resource, w.Name)
		}
		var options metav1.DeleteOptions
		if err := json.Unmarshal(w.Body, &options); err != nil {
			return fmt.Errorf("reading the options of deleting %s %s: %w", w.Resource, w.Name, err)
		}
		if p := options.Preconditions; p == nil || p.ResourceVersion == nil || *p.ResourceVersion == "" {
			return fmt.Errorf("deleting %s %s, whatever it has become", w.Resource, w.Name)
		}
		return nil
	}
}

// mask hides the instant in the sentence of one that fires once.
func mask(resource string, object map[string]any) {
	if status, ok := object["status"].(map[string]any); ok && resource == routines.Resource {
		if _, set := status["cadence"]; set {
			status["cadence"] = "<cadence>"
		}
	}
}
