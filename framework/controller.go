package framework

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// Options describe a controller of objects of type T.
type Options[T Object] struct {
	// Name is the controller's name in logs and metrics. Required.
	Name string
	// Resource holds the reconciled objects. Required; it must not be
	// optional.
	Resource *Resource[T]
	// Watches are further sources whose events start passes.
	Watches []Watch
	// Triggers are sources that the reconciler fires itself.
	Triggers []*Trigger
	// Conditions reaches an object's conditions. Required.
	Conditions func(T) *[]metav1.Condition
	// Settled reports whether an object that this program has not looked at
	// was settled by an earlier one, that said so in another way. The rewrites
	// of settled objects are paced. Nil for no such program.
	Settled func(T) bool
	// Beside is what the reconciler does beside its passes. Nil for nothing.
	Beside Background
	// Workers is how many passes run at once. Default 8.
	Workers int
	// PassTimeout bounds one pass. Default 60 s.
	PassTimeout time.Duration
}

// Background is work that passes begin and do not wait for, such as asking
// other servers.
type Background interface {
	// Run returns once ctx has ended, and with it all that was begun. What a
	// pass begins later than that is not done.
	Run(ctx context.Context)
	// Busy reports whether anything is in work. What has ended fires its
	// Trigger first.
	Busy() bool
}

// Watch is a source of events: a resource and who is meant by its objects.
type Watch struct {
	attach func(hear func(Key, mark))
	source source
}

// source is what a controller needs to know of a resource it reads.
type source interface {
	State() State
	optional() bool
	looked() bool
	OnTurn(func())
	epoch() int
	resourceName() string
	Err() error
}

// Watches makes a source of events. mapper returns the keys that an object,
// also a deleted one, concerns; it must be pure and bear any object. Where it
// panics nobody is told of that event.
func Watches[C Object](r *Resource[C], mapper func(C) []Key) Watch {
	return Watch{
		source: r,
		attach: func(hear func(Key, mark)) {
			concern := func(obj C) {
				for _, key := range mapper(obj) {
					hear(key, markOf(obj))
				}
			}
			r.OnChange(func(obj C, _ bool) { concern(obj) })
			r.onMoved(concern)
		},
	}
}

// Controller runs one Reconciler over the objects of one resource.
type Controller[T Object, W, A any] struct {
	Options[T]
	reconciler Reconciler[T, W, A]
	loop       *loop
	pausedBy   string
	log        *slog.Logger
	clock      clock.WithTicker
	events     record.EventRecorder
	leading    func() bool
	sources    []source

	turning  sync.Mutex
	wasAwake bool
}

// New makes a controller that the manager runs. T, W and A follow from the
// arguments. It panics on a missing option: that is a programmer's mistake.
func New[T Object, W, A any](m *Manager, o Options[T], reconciler Reconciler[T, W, A]) *Controller[T, W, A] {
	if o.Name == "" || o.Resource == nil || o.Conditions == nil || reconciler == nil {
		panic(errors.New("framework: a controller needs Name, Resource, Conditions and a reconciler"))
	}
	if o.Workers <= 0 {
		o.Workers = 8
	}
	if o.PassTimeout <= 0 {
		o.PassTimeout = time.Minute
	}
	log := m.Log.With("controller", o.Name)
	c := &Controller[T, W, A]{
		Options: o, reconciler: reconciler, log: log, clock: m.Clock, events: m.Events,
		leading: m.Leading, sources: []source{o.Resource}, pausedBy: m.Names.paused(),
	}
	c.loop = newLoop(loopOptions{
		name: o.Name, workers: o.Workers, log: log, clock: m.Clock, metrics: m.metrics, decisions: m.decisions,
	})
	c.loop.awake = c.awake
	c.loop.identify = c.identify
	c.loop.pass = c.pass
	o.Resource.OnChange(func(obj T, _ bool) { c.loop.hear(keyOf(obj), markOf(obj), sourceCause(0)) })
	for i, w := range o.Watches {
		w.attach(func(key Key, m mark) { c.loop.hear(key, m, sourceCause(i+1)) })
		c.sources = append(c.sources, w.source)
	}
	if len(c.sources) > maxSources {
		panic(fmt.Errorf("framework: controller %s has more than %d sources", o.Name, maxSources))
	}
	for _, s := range c.sources {
		c.loop.sources = append(c.loop.sources, s.resourceName())
	}
	for _, t := range o.Triggers {
		t.connect(func(key Key) { c.loop.queue.add(key, causeTrigger) })
	}
	for _, s := range c.sources {
		s.OnTurn(func() { c.turned(true) })
	}
	m.addController(c)
	return c
}

