package framework_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/conditions"
	"polychrome.dev/controller/framework/owners"
	"polychrome.dev/controller/test/framework/widget"
)

// finalizer is the controller's own.
const finalizer = "example.test/widget"

// action is what the widget reconciler can do, in its own words.
type action string

// The actions of the standard script.
const (
	finalize    action = "finalize"
	apply       action = "apply"
	deleteChild action = "delete child"
	release     action = "release"
)

// world is what one pass sees.
type world struct {
	child      *corev1.ConfigMap
	deployment *appsv1.Deployment
	drift      []string
}

// script is a reconciler made of functions, so that each test can say what
// is special about its own. Nil ones do what the standard does.
type script struct {
	*rig
	observe func(ctx context.Context, w *widget.Widget) (world, error)
	plan    func(now time.Time, w *widget.Widget, seen world) framework.Plan[action]
	acts    map[action]func(ctx context.Context, w *widget.Widget) (framework.Result, error)
	status  func(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget
}

// standard keeps one ConfigMap per widget that says its color, behind a
// finalizer, and shows in the status what the ConfigMap says.
func standard(r *rig) *script {
	return &script{rig: r, observe: r.observe, plan: standardPlan, status: standardStatus,
		acts: map[action]func(context.Context, *widget.Widget) (framework.Result, error){
			finalize: func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
				return framework.Result{}, r.parents.AddFinalizer(ctx, w, finalizer)
			},
			release: func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
				return framework.Result{}, r.parents.RemoveFinalizer(ctx, w, finalizer)
			},
			apply: func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
				child, _, err := r.configMaps.Apply(ctx, ownerFor(w), colored(w))
				return framework.Result{Learned: child}, err
			},
			deleteChild: func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
				child, found := r.configMaps.Get(w.Namespace, w.Name)
				if !found {
					return framework.Result{}, nil
				}
				return framework.Result{}, r.configMaps.Delete(ctx, child)
			},
		}}
}

// Observe implements framework.Reconciler.
func (s *script) Observe(ctx context.Context, w *widget.Widget) (world, error) {
	return s.observe(ctx, w)
}

// Plan implements framework.Reconciler.
func (s *script) Plan(now time.Time, w *widget.Widget, seen world) framework.Plan[action] {
	return s.plan(now, w, seen)
}

// Act implements framework.Reconciler.
func (s *script) Act(ctx context.Context, w *widget.Widget, a action) (framework.Result, error) {
	act, known := s.acts[a]
	if !known {
		return framework.Result{}, fmt.Errorf("no such action: %q", a)
	}
	return act(ctx, w)
}

// Status implements framework.Reconciler.
func (s *script) Status(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
	return s.status(now, w, seen, done)
}

func (r *rig) observe(_ context.Context, w *widget.Widget) (world, error) {
	child, err := r.configMaps.Look(ownerFor(w), colored(w))
	return world{child: child.Object, drift: child.Drift}, err
}

func standardPlan(_ time.Time, w *widget.Widget, seen world) framework.Plan[action] {
	ours := seen.child != nil && owners.Judge(ownerFor(w), seen.child) == owners.Ours
	finalized := slices.Contains(w.Finalizers, finalizer)
	plan := framework.Plan[action]{Decision: "keep"}
	switch {
	case w.DeletionTimestamp != nil && !finalized:
		plan.Decision = "gone"
	case w.DeletionTimestamp != nil && ours && seen.child.DeletionTimestamp == nil:
		plan.Decision, plan.Actions = "clean up", []action{deleteChild}
	case w.DeletionTimestamp != nil && ours:
		plan.Decision = "await the end of the child"
	case w.DeletionTimestamp != nil:
		plan.Decision, plan.Actions = "let go", []action{release}
	default:
		if !finalized {
			plan.Actions = append(plan.Actions, finalize)
		}
		if seen.drift != nil || seen.child != nil && !ours {
			plan.Actions = append(plan.Actions, apply)
		}
	}
	return plan
}

func standardStatus(now time.Time, w *widget.Widget, seen world, done []framework.Done[action]) *widget.Widget {
	child := seen.child
	ready := metav1.Condition{Type: framework.ConditionReady, Status: metav1.ConditionTrue, Reason: "Mirrored", Message: "the ConfigMap says the color"}
	for _, d := range done {
		if learned, ok := d.Result.Learned.(*corev1.ConfigMap); ok {
			child = learned
		}
		if d.Err != nil {
			ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "ActionFailed", "an action failed"
		}
		if framework.IsNameConflict(d.Err) {
			ready.Reason, ready.Message = "NameConflict", d.Err.Error()
		}
	}
	if w.DeletionTimestamp != nil {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Deleting", "it is being deleted"
	}
	out := w.DeepCopy()
	out.Status.ObservedGeneration = w.Generation
	out.Status.Note = ""
	if child != nil && ready.Reason != "NameConflict" {
		out.Status.Note = child.Data["color"]
	}
	out.Status.Conditions = conditions.Set(w.Status.Conditions, now, w.Generation, ready)
	return out
}

func ownerFor(w *widget.Widget) owners.Owner {
	return owners.Owner{APIVersion: widget.GroupVersion.String(), Kind: widget.Kind, Name: w.Name, UID: w.UID}
}

// colored is the child that a widget wants.
func colored(w *widget.Widget) *coreapply.ConfigMapApplyConfiguration {
	return coreapply.ConfigMap(w.Name, w.Namespace).
		WithLabels(map[string]string{"widget": w.Name}).
		WithData(map[string]string{"color": w.Spec.Color})
}
