package framework

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/mergepatch"
)

// pass runs the beats for one key: observe, plan, act, status, events.
func (c *Controller[T, W, A]) pass(ctx context.Context, key Key) (out outcome) {
	obj, exists := c.Resource.Get(key.Namespace, key.Name)
	if !exists {
		return outcome{}
	}
	rec := &recorder{
		uid: obj.GetUID(), version: obj.GetResourceVersion(),
		alive:     func() bool { return c.stands(obj) },
		unchanged: func(answer metav1.Object) bool { return sameButMetadata(obj, answer) },
	}
	ctx, cancel := context.WithTimeout(withRecorder(ctx, rec), c.PassTimeout)
	defer cancel()
	ctx, throttle := WithRetryAfter(ctx)
	defer func() {
		if value := recover(); value != nil {
			out.err = &panicError{value: value, stack: debug.Stack()}
		}
		out.notes = rec.notes
		out.retryAfter = max(throttle.Duration(), retryAfterOf(out.err))
	}()
	if bad, broken := c.Resource.brokenBy(obj); broken {
		return c.reportBroken(ctx, obj, bad)
	}
	return c.beats(ctx, obj, rec)
}

func (c *Controller[T, W, A]) beats(ctx context.Context, obj T, rec *recorder) outcome {
	now := c.clock.Now()
	world, err := c.reconciler.Observe(ctx, obj)
	if err != nil {
		return outcome{err: c.unobserved(ctx, obj, fmt.Errorf("observing: %w", err), rec)}
	}
	plan := c.reconciler.Plan(now, obj, world)
	done, wait, err := c.act(ctx, obj, plan)
	events := plan.Events
	for _, d := range done {
		events = append(events[:len(events):len(events)], d.Result.Events...)
	}
	if !rec.gone && !IsConflict(err) {
		desired := withVerdict(c.Options, obj, c.reconciler.Status(now, obj, world, done), err, now)
		if statusErr := c.say(ctx, obj, desired, rec); statusErr != nil {
			return outcome{err: unsaid(err, statusErr)}
		}
	}
	c.tell(obj, c.loop.untold(keyOf(obj), obj.GetUID(), events))
	c.report(ctx, obj, plan.Decision, done, rec)
	return outcome{err: err, wait: wait}
}

// act carries the plan out; the first failure ends it. It returns the
// soonest wait of plan and results.
func (c *Controller[T, W, A]) act(ctx context.Context, obj T, plan Plan[A]) ([]Done[A], time.Duration, error) {
	wait := plan.Wait
	if plan.Spread {
		wait = spread(wait, string(obj.GetUID()))
	}
	var done []Done[A]
	for _, action := range plan.Actions {
		result, err := c.reconciler.Act(ctx, obj, action)
		if err != nil {
			return append(done, Done[A]{Action: action, Err: err}), 0, err
		}
		done = append(done, Done[A]{Action: action, Result: result})
		wait = sooner(wait, result.Wait)
	}
	return done, wait, nil
}

// unobserved ends a pass that could not see its world. Only our own verdict
// shows in the status: nothing else will ever be tried before new input, while
// a cache that cannot be read says nothing of the object.
func (c *Controller[T, W, A]) unobserved(ctx context.Context, obj T, err error, rec *recorder) error {
	if Classify(err) != ClassTerminal {
		return err
	}
	if statusErr := c.say(ctx, obj, withVerdict(c.Options, obj, obj, err, c.clock.Now()), rec); statusErr != nil {
		return unsaid(err, statusErr)
	}
	return err
}

// say writes the status that follows from a pass, then tells of a transition.
func (c *Controller[T, W, A]) say(ctx context.Context, obj, desired T, rec *recorder) error {
	wrote, err := c.writeStatus(ctx, obj, desired, rec)
	if err == nil && wrote {
		c.tell(obj, readyEvent(*c.Conditions(obj), *c.Conditions(desired)))
	}
	return err
}

// unsaid joins the error of a pass with that of its status write. A verdict
// that could not be written is not the last word and is left out: it would
// keep away the very pass that writes it.
func unsaid(err, statusErr error) error {
	if Classify(err) == ClassTerminal {
		return statusErr
	}
	return errors.Join(err, statusErr)
}

// writeStatus writes what differs between two statuses, if anything does.
func (c *Controller[T, W, A]) writeStatus(ctx context.Context, obj, desired T, rec *recorder) (bool, error) {
	if desired == obj {
		return false, nil
	}
	diff, err := mergepatch.Diff(obj, desired)
	if err != nil {
		return false, fmt.Errorf("comparing the status: %w", err)
	}
	status, changed := diff["status"]
	if !changed {
		return false, nil
	}
	return true, c.Resource.patchStatus(ctx, obj, rec.version, status)
}

// stands reports whether the cache still has this very object, not deleting.
func (c *Controller[T, W, A]) stands(obj T) bool {
	now, exists := c.Resource.Get(obj.GetNamespace(), obj.GetName())
	return exists && now.GetUID() == obj.GetUID() && now.GetDeletionTimestamp() == nil
}

// sameButMetadata reports whether nothing that a pass judges differs between
// an object and a later version of it.
func sameButMetadata(obj, later metav1.Object) bool {
	if obj.GetGeneration() != later.GetGeneration() {
		return false
	}
	diff, err := mergepatch.Diff(obj, later)
	for _, known := range []string{"apiVersion", "kind", "metadata"} {
		delete(diff, known)
	}
	return err == nil && len(diff) == 0
}

// report logs a pass that changed something; one that did not is debug talk.
func (c *Controller[T, W, A]) report(ctx context.Context, obj T, decision string, done []Done[A], rec *recorder) {
	level := slog.LevelDebug
	if rec.writes > 0 {
		level = slog.LevelInfo
	}
	if !c.log.Enabled(ctx, level) {
		return
	}
	actions := make([]string, 0, len(done))
	for _, d := range done {
		actions = append(actions, fmt.Sprint(d.Action))
	}
	c.log.Log(ctx, level, "pass", "key", keyOf(obj).String(), "decision", decision, "actions", actions, "writes", rec.writes)
}

func stackOf(err error) string {
	var panicked *panicError
	if errors.As(err, &panicked) {
		return string(panicked.stack)
	}
	return ""
}
