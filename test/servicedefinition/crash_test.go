package servicedefinition

import (
	"log/slog"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/test/cluster"
)

// leastRuns is how many runs all journeys make at least.
const leastRuns = 400

// TestAServiceBearsEveryCrash kills the controller at each write of each
// journey.
func TestAServiceBearsEveryCrash(t *testing.T) {
	t.Parallel()
	config := startBare(t)
	client, kube := clientsOf(t, config)
	begun, runs := 0, 0
	for name, j := range journeys {
		t.Run(name, func(t *testing.T) {
			begun++
			report := frameworktest.CrashEverywhere(t, crash(config, client, kube, j))
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

// startBare starts a control plane without anybody who acts in it.
func startBare(t *testing.T) *rest.Config {
	t.Helper()
	return cluster.Start(t, cluster.Options{CRDDirs: []string{cluster.ProjectCRDs(t)}, APIOnly: true}).Config()
}

func clientsOf(t *testing.T, config *rest.Config) (versioned.Interface, kubernetes.Interface) {
	t.Helper()
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client, kube
}

func crash(config *rest.Config, client versioned.Interface, kube kubernetes.Interface, j journey) frameworktest.Crash {
	return frameworktest.Crash{
		Config: config,
		Scenario: func(run frameworktest.Run) (frameworktest.Scenario, error) {
			p := player{run, client, kube}
			return frameworktest.Scenario{
				Start: func(access *rest.Config, clock clock.WithTicker) (*framework.Manager, error) {
					manager, _, err := program(access, clock, run.Namespace, slog.New(slog.DiscardHandler))
					return manager, err
				},
				Steps: append(j.steps(p), p.leaves(j.left)),
				State: frameworktest.Snapshot{
					Live: run.Live, Namespace: run.Namespace, Mask: mask,
					Resources: []schema.GroupVersionResource{definitions, deployments, services},
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
		Invariants: []frameworktest.Invariant{frameworktest.NoDeleteWithoutUID},
	}
}

// mask hides the addresses that each Service has for itself.
func mask(resource string, object map[string]any) {
	if spec, ok := object["spec"].(map[string]any); ok && resource == services.Resource {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
}
