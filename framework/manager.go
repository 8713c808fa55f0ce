package framework

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// ManagerOptions describe the process around the controllers.
type ManagerOptions struct {
	// Names are the program's names. Required.
	Names Names
	// Version of the program, for build_info.
	Version string
	// Connections reach the API server; see Connect. Without them, as over
	// fake clientsets, every API counts as served.
	Connections Connections
	// Election makes one of several processes work. Nil leads at once.
	Election *Election
	// ReadOnly fills the caches and never leads: no pass runs, and every
	// write is refused. It is for previews of a live cluster.
	ReadOnly bool
	// Log takes what happens. Default slog.Default().
	Log *slog.Logger
	// Clock is the time of passes, waits and backoffs. Watches and the lease
	// live by the real one, as the API server does. Default the real one.
	Clock clock.WithTicker
	// Events tells users of transitions. Nil tells nobody.
	Events record.EventRecorder
	// Registry takes the metrics. Default a new one.
	Registry *prometheus.Registry
	// Health serves /healthz, /livez and /readyz, and nothing else. Nil
	// serves none.
	Health net.Listener
	// Metrics serves /metrics and /debug/decisions. Nil serves none.
	Metrics net.Listener
	// DrainTimeout bounds how long passes in flight may take once the
	// process shall stop. Default 20 s.
	DrainTimeout time.Duration
}

// Manager runs resources and controllers in one process: caches first, then
// leadership, then passes; and on the way down passes, leadership, caches.
type Manager struct {
	ManagerOptions
	metrics     *metrics
	decisions   *decisionLog
	discovery   rest.Interface
	leads       atomic.Bool
	resources   []runnable
	controllers []controller
}

// runnable is a resource as the manager sees it.
type runnable interface {
	source
	run(context.Context)
	cache() Cache
}

// controller is a Controller as the manager sees it.
type controller interface {
	name() string
	run(stop, work context.Context)
	turned(sourceChanged bool)
	Idle() bool
	backingOff() int
	why(key Key) Why
	previews(ctx context.Context, selects func(Key) bool) []Preview
}

// NewManager prepares a process. Resources and controllers are then made
// with it, and Run runs them.
func NewManager(o ManagerOptions) (*Manager, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.DrainTimeout <= 0 {
		o.DrainTimeout = 20 * time.Second
	}
	m := &Manager{ManagerOptions: o, metrics: newMetrics(o.Names.MetricPrefix, o.Version), decisions: newDecisionLog()}
	m.metrics.register(o.Registry)
	if o.Connections.watches != nil {
		o.Registry.MustRegister(newWatchAges(o.Names.MetricPrefix, o.Connections.watches))
	}
	if o.Connections.Unary != nil {
		discovery, err := discoveryClient(o.Connections.Unary)
		if err != nil {
			return nil, fmt.Errorf("making the discovery client: %w", err)
		}
		m.discovery = discovery
	}
	return m, nil
}

// Leading reports whether this process does the work.
func (m *Manager) Leading() bool { return m.leads.Load() }

func (m *Manager) add(r runnable) { m.resources = append(m.resources, r) }

func (m *Manager) addController(c controller) { m.controllers = append(m.controllers, c) }

func (m *Manager) restarter(resource schema.GroupResource, namespace string) func() {
	watches := m.Connections.watches
	return func() {
		if watches != nil {
			watches.restart(resource.Group, resource.Resource, namespace)
		}
	}
}

// Run works until ctx ends, then drains: no new pass starts, passes in
// flight finish, leadership is released, and only then it returns. It
// returns an error when the process cannot go on, such as a lost lease.
func (m *Manager) Run(ctx context.Context) error {
	stop, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	caches, endCaches := context.WithCancel(context.WithoutCancel(ctx))
	work, endWork := context.WithCancel(caches)
	var background, passes sync.WaitGroup
	defer background.Wait()
	defer endCaches()
	defer endWork()

	m.serve(caches, &background, fail)
	if m.Connections.watches != nil {
		background.Go(func() { m.Connections.watches.run(caches, clock.RealClock{}) })
	}
	for _, r := range m.resources {
		background.Go(func() { r.run(caches) })
	}
	for _, c := range m.controllers {
		passes.Go(func() {
			c.run(stop, work)
			if stop.Err() == nil {
				fail(fmt.Errorf("controller %s ended unexpectedly", c.name()))
			}
		})
	}
	endLeading := m.lead(stop, caches, &background, fail)
	<-stop.Done()
	if errors.Is(context.Cause(stop), errLostLease) {
		// Somebody else may lead from now on: nothing may be finished.
		endWork()
	}
	m.Log.Info("stopping: finishing the passes in flight")
	m.drain(&passes, endWork)
	endLeading()
	if cause := context.Cause(stop); !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return nil
}

// drain waits for the passes in flight, for at most DrainTimeout.
func (m *Manager) drain(passes *sync.WaitGroup, endWork func()) {
	timer := time.AfterFunc(m.DrainTimeout, func() {
		m.Log.Warn("passes still in flight are cut off", "after", m.DrainTimeout)
		endWork()
	})
	defer timer.Stop()
	passes.Wait()
}

// Warm waits until the state of every resource has been found out; false when
// ctx ends first.
func (m *Manager) Warm(ctx context.Context) bool {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		warm := true
		for _, r := range m.resources {
			warm = warm && r.looked()
		}
		if warm {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

func (m *Manager) setLeading(leading bool) {
	m.leads.Store(leading)
	m.metrics.leader.Set(boolAsFloat(leading))
	for _, c := range m.controllers {
		c.turned(false)
	}
}

// discoveryClient asks for paths of any group, and reads errors.
func discoveryClient(config *rest.Config) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	return rest.UnversionedRESTClientFor(config)
}
