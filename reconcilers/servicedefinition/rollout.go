package servicedefinition

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// rollout is how far a Deployment has come with its present template.
type rollout struct {
	// current says that the Deployment's own controller has seen its present
	// spec. Until then its status speaks of another one.
	current bool
	// paused says that somebody has stopped the rollout.
	paused bool
	// desired is how many replicas there shall be, total how many there are,
	// of any template; updated how many of the present one, and available how
	// many have been ready for long enough, of any.
	desired, total, updated, available int32
}

// rolloutOf reads how the Deployment of a service stands. Where the service
// does not say how many replicas there shall be, the Deployment does.
func rolloutOf(svc *polychromev1alpha1.ServiceDefinition, d *appsv1.Deployment) rollout {
	s := d.Status
	r := rollout{
		current: s.ObservedGeneration >= d.Generation, paused: d.Spec.Paused,
		desired: asked(svc), total: s.Replicas, updated: s.UpdatedReplicas, available: s.AvailableReplicas,
	}
	if svc.Spec.Autoscaled {
		r.desired = standing(d)
	}
	return r
}

// standing is the number of replicas that a Deployment asks for; the API server
// fills in 1.
func standing(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// complete reports whether the present template serves, and nothing else. That
// enough replicas are available would not tell: they may be those of the last
// template.
func (r rollout) complete() bool {
	return r.current && r.desired > 0 && r.updated >= r.desired && r.available >= r.desired && r.total == r.updated
}

// String counts, for people.
func (r rollout) String() string {
	text := fmt.Sprintf("%d of %d replicas updated, %d available", r.updated, r.desired, r.available)
	if former := r.total - r.updated; former > 0 {
		text += fmt.Sprintf(", %d of the last template left", former)
	}
	if r.paused {
		text += "; the Deployment is paused"
	}
	return text
}

// deadlineExceeded is what a Deployment says that has given up waiting for its
// rollout; it goes on trying.
func deadlineExceeded(d *appsv1.Deployment) (message string, exceeded bool) {
	return saysOf(d, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded")
}

// replicaFailure is what a Deployment says that cannot make pods: a quota or a
// policy refuses them.
func replicaFailure(d *appsv1.Deployment) (message string, failed bool) {
	return saysOf(d, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "")
}

// setRefused is what a Deployment says that cannot even make the ReplicaSet
// that makes the pods. Its controller then does not say that it has seen the
// spec.
func setRefused(d *appsv1.Deployment) (message string, refused bool) {
	return saysOf(d, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ReplicaSetCreateError")
}

// saysOf looks for a condition of a Deployment, of any reason if that is empty.
func saysOf(
	d *appsv1.Deployment, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason string,
) (message string, found bool) {
	for _, c := range d.Status.Conditions {
		if c.Type == kind && c.Status == status && (reason == "" || c.Reason == reason) {
			return c.Message, true
		}
	}
	return "", false
}
