package main

import (
	"context"
	"fmt"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/framework"
)

// Act carries out one action. The Deployment as the server answered is what
// the status goes by: the one in the world is older.
func (r *reconciler) Act(ctx context.Context, site *webv1alpha1.Website, a action) (framework.Result, error) {
	switch a {
	case applyPage:
		_, _, err := r.pages.Apply(ctx, r.websites.Owner(site), pageFor(site))
		return framework.Result{}, err
	case applyDeployment:
		applied, _, err := r.deployments.Apply(ctx, r.websites.Owner(site), deploymentFor(site))
		return framework.Result{Learned: applied}, err
	}
	return framework.Result{}, fmt.Errorf("acting on the Website %s: no such action: %s", site.Name, a)
}
