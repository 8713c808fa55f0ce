package servicedefinition

import (
	"context"
	"fmt"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// Act carries out one action. The Deployment as the server answered is what
// the status goes by: the one in the world is older.
func (r *Reconciler) Act(ctx context.Context, svc *polychromev1alpha1.ServiceDefinition, a Action) (framework.Result, error) {
	switch a.Kind {
	case HandOverReplicas:
		return framework.Result{}, r.deployments.Share(ctx, a.Deployment, polychromev1alpha1.ReplicasFieldManager, replicasOf(a.Deployment))
	case ApplyDeployment:
		applied, _, err := r.deployments.Apply(ctx, ownerOf(svc), deploymentFor(svc))
		if err != nil {
			return framework.Result{}, err
		}
		return framework.Result{Learned: applied}, nil
	case ApplyService:
		_, _, err := r.services.Apply(ctx, ownerOf(svc), serviceFor(svc))
		return framework.Result{}, err
	}
	return framework.Result{}, fmt.Errorf("acting on service definition %s: no such action: %s", svc.Name, a.Kind)
}
