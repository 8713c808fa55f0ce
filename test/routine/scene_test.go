package routine

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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/reconcilers"
	"polychrome.dev/controller/reconcilers/routine"
	"polychrome.dev/controller/test/cluster"
)

// settle is how long the world may take to become as it should.
const settle = 60 * time.Second

func TestMain(m *testing.M) {
	flag.Parse()
	framework.RouteKlog(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// startBare starts a control plane with the definitions alone.
func startBare(t *testing.T) *rest.Config {
	t.Helper()
	return cluster.Start(t, cluster.Options{CRDDirs: []string{cluster.ProjectCRDs(t)}, APIOnly: true}).Config()
}

// scene is a namespace in which time stands until it is stepped, and in which
// nobody does anything that the test does not say.
type scene struct {
	player
	t *testing.T
}

func newScene(t *testing.T, config *rest.Config) *scene {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := kube.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "scene-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, player: player{client: client, kube: kube, Run: frameworktest.Run{
		Name: t.Name(), Namespace: namespace.Name, Config: config, Live: live, Clock: frameworktest.NewClock(),
	}}}
}

// life is one life of the controller in a scene.
type life struct {
	*scene
	faults   *frameworktest.Transport
	manager  *framework.Manager
	events   chan string
	stop     func()
	metadata metadata.Interface
}

// start runs the controller until stop, or the test, ends. It settles.
func (s *scene) start() *life {
	s.t.Helper()
	l := s.enter(s.Config)
	l.settle()
	return l
}

// enter is start with somebody's access, without settling.
func (s *scene) enter(access *rest.Config) *life {
	s.t.Helper()
	l := &life{scene: s, faults: frameworktest.NewTransport()}
	config := rest.CopyConfig(access)
	config.Wrap(l.faults.Wrap)
	// A recorder that is full holds passes up.
	events := record.NewFakeRecorder(10_000)
	l.events = events.Events
	var err error
	log := slog.New(slog.NewTextHandler(testWriter{s.t}, nil))
	if l.manager, err = program(config, s.Clock, s.Namespace, func(o *framework.ManagerOptions) { o.Events, o.Log = events, log }); err != nil {
		s.t.Fatal(err)
	}
	if l.metadata, err = metadata.NewForConfig(access); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := l.manager.Run(ctx); err != nil {
			s.t.Errorf("running the controller: %v", err)
		}
	})
	l.stop = sync.OnceFunc(func() {
		cancel()
		ended.Wait()
	})
	s.t.Cleanup(l.stop)
	return l
}

// program is what cmd makes, without its servers and its election.
func program(access *rest.Config, clock clock.WithTicker, namespace string, change func(*framework.ManagerOptions)) (*framework.Manager, error) {
	connections := framework.Connect(access)
	o := framework.ManagerOptions{
		Names: framework.Names{
			Domain: polychromev1alpha1.GroupName, FieldManager: polychromev1alpha1.FieldManager,
			MetricPrefix: "polychrome", Component: "polychrome-controller",
		},
		Connections: connections, Clock: clock, Log: slog.New(slog.DiscardHandler),
	}
	change(&o)
	manager, err := framework.NewManager(o)
	if err != nil {
		return nil, err
	}
	clients, err := reconcilers.NewClients(connections)
	if err != nil {
		return nil, err
	}
	reconcilers.AddRoutines(manager, clients, namespace, 0, routine.Options{Log: manager.Log})
	return manager, nil
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

// meets waits until a fault has happened to a request.
func (s *scene) meets(fault *frameworktest.Injected) {
	s.t.Helper()
	cluster.Eventually(s.t, settle, func() error {
		if fault.Hits() == 0 {
			return fmt.Errorf("no request has met the fault")
		}
		return nil
	})
}

// finds fails unless that is what there is; see player.left.
func (s *scene) finds(want ...string) {
	s.t.Helper()
	if err := s.leaves(want).Do(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

// routine reads a routine.
func (s *scene) routine(name string) *polychromev1alpha1.Routine {
	s.t.Helper()
	routine, err := s.get(s.t.Context(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	return routine
}

// raw reads any object with all that the API server has of it.
func (s *scene) raw(resource schema.GroupVersionResource, name string) *unstructured.Unstructured {
	s.t.Helper()
	obj, err := s.Live.Resource(resource).Namespace(s.Namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return obj
}

// asked renders what the controller has asked, but for watches and discovery.
func (l *life) asked(filters ...func(frameworktest.Request) bool) []string {
	var asked []string
	for _, r := range l.faults.Requests(append(filters, frameworktest.Unary)...) {
		if r.Resource != "" {
			asked = append(asked, strings.TrimSpace(fmt.Sprint(r.Verb, " ", r.Resource, " ", r.Name)))
		}
	}
	return asked
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
