package framework

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Why is why an object is as it is: what it waits for, and what was decided.
type Why struct {
	// State is a word for what goes on: "not leading", "dormant", "absent",
	// "parked", "backing off", "terminal", "hot loop", "paused", "due",
	// "waiting" or "settled".
	State string `json:"state"`
	// Detail is a sentence on State.
	Detail string `json:"detail"`
	// Until is when that ends by itself; nil when only a change ends it.
	Until *time.Time `json:"until,omitempty"`
	// Decisions are the object's, oldest first.
	Decisions []Decision `json:"decisions"`
}

// Why explains an object of a controller. It reads memory only.
func (m *Manager) Why(controller string, key Key) (Why, error) {
	c, err := m.controllerNamed(controller)
	if err != nil {
		return Why{}, err
	}
	why := c.why(key)
	why.Decisions = m.decisions.of(func(d *Decision) bool {
		return d.Controller == controller && d.Namespace == key.Namespace && d.Name == key.Name
	})
	if why.State != "" {
		return why, nil
	}
	why.State, why.Detail = "settled", "nothing is to be done before something changes"
	if last := len(why.Decisions) - 1; last >= 0 && why.Decisions[last].Next > 0 {
		d := why.Decisions[last]
		until := d.Last.Add(d.Took + d.Next)
		why.State, why.Detail, why.Until = "waiting", "the next look is for: "+d.NextFor, &until
	}
	return why, nil
}

// Decisions are those that the process remembers of all its objects, oldest
// first.
func (m *Manager) Decisions() []Decision {
	return m.decisions.of(func(*Decision) bool { return true })
}

func (m *Manager) controllerNamed(name string) (controller, error) {
	names := make([]string, 0, len(m.controllers))
	for _, c := range m.controllers {
		if c.name() == name {
			return c, nil
		}
		names = append(names, c.name())
	}
	return nil, fmt.Errorf("no controller %q; there are %s", name, strings.Join(names, ", "))
}

func (c *Controller[T, W, A]) why(key Key) Why {
	if !c.leading() {
		return Why{State: "not leading", Detail: "this process stands by; another one does the work"}
	}
	if s := c.missing(); s != nil {
		return Why{State: "dormant", Detail: fmt.Sprintf("%s cannot be read: %s", s.resourceName(), reasonOf(s))}
	}
	id, exists := c.identify(key)
	if !exists {
		return Why{State: "absent", Detail: "the cache has no such object"}
	}
	if why := c.loop.why(key, id); why.State != "" {
		return why
	}
	if id.paused {
		return Why{State: "paused", Detail: "the annotation " + c.pausedBy + " stops all writes"}
	}
	return Why{}
}

func reasonOf(s source) string {
	if err := s.Err(); err != nil {
		return causeChain(err)
	}
	return "its API is " + s.State().String()
}

// why tells what keeps a key from its next pass, with no state when nothing
// does.
func (l *loop) why(key Key, id identity) Why {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.keys[key]
	if _, parked := l.parked[key]; parked && state != nil {
		var late []string
		for _, n := range state.notes {
			late = append(late, n.view.resourceName())
		}
		return Why{State: "parked", Detail: fmt.Sprintf("since %s the cache of %s has not shown our own last write",
			state.parkedSince.UTC().Format(time.RFC3339), strings.Join(late, ", "))}
	}
	if state != nil && state.failed == id && (state.failures > 0 || state.terminal) {
		return state.why()
	}
	if l.queue.isDue(key) {
		return Why{State: "due", Detail: "a pass is about to run"}
	}
	return Why{}
}

func (s *keyState) why() Why {
	until := s.notBefore
	switch {
	case s.terminal:
		return Why{State: "terminal", Detail: "nothing is tried before the object changes"}
	case s.hot:
		return Why{State: "hot loop", Detail: "it was written again and again although nobody else changed anything", Until: &until}
	}
	return Why{State: "backing off", Detail: fmt.Sprintf("%d failures in a row", s.failures), Until: &until}
}

// Preview is what a pass would do now.
type Preview struct {
	Controller string `json:"controller"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	// Decision, Actions, Wait and WaitFor are the plan.
	Decision string        `json:"decision,omitempty"`
	Actions  []string      `json:"actions,omitempty"`
	Wait     time.Duration `json:"waitNanoseconds,omitempty"`
	WaitFor  string        `json:"waitFor,omitempty"`
	// Status is the merge patch that the status would get; it is told only
	// when there are no actions, on whose results it depends.
	Status map[string]any `json:"status,omitempty"`
	// Paused is set when nothing of it would be carried out.
	Paused bool `json:"paused,omitempty"`
	// Error is why nothing could be decided.
	Error string `json:"error,omitempty"`
}

// Changes reports whether the pass would write anything.
func (p Preview) Changes() bool { return !p.Paused && (len(p.Actions) > 0 || len(p.Status) > 0) }

// Previews tells what a pass of each selected object would do now, also while
// the process does not lead; see ManagerOptions.ReadOnly. It reads caches and
// writes nothing. A controller whose caches are not all there has one preview
// without a name, whose Error says so.
func (m *Manager) Previews(ctx context.Context, selects func(controller string, key Key) bool) []Preview {
	var previews []Preview
	for _, c := range m.controllers {
		previews = append(previews, c.previews(ctx, func(key Key) bool { return selects(c.name(), key) })...)
	}
	return previews
}

func (c *Controller[T, W, A]) previews(ctx context.Context, selects func(Key) bool) []Preview {
	if s := c.missing(); s != nil {
		return []Preview{{Controller: c.Name, Error: fmt.Sprintf("%s cannot be read: %s", s.resourceName(), reasonOf(s))}}
	}
	var previews []Preview
	for _, obj := range c.Resource.List() {
		if key := keyOf(obj); selects(key) {
			p := Preview{Controller: c.Name, Namespace: key.Namespace, Name: key.Name, Paused: c.paused(obj)}
			c.preview(ctx, obj, &p)
			previews = append(previews, p)
		}
	}
	return previews
}

func (c *Controller[T, W, A]) preview(ctx context.Context, obj T, p *Preview) {
	defer func() {
		if value := recover(); value != nil {
			p.Error = (&panicError{value: value}).Error()
		}
	}()
	if bad, broken := c.Resource.brokenBy(obj); broken {
		p.Error = bad.err.Error()
		return
	}
	now := c.clock.Now()
	world, err := c.reconciler.Observe(ctx, obj)
	if err != nil {
		p.Error = causeChain(err)
		return
	}
	plan := c.reconciler.Plan(now, obj, world)
	p.Decision, p.Actions, p.Wait, p.WaitFor = plan.Decision, words(plan.Actions), plan.Wait, plan.WaitFor
	if len(plan.Actions) > 0 {
		return
	}
	desired := c.reconciler.Status(now, obj, world, nil)
	if _, p.Status, _, err = c.saying(obj, desired, remark{hot: true}); err != nil {
		p.Error = causeChain(err)
	}
}
