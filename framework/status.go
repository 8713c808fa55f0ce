package framework

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/conditions"
)

// withVerdict adds to a desired status what the framework has to say of the
// pass: a refused write and our own verdict on the input show in Ready, and
// what it said of an earlier pass goes when that is over. It copies before it
// changes.
func withVerdict[T Object](o Options[T], obj, desired T, err error, now time.Time) T {
	if err == nil {
		return withoutLeftovers(o, obj, desired)
	}
	return withFailure(o, obj, desired, err, now)
}

// withoutLeftovers drops the conditions of a failure that is over. Stalled
// says why Ready is False: one with another reason than Ready's is left over.
func withoutLeftovers[T Object](o Options[T], obj, desired T) T {
	stored := *o.Conditions(desired)
	ready := meta.FindStatusCondition(stored, ConditionReady)
	leftover := func(c metav1.Condition) bool {
		return c.Type == ConditionSchemaSkew || c.Type == ConditionStalled && ready != nil && c.Reason != ready.Reason
	}
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

func withFailure[T Object](o Options[T], obj, desired T, err error, now time.Time) T {
	var said []metav1.Condition
	var terminal *terminalError
	switch class := Classify(err); {
	case errors.As(err, &terminal):
		said = failedConditions(terminal.reason, terminal.message, true)
	case class == ClassSkew:
		said = failedConditions(ReasonTypedPatchRefused, err.Error(), true)
		said = append(said, metav1.Condition{Type: ConditionSchemaSkew, Status: metav1.ConditionTrue,
			Reason: ReasonTypedPatchRefused, Message: said[0].Message})
	case class == ClassInvalid, class == ClassForbidden:
		said = failedConditions(ReasonAPIRefused, err.Error(), false)
	default:
		return desired
	}
	if desired == obj {
		desired = obj.DeepCopyObject().(T)
	}
	list := o.Conditions(desired)
	for _, c := range said {
		// Counted from what is stored, not from what would have been: each
		// retry would otherwise be a transition of its own.
		if stored := meta.FindStatusCondition(*o.Conditions(obj), c.Type); stored != nil {
			*list = append(conditions.Remove(*list, c.Type), *stored)
		}
		*list = conditions.Set(*list, now, obj.GetGeneration(), c)
	}
	return desired
}

func failedConditions(reason, message string, stalled bool) []metav1.Condition {
	message = conditions.Truncate(message, maxMessage)
	said := []metav1.Condition{{Type: ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
	if stalled {
		said = append(said, metav1.Condition{Type: ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: message})
	}
	return said
}

// reportBroken writes to an object that does not decode what is wrong with
// it, and nothing else: only its conditions are known well enough.
func (c *Controller[T, W, A]) reportBroken(ctx context.Context, obj T, bad undecodable) outcome {
	verdict := Terminal(ReasonUndecodable, bad.err.Error())
	said := append(failedConditions(ReasonUndecodable, bad.err.Error(), true), metav1.Condition{
		Type: ConditionSchemaSkew, Status: metav1.ConditionTrue, Reason: ReasonUndecodable,
		Message: conditions.Truncate(bad.err.Error(), maxMessage),
	})
	list := bad.conditions
	for _, condition := range said {
		list = conditions.Set(list, c.clock.Now(), obj.GetGeneration(), condition)
	}
	if conditions.Same(list, bad.conditions) {
		return outcome{err: verdict}
	}
	status := map[string]any{"conditions": list}
	if err := c.Resource.patchStatus(ctx, obj, obj.GetResourceVersion(), status); err != nil {
		return outcome{err: err}
	}
	c.tell(obj, []Event{{Warning: true, Reason: ReasonUndecodable, Message: said[0].Message}})
	return outcome{err: verdict}
}
