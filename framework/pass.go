package framework

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/drift"
	"polychrome.dev/controller/framework/mergepatch"
)

// pass runs the beats for one key: observe, plan, act, status, events.
func (c *Controller[T, W, A]) pass(ctx context.Context, key Key, v visit) (out outcome) {
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
	ctx, throttle := withRetryAfter(ctx)
	defer func() {
		if value := recover(); value != nil {
			out.err = &panicError{value: value, stack: debug.Stack()}
		}
		switch {
		case errors.Is(out.err, errPaced):
			out.err, out.paced, out.deadline = nil, true, out.wait
			out.wait = sooner(max(c.loop.turn(key), time.Millisecond), out.deadline)
		case out.err == nil && v.hot && len(rec.touches) > 0:
			out.err = errFlapping
		}
		out.notes, out.touches, out.writes = rec.notes, rec.touches, rec.writes
		out.retryAfter = max(throttle.Duration(), retryAfterOf(out.err))
		c.report(ctx, key, v, out)
	}()
	bad, broken := c.Resource.brokenBy(obj)
	switch {
	case c.paused(obj):
		return c.pause(ctx, obj, rec, broken)
	case broken:
		return c.reportBroken(ctx, obj, bad)
	}
	return c.beats(ctx, obj, rec, v)
}

// pause says that nothing is done, and remembers what would be. Nothing can be
// said of an object whose status is not known.
func (c *Controller[T, W, A]) pause(ctx context.Context, obj T, rec *recorder, broken bool) outcome {
	out := outcome{paused: true}
	if broken {
		return out
	}
	if world, err := c.reconciler.Observe(ctx, obj); err == nil {
		plan := c.reconciler.Plan(c.clock.Now(), obj, world)
		out.decision, out.actions = plan.Decision, words(plan.Actions)
	}
	out.err = c.say(ctx, obj, obj, rec, remark{said: pausedCondition(c.pausedBy, obj)})
	return out
}

// stop ends a pass that was about to write in circles.
func (c *Controller[T, W, A]) stop(ctx context.Context, obj T, rec *recorder, paths []string) error {
	said := condition(ConditionHotLoop, ReasonFlapping, "written again and again although nobody else changes anything: "+list(paths))
	return cmp.Or(c.say(ctx, obj, obj, rec, remark{said: said}), errFlapping)
}

func (c *Controller[T, W, A]) beats(ctx context.Context, obj T, rec *recorder, v visit) (out outcome) {
	now := c.clock.Now()
	world, err := c.reconciler.Observe(ctx, obj)
	if err != nil {
		out.err = c.unobserved(ctx, obj, fmt.Errorf("observing: %w", err), rec)
		return out
	}
	plan := c.reconciler.Plan(now, obj, world)
	out.planned, out.decision, out.waitFor, out.actions = now, plan.Decision, plan.WaitFor, words(plan.Actions)
	if !plan.Spread {
		out.wait = plan.Wait
	}
	switch {
	case len(plan.Actions) > 0 && v.flapping != nil:
		out.err = c.stop(ctx, obj, rec, v.flapping)
		return out
	case c.early(obj, plan):
		out.err = errPaced
		return out
	}
	done, wait, err := c.act(ctx, obj, plan)
	out.tried, out.wait, out.err = len(done), wait, err
	if !rec.gone && !IsConflict(err) {
		desired := c.reconciler.Status(now, obj, world, done)
		statusErr := c.say(ctx, obj, desired, rec, remark{err: err, hot: v.hot, said: unheldCondition(rec.unheld), flapping: v.flapping})
		if errors.Is(statusErr, errFlapping) {
			statusErr = c.stop(ctx, obj, rec, v.flapping)
		}
		if statusErr != nil {
			out.err = unsaid(err, statusErr)
			return out
		}
	}
	events := plan.Events
	for _, d := range done {
		events = append(events[:len(events):len(events)], d.Result.Events...)
	}
	c.tell(obj, c.loop.untold(keyOf(obj), obj.GetUID(), events))
	return out
}

// early reports whether the actions have to wait for their turn.
func (c *Controller[T, W, A]) early(obj T, plan Plan[A]) bool {
	return len(plan.Actions) > 0 && !plan.Unpaced && c.loop.turn(keyOf(obj)) > 0
}