// awake reports whether passes may run: this process leads, all that is
// required is cached, and all that is optional has been looked at.
func (c *Controller[T, W, A]) awake() bool { return c.leading() && c.missing() == nil }

// missing returns a source that passes cannot do without, nil if they have
// all they need.
func (c *Controller[T, W, A]) missing() source {
	for _, s := range c.sources {
		if s.optional() && !s.looked() || !s.optional() && s.State() != Served {
			return s
		}
	}
	return nil
}

// turned is called when something that awake depends on has changed. A
// controller that wakes looks at every object; one that falls asleep forgets.
func (c *Controller[T, W, A]) turned(sourceChanged bool) {
	c.turning.Lock()
	defer c.turning.Unlock()
	was, now := c.wasAwake, c.awake()
	c.wasAwake = now
	switch {
	case now && (!was || sourceChanged):
		c.log.Info("looking at every object", "workers", c.Workers)
		for _, obj := range c.Resource.List() {
			c.loop.begin(keyOf(obj), c.settled(obj))
		}
	case was && !now:
		c.log.Warn("asleep until what it needs is back")
		c.loop.reset()
	}
}

func (c *Controller[T, W, A]) identify(key Key) (identity, bool) {
	obj, exists := c.Resource.Get(key.Namespace, key.Name)
	if !exists {
		return identity{}, false
	}
	_, broken := c.Resource.brokenBy(obj)
	epoch := 0
	for _, s := range c.sources {
		epoch += s.epoch()
	}
	return identity{
		uid: obj.GetUID(), generation: obj.GetGeneration(), broken: broken, epoch: epoch,
		deleting: obj.GetDeletionTimestamp() != nil, paused: c.paused(obj),
	}, true
}

// settled reports whether an object has been looked at as it is.
func (c *Controller[T, W, A]) settled(obj T) bool {
	if obj.GetDeletionTimestamp() != nil {
		return false
	}
	ready := meta.FindStatusCondition(*c.Conditions(obj), ConditionReady)
	return ready != nil && ready.ObservedGeneration == obj.GetGeneration() || c.Settled != nil && c.Settled(obj)
}

// paused reports whether people stop the program from writing to an object.
func (c *Controller[T, W, A]) paused(obj T) bool { return obj.GetAnnotations()[c.pausedBy] == "true" }

func markOf(obj metav1.Object) mark {
	return mark{uid: obj.GetUID(), version: obj.GetResourceVersion()}
}

// Idle reports whether nothing is due, in work, parked or awaited from a
// cache. Objects that wait for a time or back off do not count. It is how a
// test knows that all is quiet without sleeping.
func (c *Controller[T, W, A]) Idle() bool {
	// What ends beside the passes makes a key due, so that is asked first.
	return c.awake() && (c.Beside == nil || !c.Beside.Busy()) && c.loop.idle()
}

func (c *Controller[T, W, A]) name() string { return c.Name }

// run works until stop ends; passes in flight are finished with work.
func (c *Controller[T, W, A]) run(stop, work context.Context) {
	c.turned(false)
	var beside sync.WaitGroup
	defer beside.Wait()
	if c.Beside != nil {
		beside.Go(func() { c.Beside.Run(stop) })
	}
	c.loop.run(stop, work)
}
