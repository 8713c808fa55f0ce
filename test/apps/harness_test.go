package apps

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned/typed/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers"
	"polychrome.dev/controller/test/cluster"
)

// settle is how long the world may take to become as it should, on a machine
// that is busy.
const settle = 5 * time.Minute

// world is a namespace of apps, and the controller over it.
type world struct {
	t         *testing.T
	namespace string
	apps      v1alpha1.PolychromeV1alpha1Interface
	kube      kubernetes.Interface
	config    *rest.Config
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	config := cluster.Shared(t)
	apps, err := v1alpha1.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, namespace: cluster.Namespace(t, config), apps: apps, kube: kube, config: config}
}

// process is one life of the controller.
type process struct {
	stop     func()
	idle     func() bool
	requests *frameworktest.Transport
}

func (w *world) start() *process {
	w.t.Helper()
	config := rest.CopyConfig(w.config)
	requests := frameworktest.NewTransport()
	config.Wrap(requests.Wrap)
	connections := framework.Connect(config)
	manager, err := framework.NewManager(framework.ManagerOptions{
		Names: framework.Names{
			Domain: polychromev1alpha1.GroupName, FieldManager: polychromev1alpha1.FieldManager,
			MetricPrefix: "polychrome", Component: "polychrome-controller",
		},
		Connections: connections,
		Log:         slog.New(slog.NewTextHandler(w.t.Output(), nil)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	clients, err := reconcilers.NewClients(connections)
	if err != nil {
		w.t.Fatal(err)
	}
	idle := reconcilers.AddApps(manager, clients, w.namespace, 0)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
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
	return &process{stop: stop, idle: idle, requests: requests}
}

// asked renders what the controller has asked, but for watches.
func (p *process) asked(kinds ...func(frameworktest.Request) bool) []string {
	var asked []string
	for _, r := range p.requests.Requests(append(kinds, frameworktest.Unary)...) {
		asked = append(asked, strings.TrimSpace(fmt.Sprint(r.Verb, " ", r.Path)))
	}
	return asked
}

// rests waits until there is nothing left to do.
func (w *world) rests(p *process) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		if !p.idle() {
			return fmt.Errorf("the controller is at work")
		}
		return nil
	})
}

func (w *world) service(name string, spec polychromev1alpha1.ServiceDefinitionSpec) {
	w.t.Helper()
	svc := &polychromev1alpha1.ServiceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	if _, err := w.apps.ServiceDefinitions(w.namespace).Create(w.t.Context(), svc, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) workflow(name string, stages ...polychromev1alpha1.WorkflowStage) {
	w.t.Helper()
	wf := &polychromev1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: polychromev1alpha1.WorkflowSpec{Stages: stages}}
	if _, err := w.apps.Workflows(w.namespace).Create(w.t.Context(), wf, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// stage is a stage that waits for others.
func stage(name, image string, dependsOn ...string) polychromev1alpha1.WorkflowStage {
	return polychromev1alpha1.WorkflowStage{Name: name, Image: image, DependsOn: dependsOn}
}

// patches changes a Workflow.
func (w *world) patches(name, patch string) {
	w.t.Helper()
	if _, err := w.apps.Workflows(w.namespace).Patch(w.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// finds waits for a Workflow to be as it should be.
func (w *world) finds(name, what string, is func(*polychromev1alpha1.Workflow) bool) *polychromev1alpha1.Workflow {
	w.t.Helper()
	var found *polychromev1alpha1.Workflow
	cluster.Eventually(w.t, settle, func() error {
		wf, err := w.apps.Workflows(w.namespace).Get(w.t.Context(), name, metav1.GetOptions{})
		switch {
		case err != nil:
			return err
		case wf.Status.ObservedGeneration != wf.Generation || !is(wf):
			return fmt.Errorf("workflow %s is not %s: %+v", name, what, wf.Status)
		}
		found = wf
		return nil
	})
	return found
}

func ready(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, "Ready")
}
