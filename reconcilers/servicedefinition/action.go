package servicedefinition

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// ActionKind is what an action does.
type ActionKind string

// The actions; each is one write.
const (
	// HandOverReplicas has another field manager own the number of replicas,
	// so that it stays as it is when it is no longer applied.
	HandOverReplicas ActionKind = "HandOverReplicas"
	// ApplyDeployment makes the Deployment or brings it to what it should be.
	ApplyDeployment ActionKind = "ApplyDeployment"
	// ApplyService does so with the Service.
	ApplyService ActionKind = "ApplyService"
)

// Action is one intended write.
type Action struct {
	// Kind is what to do.
	Kind ActionKind
	// Drift names the paths in which the child is to be mended, "" for one
	// that is to be made.
	Drift []string
	// Deployment is the one whose replicas are handed over, as it was judged.
	Deployment *appsv1.Deployment
}

// String renders the action for people.
func (a Action) String() string {
	if mended := strings.Join(a.Drift, ", "); mended != "" {
		return string(a.Kind) + " (" + mended + ")"
	}
	return string(a.Kind)
}
