package toolservice

import (
	"context"
	"log/slog"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// ToolServices is what the reconciler asks of the kind it reconciles; a
// framework.Resource provides it.
type ToolServices interface {
	OnChange(handler func(ts *polychromev1alpha1.ToolService, deleted bool))
	AddFinalizer(ctx context.Context, ts *polychromev1alpha1.ToolService, finalizer string) error
	RemoveFinalizer(ctx context.Context, ts *polychromev1alpha1.ToolService, finalizer string) error
}

// Options are what a Reconciler is made of.
type Options struct {
	// ToolServices reads and writes the reconciled kind. Required.
	ToolServices ToolServices
	// Secrets reads the Secrets beside the ToolServices. Required.
	Secrets Secrets
	// AllowLoopback lets servers be on this very host, for development.
	AllowLoopback bool
	// APIServer are the addresses of the API server, host:port, which are never
	// probed.
	APIServer []string
	// Probe asks one server. A prober made of the options above if nil.
	Probe func(ctx context.Context, t probe.Target) probe.Result
	// Wake asks for a pass of each key; it is called when a probe has ended.
	// Required.
	Wake func(keys ...framework.Key)
	// Now is the clock. time.Now if nil.
	Now func() time.Time
	// Log takes what happens. slog.Default() if nil.
	Log *slog.Logger
}

// Reconciler drives ToolServices. It implements framework.Reconciler.
type Reconciler struct {
	rules
	toolServices ToolServices
	prober       *prober
}

var _ framework.Reconciler[*polychromev1alpha1.ToolService, World, Action] = (*Reconciler)(nil)

// New makes a Reconciler and subscribes it to changes of ToolServices. Call it
// before the caches start: what it has not heard of is not probed.
func New(o Options) *Reconciler {
	if o.Probe == nil {
		o.Probe = probe.New(probe.Options{AllowLoopback: o.AllowLoopback, APIServer: o.APIServer}).Probe
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	process, end := context.WithCancel(context.Background())
	r := &Reconciler{
		rules:        rules{allowLoopback: o.AllowLoopback},
		toolServices: o.ToolServices,
		prober: &prober{
			probe: o.Probe, secrets: o.Secrets, wake: o.Wake, now: o.Now, log: o.Log,
			process: process, end: end, slots: make(chan struct{}, maxFlights),
			known: map[framework.Key]*entry{},
		},
	}
	o.ToolServices.OnChange(r.prober.see)
	return r
}

// Probes are the probes that run beside the passes.
func (r *Reconciler) Probes() framework.Background { return r.prober }
