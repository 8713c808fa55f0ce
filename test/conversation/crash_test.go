package conversation

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/reconcilers"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
)

var (
	conversations = polychromev1alpha1.SchemeGroupVersion.WithResource("conversations")
	claims        = agentsandboxv1alpha1.SchemeGroupVersion.WithResource("sandboxclaims")
)

// generation is the desired one of every program here.
const generation = "b"

// leastRuns is how many runs all journeys make at least.
const leastRuns = 300

// TestAConversationBearsEveryCrash kills the controller at each write of each
// journey. These faults it has been seen to catch, each planted in the program
// alone and taken out again:
//
//	finalizer after the first effect
//	    reconcilers/conversation/plan.go: the row of the claim tried before that of the finalizer.
//	    "booted, then the timeout taken away" and "deleted": the invariant FinalizerBeforeEffect.
//	status before the child
//	    reconcilers/conversation/act.go: the name recorded by one pass, the claim made by the next.
//	    "booted, then the timeout taken away" and "deleted": the invariant namedOnceMade.
//	create without a deterministic name
//	    reconcilers/conversation/execution/sandboxclaim.go: a random end of the claim's name in each life.
//	    "booted, then the timeout taken away" and "deleted": there is no claim of the name to boot.
//	delete not noted by UID
//	    framework/write.go: no note after a delete.
//	    "closed while it rolls", by its late watch: more than its 11 writes, and namedOnceMade.
//	removal of a field unseen
//	    framework/apply.go: no applied-hash annotation.
//	    "booted, then the timeout taken away": the claim keeps its time to live.
//	delete without UID
//	    framework/write.go: a precondition on the version alone.
//	    "deleted": the invariant NoDeleteWithoutUID.
//	baseline from the cache
//	    framework/write.go: a status patch without a resourceVersion.
//	    "a turn at the last moment", by its late watch: the conversation is closed.
//	    framework/pass.go: a status compared with the last one written, not with the stored one.
//	    "claim and status changed by somebody": the address stays overwritten.
//	    framework/loop.go: passes on caches older than the last write.
//	    "closed while it rolls", by its late watch: more than its 11 writes, and namedOnceMade.
//	forgotten requeue
//	    framework/loop.go, settle: the wait of a pass dropped.
//	    "closed and collected" is never collected.
//	    framework/loop.go, settle: the backoff of a pass dropped.
//	    "made while claims are refused at first", killed at the first two writes: not quiet, it backs off for ever.
//	lost claim name
//	    reconcilers/conversation/status.go: the name of the claim not recorded.
//	    "booted, then the timeout taken away": it never gets ready.
//	    reconcilers/conversation/status.go: the name recorded only by the pass that makes the claim.
//	    "made while claims are refused at first", killed when the claim is made: it never gets ready.
func TestAConversationBearsEveryCrash(t *testing.T) {
	t.Parallel()
	server := cluster.Start(t, cluster.Options{CRDDirs: []string{cluster.ProjectCRDs(t), filepath.Dir(claimCRD(t))}, APIOnly: true})
	client, err := versioned.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	begun, runs := 0, 0
	for name, j := range journeys {
		t.Run(name, func(t *testing.T) {
			begun++
			report := frameworktest.CrashEverywhere(t, crash(server.Config(), client, j))
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

func crash(config *rest.Config, client versioned.Interface, j journey) frameworktest.Crash {
	return frameworktest.Crash{
		Config: config,
		Scenario: func(run frameworktest.Run) (frameworktest.Scenario, error) {
			p := player{run, client}
			return frameworktest.Scenario{
				Start: func(access *rest.Config, clock clock.WithTicker) (*framework.Manager, error) {
					return program(access, clock, run.Namespace)
				},
				Steps: append(j.steps(p), p.leaves(j.left)),
				State: frameworktest.Snapshot{
					Live: run.Live, Namespace: run.Namespace, Mask: mask,
					Resources: []schema.GroupVersionResource{conversations, claims},
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
		Invariants: []frameworktest.Invariant{
			frameworktest.NoDeleteWithoutUID,
			frameworktest.FinalizerBeforeEffect(conversations.Resource, polychromev1alpha1.ConversationFinalizer),
			namedOnceMade,
		},
	}
}

// namedOnceMade holds if no status names a claim that the program has not
// made, or has taken away.
func namedOnceMade() func(frameworktest.Write) error {
	made := map[string]bool{}
	return func(w frameworktest.Write) error {
		switch w.Resource {
		case claims.Resource:
			made[w.Name] = w.Verb == "apply"
		case conversations.Resource + "/status":
			// What a patch does not change was true when it was written.
			var conv polychromev1alpha1.Conversation
			if err := json.Unmarshal(w.Body, &conv); err != nil {
				return fmt.Errorf("reading the body of %s %s %s: %w", w.Verb, w.Resource, w.Name, err)
			}
			if name := conv.Status.SandboxClaimName; name != "" && !made[name] {
				return fmt.Errorf("the status of %s names the claim %s, which is not made", w.Name, name)
			}
		}
		return nil
	}
}

// program is what cmd makes, without its servers and its election.
func program(access *rest.Config, clock clock.WithTicker, namespace string) (*framework.Manager, error) {
	connections := framework.Connect(access)
	manager, err := framework.NewManager(framework.ManagerOptions{
		Names: framework.Names{
			Domain: polychromev1alpha1.GroupName, FieldManager: polychromev1alpha1.FieldManager,
			MetricPrefix: "polychrome", Component: "polychrome-controller",
		},
		Connections: connections, Clock: clock, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	clients, err := reconcilers.NewClients(connections)
	if err != nil {
		return nil, err
	}
	reconcilers.AddConversations(manager, clients, namespace, 0, conversation.Options{
		Generation: generation, RollConcurrency: 1, RetentionSeconds: 3600, Now: clock.Now, Log: manager.Log,
	})
	return manager, nil
}

// mask hides times that are kept as numbers, and whether a field is false or
// was never set.
func mask(_ string, object map[string]any) {
	status, _ := object["status"].(map[string]any)
	maps.DeleteFunc(status, func(_ string, value any) bool { return value == false })
	// A unit torn down whose status was never written counts as lost.
	delete(status, "unitRecreations")
	for _, field := range []string{"closedAt", "lastActivityUnix", "rollStartedAt"} {
		if _, set := status[field]; set {
			status[field] = "<time>"
		}
	}
}
