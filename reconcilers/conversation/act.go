package conversation

import (
	"context"
	"fmt"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

// Act carries out one action.
func (r *Reconciler) Act(ctx context.Context, conv *polychromev1alpha1.Conversation, a Action) (framework.Result, error) {
	switch a.Kind {
	case AddFinalizer:
		return framework.Result{}, r.conversations.AddFinalizer(ctx, conv, polychromev1alpha1.ConversationFinalizer)
	case EnsureUnit:
		return r.ensureUnit(ctx, conv)
	case RollUnit:
		return r.rollUnit(ctx, conv, a)
	case TeardownUnit:
		return r.teardownUnit(ctx, conv, a)
	case RemoveFinalizer:
		return framework.Result{}, r.conversations.RemoveFinalizer(ctx, conv, polychromev1alpha1.ConversationFinalizer)
	case DeleteConversation:
		return r.deleteConversation(ctx, conv)
	}
	return framework.Result{}, fmt.Errorf("acting on conversation %s: no such action: %s", conv.Name, a.Kind)
}

func (r *Reconciler) ensureUnit(ctx context.Context, conv *polychromev1alpha1.Conversation) (framework.Result, error) {
	made, err := r.backend.Ensure(ctx, conv)
	if err != nil {
		return framework.Result{}, err
	}
	return framework.Result{Learned: Learned{Made: made}}, nil
}

// rollUnit tears the unit down if a slot is free. If not, the unit is only
// mended: waiting for a slot must not stop anything else. A slot is given
// back when the teardown certainly did nothing; if it may have done
// something, the slot stays with the conversation until it is ready again.
func (r *Reconciler) rollUnit(ctx context.Context, conv *polychromev1alpha1.Conversation, a Action) (framework.Result, error) {
	grant := r.slots.Reserve(conv, a.Busy)
	if grant == slots.Deferred || grant == slots.Halted {
		return r.deferRoll(ctx, conv, a)
	}
	if err := r.backend.Teardown(ctx, conv, a.Unit); err != nil {
		if grant == slots.Admitted && refused(err) {
			r.slots.GiveBack(conv)
		}
		return framework.Result{}, err
	}
	r.log.InfoContext(ctx, "tore the execution unit down to roll it", "conversation", conv.Name, "namespace", conv.Namespace,
		"backend", r.backend.Kind(), "unit", a.Unit.Name, "from", conv.Status.HarnessImageGeneration, "to", r.generation)
	return framework.Result{Wait: afterRolling}, nil
}

func (r *Reconciler) deferRoll(ctx context.Context, conv *polychromev1alpha1.Conversation, a Action) (framework.Result, error) {
	learned := Learned{Deferred: true}
	if len(a.Drift) > 0 {
		var err error
		if learned.Made, err = r.backend.Ensure(ctx, conv); err != nil {
			return framework.Result{}, err
		}
	}
	return framework.Result{Wait: afterDeferral, Learned: learned}, nil
}

// refused reports whether the API server certainly did not do what was asked.
func refused(err error) bool {
	switch framework.Classify(err) {
	case framework.ClassConflict, framework.ClassThrottled, framework.ClassForbidden, framework.ClassInvalid:
		return true
	}
	return false
}

func conflicted(err error) bool { return framework.Classify(err) == framework.ClassConflict }

// teardownUnit fails like any other action, except on its last chance: a
// unit that cannot be torn down must not hold its conversation for ever. A
// conflict or a busy API server is no sign of that.
func (r *Reconciler) teardownUnit(ctx context.Context, conv *polychromev1alpha1.Conversation, a Action) (framework.Result, error) {
	err := r.backend.Teardown(ctx, conv, a.Unit)
	if err == nil || !a.LastChance || conflicted(err) || framework.Classify(err) == framework.ClassThrottled {
		return framework.Result{}, err
	}
	r.log.ErrorContext(ctx, "letting a deleted conversation go although its execution unit could not be torn down; the unit may be leaked",
		"conversation", conv.Name, "namespace", conv.Namespace, "backend", r.backend.Kind(), "unit", a.Unit.Name, "error", err)
	return framework.Result{Events: []framework.Event{{
		Warning: true, Reason: "ExecutionUnitLeaked",
		Message: fmt.Sprintf("let the conversation go after %d minutes although %s could not be torn down; check that it is gone",
			teardownGrace/60, a.Unit.Name),
	}}}, nil
}

// deleteConversation deletes the version that was judged. A conversation that
// has moved on was probably resumed; it is looked at again.
func (r *Reconciler) deleteConversation(ctx context.Context, conv *polychromev1alpha1.Conversation) (framework.Result, error) {
	err := r.conversations.Delete(ctx, conv)
	switch {
	case conflicted(err):
		return framework.Result{Wait: afterConflict}, nil
	case err != nil:
		return framework.Result{}, err
	}
	r.log.InfoContext(ctx, "deleted a closed conversation after its retention", "conversation", conv.Name, "namespace", conv.Namespace)
	return framework.Result{}, nil
}
