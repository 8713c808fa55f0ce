package framework_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/framework/owners"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// patience bounds every wait of these tests.
const patience = 2 * time.Minute

// names are those of the program under test.
var names = framework.Names{Domain: "example.test", FieldManager: "example.test/controller", MetricPrefix: "fw", Component: "fw"}

func TestMain(m *testing.M) {
	flag.Parse()
	// These tests wait more than they work.
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	framework.RouteKlog(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// rigOptions vary a rig. The zero value is a manager of widgets on the shared
// cluster, in a namespace of its own, that follows the standard script.
type rigOptions struct {
	// config is an administrator's access; access that of the program.
	config, access *rest.Config
	namespace      string
	election       *framework.Election
	events         record.EventRecorder
	// script makes what the reconciler does.
	script func(*rig) *script
	// widgets is the resource of the widgets.
	widgets schema.GroupVersionResource
	// selector is the ConfigMaps'.
	selector string
	// optional makes ConfigMaps optional.
	optional bool
	// deployments has the controller watch them too.
	deployments bool
	workers     int
	passTimeout time.Duration
	// resync is how often the informers hand on everything anew.
	resync time.Duration
	// manager has the last word on the manager's options.
	manager func(*framework.ManagerOptions)
	// beside is a rig whose program this one's controller runs in, too.
	beside *rig
}

// rig is one program under test and its user.
type rig struct {
	t *testing.T
	rigOptions
	faults   *frameworktest.Transport
	registry *prometheus.Registry
	log      *logBuffer

	// The user's access, without faults.
	user    *widget.Client
	kube    kubernetes.Interface
	program *framework.Manager

	parents    *framework.Resource[*widget.Widget]
	configMaps *framework.Resource[*corev1.ConfigMap]
	deploys    *framework.Resource[*appsv1.Deployment]
	controller *framework.Controller[*widget.Widget, world, action]

	// trigger starts passes.
	trigger framework.Trigger

	stop  context.CancelFunc
	ended chan struct{}
	err   error
}

// newRig makes a rig; run starts it.
func newRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	if o.config == nil {
		o.config = cluster.Shared(t)
		define(t, o.config)
	}
	if o.access == nil {
		o.access = o.config
	}
	if o.namespace == "" {
		o.namespace = cluster.Namespace(t, o.config)
	}
	if o.widgets.Empty() {
		o.widgets = widget.Widgets
	}
	if o.script == nil {
		o.script = standard
	}
	r := &rig{t: t, rigOptions: o, faults: frameworktest.NewTransport(), registry: prometheus.NewRegistry(), log: &logBuffer{}}
	r.kube = must(kubernetes.NewForConfig(o.config))
	if o.beside != nil {
		r.faults, r.registry, r.log = o.beside.faults, o.beside.registry, o.beside.log
	}
	r.user = &widget.Client{REST: must(widget.REST(o.config)), Namespace: o.namespace, Resource: o.widgets.Resource}
	r.assemble()
	return r
}

// assemble makes the program under test, as its main would.
func (r *rig) assemble() {
	config := rest.CopyConfig(r.access)
	config.Wrap(r.faults.Wrap)
	connections := framework.Connect(config)
	options := framework.ManagerOptions{
		Names: names, Version: "test", Connections: connections, Election: r.election,
		Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Events: r.events, Registry: r.registry,
	}
	if r.manager != nil {
		r.manager(&options)
	}
	if r.beside != nil {
		r.program = r.beside.program
	} else {
		r.program = must(framework.NewManager(options))
	}
	r.resources(connections)
	watches := []framework.Watch{framework.Watches(r.configMaps, ownerOf[*corev1.ConfigMap])}
	if r.deployments {
		watches = append(watches, framework.Watches(r.deploys, ownerOf[*appsv1.Deployment]))
	}
	r.controller = framework.New(r.program, framework.Options[*widget.Widget]{
		Name: r.widgets.Resource, Resource: r.parents, Watches: watches, Workers: r.workers, PassTimeout: r.passTimeout,
		Triggers:   []*framework.Trigger{&r.trigger},
		Conditions: func(w *widget.Widget) *[]metav1.Condition { return &w.Status.Conditions },
	}, r.script(r))
}

func (r *rig) resources(connections framework.Connections) {
	unary, watch := must(kubernetes.NewForConfig(connections.Unary)), must(kubernetes.NewForConfig(connections.Watch))
	parents := must(widget.REST(connections.Watch))
	kind := map[string]string{widget.Widgets.Resource: widget.Kind, widget.LooseWidgets.Resource: "LooseWidget"}[r.widgets.Resource]
	r.parents = framework.NewResource(r.program, framework.ResourceOptions[*widget.Widget]{
		Resource: r.widgets, Kind: kind, Namespace: r.namespace,
		Client: &widget.Client{REST: must(widget.REST(connections.Unary)), Namespace: r.namespace, Resource: r.widgets.Resource},
		Informer: func(decoded func(*widget.Widget, []byte, error)) cache.SharedIndexInformer {
			lw := framework.TolerantListWatch(parents, r.namespace, r.widgets.Resource, decoded)
			return cache.NewSharedIndexInformer(lw, &widget.Widget{}, r.resync, cache.Indexers{})
		},
	})
	var tweak internalinterfaces.TweakListOptionsFunc
	var selector labels.Selector
	if r.selector != "" {
		selector = must(labels.Parse(r.selector))
		tweak = func(o *metav1.ListOptions) { o.LabelSelector = r.selector }
	}
	r.configMaps = framework.NewResource(r.program, framework.ResourceOptions[*corev1.ConfigMap]{
		Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap", Namespace: r.namespace,
		Client: unary.CoreV1().ConfigMaps(r.namespace),
		Informer: func(func(*corev1.ConfigMap, []byte, error)) cache.SharedIndexInformer {
			return coreinformers.NewFilteredConfigMapInformer(watch, r.namespace, r.resync, cache.Indexers{}, tweak)
		},
		Selector: selector, Optional: r.optional,
	})
	if !r.deployments {
		return
	}
	r.deploys = framework.NewResource(r.program, framework.ResourceOptions[*appsv1.Deployment]{
		Resource: appsv1.SchemeGroupVersion.WithResource("deployments"), Kind: "Deployment", Namespace: r.namespace,
		Client: unary.AppsV1().Deployments(r.namespace),
		Informer: func(func(*appsv1.Deployment, []byte, error)) cache.SharedIndexInformer {
			return appsinformers.NewDeploymentInformer(watch, r.namespace, 0, cache.Indexers{})
		},
	})
}

// run starts the program and stops it at the end of the test.
func (r *rig) run() *rig {
	r.t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(r.t.Context()))
	r.stop, r.ended = stop, make(chan struct{})
	go func() {
		defer close(r.ended)
		r.err = r.program.Run(ctx)
	}()
	r.t.Cleanup(func() {
		stop()
		<-r.ended
		if r.t.Failed() {
			r.t.Logf("the log ends with:\n%s", r.log.tail(3000))
		}
	})
	return r
}

// start makes a rig and runs it.
func start(t *testing.T, o rigOptions) *rig {
	t.Helper()
	return newRig(t, o).run()
}

// ownerOf maps a child to the widget that controls it.
func ownerOf[C metav1.Object](child C) []framework.Key {
	reference, ok := owners.Controller(child)
	if !ok {
		return nil
	}
	return []framework.Key{{Namespace: child.GetNamespace(), Name: reference.Name}}
}

var (
	defineOnce sync.Once
	defineErr  error
)

// define has the shared cluster know the widgets.
func define(t *testing.T, config *rest.Config) {
	t.Helper()
	defineOnce.Do(func() {
		ctx := context.Background()
		defineErr = errors.Join(widget.Define(ctx, config), widget.DefineLoose(ctx, config))
	})
	if defineErr != nil {
		t.Fatalf("defining the widgets: %v", defineErr)
	}
}

func must[V any](value V, err error) V {
	if err != nil {
		panic(fmt.Sprintf("setting up: %v", err))
	}
	return value
}

// logBuffer keeps what a program logs.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logBuffer) tail(size int) string {
	text := l.String()
	if len(text) <= size {
		return text
	}
	_, lines, _ := strings.Cut(text[len(text)-size:], "\n")
	return lines
}
