package workflow

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/reconcilers"
	"polychrome.dev/controller/reconcilers/workflow"
	"polychrome.dev/controller/test/cluster"
)

// settle is how long the world may take to become as it should.
const settle = 60 * time.Second

func TestMain(m *testing.M) {
	flag.Parse()
	// These tests wait more than they work.
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	framework.RouteKlog(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// scene is a namespace in which time stands until it is stepped, and in which
// nobody but the garbage collector does anything that the test does not say.
type scene struct {
	player
	t        *testing.T
	metadata metadata.Interface
}

func newScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	config := cluster.Shared(t)
	live, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, player: player{client: client, Run: frameworktest.Run{
		Name: t.Name(), Namespace: cluster.Namespace(t, config), Config: config, Live: live, Clock: frameworktest.NewClock(),
	}}}
	if s.metadata, err = metadata.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	return s
}

// life is one life of the controller in a scene.
type life struct {
	*scene
	faults  *frameworktest.Transport
	manager *framework.Manager
	events  chan string
	stop    func()
}

// start runs the controller until stop, or the test, ends. It settles.
func (s *scene) start(more ...func(*framework.Manager, *framework.Resource[*polychromev1alpha1.ServiceDefinition])) *life {
	s.t.Helper()
	config, faults := rest.CopyConfig(s.Config), frameworktest.NewTransport()
	config.Wrap(faults.Wrap)
	// A recorder that is full holds passes up.
	events := record.NewFakeRecorder(10_000)
	manager, err := program(config, s.Namespace, framework.ManagerOptions{
		Clock: s.Clock, Events: events, Log: slog.New(slog.NewTextHandler(testWriter{s.t}, nil)),
	}, more...)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := manager.Run(ctx); err != nil {
			s.t.Errorf("running the controller: %v", err)
		}
	})
	l := &life{scene: s, faults: faults, manager: manager, events: events.Events, stop: sync.OnceFunc(func() {
		cancel()
		ended.Wait()
	})}
	s.t.Cleanup(l.stop)
	l.settle()
	return l
}

// program is what cmd makes, without its servers and its election.
func program(
	config *rest.Config, namespace string, o framework.ManagerOptions,
	more ...func(*framework.Manager, *framework.Resource[*polychromev1alpha1.ServiceDefinition]),
) (*framework.Manager, error) {
	connections := framework.Connect(config)
	o.Connections = connections
	o.Names = framework.Names{
		Domain: polychromev1alpha1.GroupName, FieldManager: polychromev1alpha1.FieldManager,
		MetricPrefix: "polychrome", Component: "polychrome-controller",
	}
	manager, err := framework.NewManager(o)
	if err != nil {
		return nil, err
	}
	clients, err := reconcilers.NewClients(connections)
	if err != nil {
		return nil, err
	}
	shared := reconcilers.ServiceDefinitions(manager, clients, namespace)
	reconcilers.AddWorkflows(manager, clients, shared, 0, workflow.Options{Log: manager.Log})
	for _, add := range more {
		add(manager, shared)
	}
	return manager, nil
}

// crashing is the program of one life in a crash.
func crashing(namespace string) func(*rest.Config, clock.WithTicker) (*framework.Manager, error) {
	return func(access *rest.Config, clock clock.WithTicker) (*framework.Manager, error) {
		return program(access, namespace, framework.ManagerOptions{Clock: clock, Log: slog.New(slog.DiscardHandler)})
	}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(line []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(line)))
	return len(line), nil
}

func (l *life) settle() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), settle)
	defer cancel()
	if err := frameworktest.Settle(ctx, l.manager, l.Clock, l.metadata); err != nil {
		l.t.Fatal(err)
	}
}

// plays takes the steps, and settles after each.
func (l *life) plays(steps ...frameworktest.Step) {
	l.t.Helper()
	for _, step := range steps {
		l.meanwhile(step)
		l.settle()
	}
}

// meanwhile takes the steps while nobody settles.
func (s *scene) meanwhile(steps ...frameworktest.Step) {
	s.t.Helper()
	for _, step := range steps {
		if err := step.Do(s.t.Context()); err != nil {
			s.t.Fatalf("%s: %v", step.Name, err)
		}
	}
}

// finds fails unless that is what there is; see player.left.
func (s *scene) finds(want ...string) {
	s.t.Helper()
	if err := s.leaves(want).Do(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

func (s *scene) eventually(want ...string) {
	s.t.Helper()
	cluster.Eventually(s.t, settle, func() error { return s.leaves(want).Do(s.t.Context()) })
}

// flow reads a workflow, child a ServiceDefinition.
func (s *scene) flow(name string) *polychromev1alpha1.Workflow {
	s.t.Helper()
	wf, err := s.workflows().Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return wf
}

func (s *scene) child(name string) *polychromev1alpha1.ServiceDefinition {
	s.t.Helper()
	sd, err := s.definitions().Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return sd
}

// asks returns what the controller has asked about objects since the log was
// emptied, but for watches.
func (l *life) asks(filters ...func(frameworktest.Request) bool) []string {
	var asked []string
	for _, r := range l.faults.Requests(append(filters, frameworktest.Unary)...) {
		if r.Resource != "" {
			asked = append(asked, fmt.Sprint(r.Verb, " ", r.Resource, " ", r.Name))
		}
	}
	return asked
}

// costs fails unless the steps make the controller ask just that.
func (l *life) costs(want []string, steps ...frameworktest.Step) {
	l.t.Helper()
	l.faults.Forget()
	l.plays(steps...)
	if diff := cmp.Diff(want, l.asks()); diff != "" {
		l.t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// told takes the events that came so far, those with a word.
func (l *life) told(word string) []string {
	var told []string
	for {
		select {
		case event := <-l.events:
			told = append(told, event)
		default:
			return slices.DeleteFunc(told, func(event string) bool { return !strings.Contains(event, word) })
		}
	}
}

// reasons waits until a workflow shows a reason.
func (s *scene) reasons(name string, want polychromev1alpha1.Reason) {
	s.t.Helper()
	cluster.Eventually(s.t, settle, func() error {
		if got := reasonOf(s.flow(name)); got != want {
			return fmt.Errorf("workflow %s: want %s, got %s", name, want, got)
		}
		return nil
	})
}
