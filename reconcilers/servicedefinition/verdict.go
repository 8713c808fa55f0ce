package servicedefinition

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// verdict is what the conditions say.
type verdict struct {
	phase   polychromev1alpha1.ServiceDefinitionPhase
	reason  polychromev1alpha1.Reason
	message string
	stalled bool
}

func (v verdict) ready() bool { return v.reason == polychromev1alpha1.ReasonRolloutComplete }

// pending is the verdict on what may still become ready.
func pending(reason polychromev1alpha1.Reason, message string) verdict {
	return verdict{phase: polychromev1alpha1.ServiceDefinitionPending, reason: reason, message: message}
}

// outcome is what acting came to.
type outcome struct {
	// failed is the action that failed, and err why; taken says that the name
	// of a child was found to be somebody else's.
	failed ActionKind
	err    error
	taken  bool
	// deployment is the one that was applied, nil if none was.
	deployment *appsv1.Deployment
	// service says that the Service was applied.
	service bool
}

func outcomeOf(done []framework.Done[Action]) outcome {
	var o outcome
	for _, d := range done {
		switch {
		case d.Err != nil:
			o.failed, o.err, o.taken = d.Action.Kind, d.Err, framework.IsNameConflict(d.Err)
		case d.Action.Kind == ApplyDeployment:
			o.deployment, _ = d.Result.Learned.(*appsv1.Deployment)
		case d.Action.Kind == ApplyService:
			o.service = true
		}
	}
	return o
}

// judged is the Deployment of a service as it is now, nil if it has none.
func (o outcome) judged(w World) *appsv1.Deployment {
	return cmp.Or(o.deployment, own(w.Deployment))
}

// judge finds what is to be said; the first that fits wins.
func judge(svc *polychromev1alpha1.ServiceDefinition, w World, o outcome) verdict {
	if says, wrong := invalid(svc); wrong {
		return says
	}
	switch {
	case w.Deployment.Foreign():
		return nameTaken("Deployment", svc.Name)
	case w.Service.Foreign():
		return nameTaken("Service", svc.Name)
	case o.failed != "":
		return failing(o)
	case going(w.Deployment):
		return terminating("Deployment", svc.Name)
	case going(w.Service):
		return terminating("Service", svc.Name)
	}
	d := o.judged(w)
	if d == nil {
		return pending(polychromev1alpha1.ReasonRolloutInProgress, "the Deployment is not there yet")
	}
	return rolling(svc, w, d, o.service || w.Service.Present)
}

func nameTaken(kind, name string) verdict {
	says := pending(polychromev1alpha1.ReasonNameConflict,
		fmt.Sprintf("the %s %s exists and is not this service's own; remove it, or name the service otherwise", kind, name))
	says.stalled = true
	return says
}

func terminating(kind, name string) verdict {
	return pending(polychromev1alpha1.ReasonChildTerminating,
		fmt.Sprintf("the %s %s is being deleted; it is made anew when it is gone", kind, name))
}

// failing says what could not be done. The server's refusals read the same
// each time; other errors, of connections for example, do not, and are left
// to the log.
func failing(o outcome) verdict {
	if o.taken {
		says := pending(polychromev1alpha1.ReasonNameConflict, o.err.Error())
		says.stalled = true
		return says
	}
	switch framework.Classify(o.err) {
	case framework.ClassInvalid, framework.ClassForbidden:
		return pending(polychromev1alpha1.ReasonAPIRefused, o.err.Error())
	}
	return pending(polychromev1alpha1.ReasonRolloutInProgress, fmt.Sprintf("%s has not succeeded; it is tried again", o.failed))
}

// rolling judges a Deployment.
func rolling(svc *polychromev1alpha1.ServiceDefinition, w World, d *appsv1.Deployment, served bool) verdict {
	stands := rolloutOf(svc, d)
	refusal, refused := setRefused(d)
	switch {
	case !stands.current && refused:
		return pending(polychromev1alpha1.ReasonReplicaFailure, refusal)
	case !stands.current:
		return pending(polychromev1alpha1.ReasonRolloutInProgress, "the Deployment has not begun with the present spec yet")
	case stands.desired <= 0:
		return verdict{
			phase: polychromev1alpha1.ServiceDefinitionStopped, reason: polychromev1alpha1.ReasonStopped,
			message: "zero replicas are asked for",
		}
	case stands.complete() && served:
		return verdict{
			phase: polychromev1alpha1.ServiceDefinitionReady, reason: polychromev1alpha1.ReasonRolloutComplete,
			message: fmt.Sprintf("the present spec is rolled out; available replicas: %d", stands.available),
		}
	case stands.complete():
		return pending(polychromev1alpha1.ReasonRolloutInProgress, "the Service is not there yet")
	}
	return held(svc, w, d, stands)
}

// held says what keeps a rollout from its end.
func held(svc *polychromev1alpha1.ServiceDefinition, w World, d *appsv1.Deployment, stands rollout) verdict {
	late, exceeded := deadlineExceeded(d)
	refusal, refused := replicaFailure(d)
	said, troubled := troubleOf(svc, w.Pods)
	switch {
	case exceeded:
		if refused {
			late = joined(late, refusal)
		}
		says := pending(polychromev1alpha1.ReasonProgressDeadlineExceeded, joined(late, said.message))
		says.stalled = true
		return says
	case refused:
		return pending(polychromev1alpha1.ReasonReplicaFailure, refusal)
	case troubled:
		return pending(said.reason, said.message)
	}
	return pending(polychromev1alpha1.ReasonRolloutInProgress, stands.String())
}

func joined(first, then string) string {
	if first == "" || then == "" {
		return first + then
	}
	return first + " " + then
}
