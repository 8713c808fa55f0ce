package servicedefinition

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/reconcilers"
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

// world is one namespace and the user's clients.
type world struct {
	t      *testing.T
	config *rest.Config
	client versioned.Interface
	kube   kubernetes.Interface
	ns     string
}

// newWorld makes one where everybody is at work: controllers, scheduler, and
// nodes on which each pod is ready as soon as it is scheduled.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	config := cluster.Shared(t)
	return worldOf(t, config, cluster.Namespace(t, config))
}

func worldOf(t *testing.T, config *rest.Config, ns string) *world {
	t.Helper()
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, config: config, client: client, kube: kube, ns: ns}
}

// process is one life of the controller.
type process struct {
	stop func()
	idle func() bool
	// settle waits until the controller has seen and done everything, and
	// clock is its time; only of one whose time stands still.
	settle func()
	clock  *frameworktest.Clock
	// requests are what the controller asked.
	requests *frameworktest.Transport
}

// writes returns what was meant to change something, but for events.
func (p *process) writes() []string {
	var asked []string
	for _, r := range p.requests.Requests(frameworktest.Writes) {
		if r.Resource != "events" {
			asked = append(asked, strings.TrimSpace(r.Verb+" "+r.Resource+" "+r.Name))
		}
	}
	return asked
}

// start runs a controller over the namespace until stop, or the test, ends.
func (w *world) start() *process {
	w.t.Helper()
	p, _ := w.run(nil)
	return p
}

// startStill is start with a time that stands still.
func (w *world) startStill() *process {
	w.t.Helper()
	clock := frameworktest.NewClock()
	p, manager := w.run(clock)
	live, err := metadata.NewForConfig(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	p.clock = clock
	p.settle = func() {
		w.t.Helper()
		if err := frameworktest.Settle(w.t.Context(), manager, clock, live); err != nil {
			w.t.Fatal(err)
		}
	}
	return p
}

func (w *world) run(clock clock.WithTicker) (*process, *framework.Manager) {
	w.t.Helper()
	config := rest.CopyConfig(w.config)
	requests := frameworktest.NewTransport()
	config.Wrap(requests.Wrap)
	manager, idle, err := program(config, clock, w.ns, slog.New(slog.NewTextHandler(testWriter{w.t}, nil)))
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := manager.Run(ctx); err != nil {
			w.t.Errorf("running the controller: %v", err)
		}
	})
	stop := sync.OnceFunc(func() {
		cancel()
		ended.Wait()
	})
	w.t.Cleanup(stop)
	return &process{stop: stop, idle: idle, requests: requests}, manager
}

// program is what cmd makes, without its servers and its election. A clock of
// nil is the real one.
func program(access *rest.Config, clock clock.WithTicker, namespace string, log *slog.Logger) (*framework.Manager, func() bool, error) {
	connections := framework.Connect(access)
	options := framework.ManagerOptions{
		Names: framework.Names{
			Domain: polychromev1alpha1.GroupName, FieldManager: polychromev1alpha1.FieldManager,
			MetricPrefix: "polychrome", Component: "polychrome-controller",
		},
		Connections: connections, Log: log,
	}
	if clock != nil {
		options.Clock = clock
	}
	manager, err := framework.NewManager(options)
	if err != nil {
		return nil, nil, err
	}
	clients, err := reconcilers.NewClients(connections)
	if err != nil {
		return nil, nil, err
	}
	return manager, reconcilers.AddServiceDefinitions(manager, clients, reconcilers.ServiceDefinitions(manager, clients, namespace), 0), nil
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(line []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(line)))
	return len(line), nil
}

// sample is a definition of two replicas.
func sample(name string) *polychromev1alpha1.ServiceDefinition {
	return &polychromev1alpha1.ServiceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: polychromev1alpha1.ServiceDefinitionSpec{
			Image: "registry.k8s.io/pause:3.10", Replicas: new(int32(2)), Env: map[string]string{"LEVEL": "info", "ZONE": "a"},
		},
	}
}

func (w *world) create(svc *polychromev1alpha1.ServiceDefinition) *polychromev1alpha1.ServiceDefinition {
	w.t.Helper()
	created, err := w.client.PolychromeV1alpha1().ServiceDefinitions(w.ns).Create(w.t.Context(), svc, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatalf("creating the definition %s: %v", svc.Name, err)
	}
	return created
}

