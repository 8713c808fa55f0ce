package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/conditions"
)

// remark is what the framework has to say of a pass.
type remark struct {
	// err is why the pass failed.
	err error
	// said are conditions beside the error's.
	said []metav1.Condition
	// hot keeps HotLoop although this pass has not added it.
	hot bool
	// flapping are the paths that were written too often already.
	flapping []string
}

// withRemark adds to a desired status what the framework has to say of the
// pass: a refused write and our own verdict on the input show in Ready, and
// what it said of an earlier pass goes when that is over. It copies before it
// changes.
func withRemark[T Object](o Options[T], obj, desired T, v remark, now time.Time) T {
	said := append(failure(v.err), v.said...)
	desired = withoutLeftovers(o, obj, desired, v)
	if len(said) == 0 {
		return desired
	}
	if desired == obj {
		desired = obj.DeepCopyObject().(T)
	}
	list := o.Conditions(desired)
	for _, c := range said {
		*list = conditions.Set(restored(*list, *o.Conditions(obj), c.Type), now, obj.GetGeneration(), c)
	}
	return desired
}

// restored returns list with a condition as it is stored. Transitions are
// counted from there, not from what would have been: each retry would
// otherwise be one of its own.
func restored(list, stored []metav1.Condition, kind string) []metav1.Condition {
	old := meta.FindStatusCondition(stored, kind)
	if old == nil {
		return list
	}
	list = slices.Clone(list)
	if now := meta.FindStatusCondition(list, kind); now != nil {
		*now = *old
		return list
	}
	return append(list, *old)
}

// over reports whether one of the framework's conditions is left over. A pass
// that failed knows only whether it is paused or hot. Stalled says why Ready
// is False: one with another reason than Ready's is over.
func (v remark) over(c metav1.Condition, ready *metav1.Condition) bool {
	failed, said := v.err != nil, conditions.Has(v.said, c.Type)
	switch c.Type {
	case ConditionPaused:
		return !said
	case ConditionHotLoop:
		return !said && !v.hot && (!failed || c.Reason == ReasonFlapping)
	case ConditionSchemaSkew:
		return !said && !failed
	case ConditionStalled:
		return !failed && ready != nil && c.Reason != ready.Reason
	}
	return false
}

// withoutLeftovers drops the framework's conditions that are over.
func withoutLeftovers[T Object](o Options[T], obj, desired T, v remark) T {
	stored := *o.Conditions(desired)
	ready := meta.FindStatusCondition(stored, ConditionReady)
	leftover := func(c metav1.Condition) bool { return v.over(c, ready) }
	if !slices.ContainsFunc(stored, leftover) {
		return desired
	}
	if desired == obj {
		desired = obj.DeepCopyObject().(T)
	}
	list := o.Conditions(desired)
	*list = slices.DeleteFunc(slices.Clone(*list), leftover)
	return desired
}

// failure is what an error says in the status.
func failure(err error) []metav1.Condition {
	var (
		terminal *terminalError
		taken    *nameConflictError
	)
	switch class := Classify(err); {
	case err == nil:
	case errors.As(err, &taken):
		return failedConditions(ReasonNameConflict, taken.Error(), true)
	case errors.As(err, &terminal):
		return failedConditions(terminal.reason, terminal.message, true)
	case class == ClassSkew:
		return append(failedConditions(ReasonTypedPatchRefused, err.Error(), true),
			condition(ConditionSchemaSkew, ReasonTypedPatchRefused, err.Error())...)
	case class == ClassInvalid, class == ClassForbidden:
		return failedConditions(ReasonAPIRefused, err.Error(), false)
	}
	return nil
}

func failedConditions(reason, message string, stalled bool) []metav1.Condition {
	said := condition(ConditionReady, reason, message)
	said[0].Status = metav1.ConditionFalse
	if stalled {
		said = append(said, condition(ConditionStalled, reason, message)...)
	}
	return said
}

// condition is one condition that is True, with a message cut to size.
func condition(kind, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: conditions.Truncate(message, maxMessage)}}
}

func unheldCondition(paths []string) []metav1.Condition {
	if len(paths) == 0 {
		return nil
	}
	return condition(ConditionHotLoop, ReasonApplyNotHeld,
		"the API server did not keep what was applied, so it is not applied again until the object or the wish changes: "+list(paths))
}

func prunedCondition(paths []string) []metav1.Condition {
	return condition(ConditionSchemaSkew, ReasonFieldPruned,
		"the API server drops these fields; update the CustomResourceDefinition: "+list(paths))
}

func pausedCondition(annotation string, obj metav1.Object) []metav1.Condition {
	message := "nothing is written while the annotation " + annotation + ` is "true"`
	if obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) > 0 {
		message += "; the deletion is held up, since the finalizer stays on"
	}
	return condition(ConditionPaused, ReasonPausedByAnnotation, message+"; remove the annotation to go on")
}

// list joins the first few paths.
func list(paths []string) string {
	const most = 10
	if len(paths) > most {
		return strings.Join(paths[:most], ", ") + fmt.Sprintf(" and %d more", len(paths)-most)
	}
	return strings.Join(paths, ", ")
}

// reportBroken writes to an object that does not decode what is wrong with
// it, and nothing else: only its conditions are known well enough.
func (c *Controller[T, W, A]) reportBroken(ctx context.Context, obj T, bad undecodable) outcome {
	out := outcome{decision: ReasonUndecodable, err: Terminal(ReasonUndecodable, bad.err.Error())}
	said := append(failedConditions(ReasonUndecodable, bad.err.Error(), true),
		condition(ConditionSchemaSkew, ReasonUndecodable, bad.err.Error())...)
	list := bad.conditions
	for _, condition := range said {
		list = conditions.Set(list, c.clock.Now(), obj.GetGeneration(), condition)
	}
	if conditions.Same(list, bad.conditions) {
		return out
	}
	status := map[string]any{"conditions": list}
	if _, err := c.Resource.patchStatus(ctx, obj, obj.GetResourceVersion(), status, []string{"status.conditions"}); err != nil {
		out.err = err
		return out
	}
	c.tell(obj, []Event{{Warning: true, Reason: ReasonUndecodable, Message: said[0].Message}})
	return out
}
