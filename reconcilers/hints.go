package reconcilers

import "polychrome.dev/controller/framework"

// hints say what to apply where a kind of ours cannot be read, or does not
// fit.
func hints(access string) framework.Hints {
	return framework.Hints{Access: "kubectl apply -k " + access, Schema: "kubectl apply -k manifests/crds"}
}