// edit changes a definition as its user, and returns it.
func (w *world) edit(name, patch string) *polychromev1alpha1.ServiceDefinition {
	w.t.Helper()
	edited, err := w.client.PolychromeV1alpha1().ServiceDefinitions(w.ns).Patch(w.t.Context(), name, types.MergePatchType,
		[]byte(patch), metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		w.t.Fatalf("editing the definition %s: %v", name, err)
	}
	return edited
}

// patchDeployment changes a Deployment as somebody else.
func (w *world) patchDeployment(name, patch string) {
	w.t.Helper()
	if _, err := w.kube.AppsV1().Deployments(w.ns).Patch(w.t.Context(), name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: "somebody", FieldValidation: metav1.FieldValidationStrict}); err != nil {
		w.t.Fatalf("patching the deployment %s: %v", name, err)
	}
}

func (w *world) deployment(name string) *appsv1.Deployment {
	w.t.Helper()
	found, err := w.kube.AppsV1().Deployments(w.ns).Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatalf("reading the deployment %s: %v", name, err)
	}
	return found
}

// eventually waits until a definition is as told, and returns it.
func (w *world) eventually(name, what string, holds func(*polychromev1alpha1.ServiceDefinition) bool) *polychromev1alpha1.ServiceDefinition {
	w.t.Helper()
	var svc *polychromev1alpha1.ServiceDefinition
	cluster.Eventually(w.t, settle, func() error {
		var err error
		svc, err = w.client.PolychromeV1alpha1().ServiceDefinitions(w.ns).Get(w.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !holds(svc) {
			return fmt.Errorf("%s is not %s: generation %d, status %+v", name, what, svc.Generation, svc.Status)
		}
		return nil
	})
	return svc
}

// eventuallyReady waits until a definition is ready in its present generation.
func (w *world) eventuallyReady(name string) *polychromev1alpha1.ServiceDefinition {
	w.t.Helper()
	return w.eventually(name, "ready", isReady)
}

// eventuallySays waits for a reason whose message has all of some words.
func (w *world) eventuallySays(name string, reason polychromev1alpha1.Reason, words ...string) *polychromev1alpha1.ServiceDefinition {
	w.t.Helper()
	return w.eventually(name, fmt.Sprint(reason, " ", words), func(svc *polychromev1alpha1.ServiceDefinition) bool {
		ready := readyOf(svc)
		for _, word := range words {
			if !strings.Contains(ready.Message, word) {
				return false
			}
		}
		return ready.Reason == string(reason) && svc.Status.ObservedGeneration == svc.Generation
	})
}

// eventuallyIdle waits until the controller has nothing left to do.
func (w *world) eventuallyIdle(p *process) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		if !p.idle() {
			return fmt.Errorf("the controller is at work")
		}
		return nil
	})
}

// eventuallyGone waits until a read says that its object is not there.
func (w *world) eventuallyGone(what string, read func(context.Context) error) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		switch err := read(w.t.Context()); {
		case err == nil:
			return fmt.Errorf("%s is still there", what)
		case apierrors.IsNotFound(err):
			return nil
		default:
			return err
		}
	})
}

func isReady(svc *polychromev1alpha1.ServiceDefinition) bool {
	ready := readyOf(svc)
	return ready.Status == metav1.ConditionTrue && svc.Status.Ready && svc.Status.Phase == polychromev1alpha1.ServiceDefinitionReady &&
		svc.Status.Message == nil && svc.Status.ObservedGeneration == svc.Generation && ready.ObservedGeneration == svc.Generation
}

func readyOf(svc *polychromev1alpha1.ServiceDefinition) metav1.Condition {
	if ready := meta.FindStatusCondition(svc.Status.Conditions, string(polychromev1alpha1.ConditionReady)); ready != nil {
		return *ready
	}
	return metav1.Condition{}
}

func stalled(svc *polychromev1alpha1.ServiceDefinition) bool {
	return meta.IsStatusConditionTrue(svc.Status.Conditions, string(polychromev1alpha1.ConditionStalled))
}
