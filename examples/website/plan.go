package main

import (
	"time"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/framework"
)

// action is one intended write, named for people.
type action string

const (
	applyPage       action = "apply the ConfigMap"
	applyDeployment action = "apply the Deployment"
)

// Plan decides. It asks for no wait: all that matters is watched.
func (r *reconciler) Plan(_ time.Time, site *webv1alpha1.Website, w world) framework.Plan[action] {
	switch {
	case site.DeletionTimestamp != nil:
		return framework.Plan[action]{Decision: "Deleting"}
	case w.page.Foreign() || w.deployment.Foreign():
		return framework.Plan[action]{Decision: "NameConflict"}
	}
	var actions []action
	// The page goes first: pods that start for its hash must find it.
	if len(w.page.Drift) > 0 {
		actions = append(actions, applyPage)
	}
	if len(w.deployment.Drift) > 0 {
		actions = append(actions, applyDeployment)
	}
	if len(actions) == 0 {
		return framework.Plan[action]{Decision: "Settled"}
	}
	return framework.Plan[action]{Decision: "Apply", Actions: actions}
}
