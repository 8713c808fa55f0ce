package servicedefinition

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// How often a service is looked at though nothing may have changed: the
// watches do the real work.
const (
	whenReady    = 5 * time.Minute
	whenNotReady = 15 * time.Second
)

// Plan decides.
func (r *Reconciler) Plan(_ time.Time, svc *polychromev1alpha1.ServiceDefinition, w World) framework.Plan[Action] {
	if svc.DeletionTimestamp != nil {
		return framework.Plan[Action]{Decision: "Deleting"}
	}
	says := judge(svc, w, outcome{})
	switch {
	case says.phase == polychromev1alpha1.ServiceDefinitionInvalid:
		return framework.Plan[Action]{Decision: "Invalid"}
	case says.reason == polychromev1alpha1.ReasonNameConflict:
		return looking("NameConflict", whenNotReady, "the name to be free")
	}
	if actions := actions(svc, w); len(actions) > 0 {
		plan := looking("Apply", whenNotReady, "the rollout")
		plan.Actions = actions
		return plan
	}
	switch {
	case says.reason == polychromev1alpha1.ReasonChildTerminating:
		return looking("AwaitChild", whenNotReady, "a child to be gone")
	case !says.ready():
		return looking("AwaitRollout", whenNotReady, "the rollout")
	}
	return looking("Settled", whenReady, "the periodic look")
}

func looking(decision string, after time.Duration, what string) framework.Plan[Action] {
	return framework.Plan[Action]{Decision: decision, Wait: after, WaitFor: what, Spread: true}
}

// actions mend what differs. A child that is going away is made anew when it
// is gone: what is applied to it until then would go with it.
func actions(svc *polychromev1alpha1.ServiceDefinition, w World) []Action {
	var planned []Action
	if d := w.Deployment; len(d.Drift) > 0 && !going(d) {
		if svc.Spec.Autoscaled && d.Present && !handedOver(d.Object) {
			planned = append(planned, Action{Kind: HandOverReplicas, Deployment: d.Object})
		}
		planned = append(planned, Action{Kind: ApplyDeployment, Drift: d.Drift})
	}
	if s := w.Service; len(s.Drift) > 0 && !going(s) {
		planned = append(planned, Action{Kind: ApplyService, Drift: s.Drift})
	}
	return planned
}

// handedOver reports whether the last apply left the number of replicas out.
// One that is applied until now must be handed over before it is given up:
// the API server would set it back to 1.
func handedOver(d *appsv1.Deployment) bool {
	return d.Annotations[polychromev1alpha1.AutoscaledAnnotation] == polychromev1alpha1.AutoscaledValue
}

// going reports whether a child of ours is being deleted.
func going[C framework.Object](child framework.Child[C]) bool {
	return child.Present && child.Object.GetDeletionTimestamp() != nil
}

// own is the object of a child that is present and ours; the zero C otherwise.
func own[C framework.Object](child framework.Child[C]) C {
	if !child.Present || child.Foreign() {
		var none C
		return none
	}
	return child.Object
}