// act carries the plan out; the first failure ends it. It returns the
// soonest wait of plan and results.
func (c *Controller[T, W, A]) act(ctx context.Context, obj T, plan Plan[A]) ([]Done[A], time.Duration, error) {
	wait := plan.Wait
	if plan.Spread {
		wait = spread(c.clock.Now(), wait, string(obj.GetUID()))
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

// unobserved ends a pass that could not see its world. Our own verdict shows
// in the status, for nothing else will be tried before new input; so does a
// missing right, which only people can grant, unless the object was ready: a
// cache that cannot be read is no sign that it is not any more.
func (c *Controller[T, W, A]) unobserved(ctx context.Context, obj T, err error, rec *recorder) error {
	switch Classify(err) {
	case ClassTerminal:
	case ClassForbidden:
		if meta.IsStatusConditionTrue(*c.Conditions(obj), ConditionReady) {
			return err
		}
	default:
		return err
	}
	if statusErr := c.say(ctx, obj, obj, rec, remark{err: err}); statusErr != nil {
		return unsaid(err, statusErr)
	}
	return err
}

// say writes the status that follows from a pass, with what the framework has
// to add, then tells of a transition.
func (c *Controller[T, W, A]) say(ctx context.Context, obj, desired T, rec *recorder, v remark) error {
	full, status, paths, err := c.saying(obj, desired, v)
	switch {
	case err != nil || status == nil:
		return err
	case v.flapping != nil:
		return errFlapping
	case rec.writes == 0 && c.loop.turn(keyOf(obj)) > 0:
		return errPaced
	}
	answer, err := c.Resource.patchStatus(ctx, obj, rec.version, status, paths)
	if err != nil {
		return err
	}
	if c.Resource.learnDropped(status, answer) {
		// The next pass says so, although nothing may have changed.
		c.loop.queue.add(keyOf(obj), causeAgain)
	}
	c.tell(obj, readyEvent(*c.Conditions(obj), *c.Conditions(full)))
	return nil
}

// saying is the whole status to be written, as the patch that it takes and the
// paths that this changes; no patch when there is none. What the server is
// known to drop is said, and is no reason to write.
func (c *Controller[T, W, A]) saying(obj, desired T, v remark) (full T, status map[string]any, paths []string, err error) {
	now := c.clock.Now()
	full = withRemark(c.Options, obj, desired, v, now)
	status, paths, err = c.statusDiff(obj, full)
	lost := c.Resource.dropped(paths)
	if err != nil || len(lost) == 0 {
		return full, status, paths, err
	}
	v.said = append(v.said, prunedCondition(lost)...)
	full = withRemark(c.Options, obj, desired, v, now)
	status, paths, err = c.statusDiff(obj, full)
	if err != nil || len(paths) > len(lost) {
		return full, status, paths, err
	}
	gone, err := removed(obj, full)
	if err != nil || gone {
		return full, status, paths, err
	}
	return full, nil, nil, nil
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

// errPaced ends a pass before a status write whose turn has not come.
var errPaced = errors.New("waiting for a turn to write")

// statusDiff returns the merge patch between two statuses, nil for none, and
// the paths it changes.
func (c *Controller[T, W, A]) statusDiff(obj, desired T) (map[string]any, []string, error) {
	if desired == obj {
		return nil, nil, nil
	}
	diff, err := mergepatch.Diff(obj, desired)
	if err != nil {
		return nil, nil, fmt.Errorf("comparing the status: %w", err)
	}
	status, changed := diff["status"].(map[string]any)
	if !changed {
		return nil, nil, nil
	}
	have, err := drift.ToMap(obj)
	if err != nil {
		return nil, nil, fmt.Errorf("comparing the status: %w", err)
	}
	return status, drift.Missing(map[string]any{"status": status}, have), nil
}

// removed reports whether full lacks anything of the status of obj, which the
// paths of a change do not show.
func removed(obj, full any) (bool, error) {
	have, err := drift.ToMap(obj)
	if err != nil {
		return false, fmt.Errorf("comparing the status: %w", err)
	}
	want, err := drift.ToMap(full)
	if err != nil {
		return false, fmt.Errorf("comparing the status: %w", err)
	}
	return len(drift.Missing(map[string]any{"status": have["status"]}, want)) > 0, nil
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

// report logs a pass that tried to change something; one that did not is debug
// talk.
func (c *Controller[T, W, A]) report(ctx context.Context, key Key, v visit, out outcome) {
	level := slog.LevelDebug
	if out.writes > 0 {
		level = slog.LevelInfo
	}
	if !c.log.Enabled(ctx, level) {
		return
	}
	c.log.Log(ctx, level, "pass", "key", key.String(), "causes", v.causes.words(c.loop.sources), "decision", out.decision,
		"actions", out.actions, "outcome", out.word(), "writes", out.writes)
}

// words renders actions for people.
func words[A any](actions []A) []string {
	if len(actions) == 0 {
		return nil
	}
	out := make([]string, 0, len(actions))
	for _, action := range actions {
		out = append(out, fmt.Sprint(action))
	}
	return out
}

func stackOf(err error) string {
	var panicked *panicError
	if errors.As(err, &panicked) {
		return string(panicked.stack)
	}
	return ""
}
