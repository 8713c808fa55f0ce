package reconcilers

import "polychrome.dev/controller/framework"

// hints say what to apply where a kind of ours cannot be read, or does not
// fit.
func hints(dormant string) framework.Hints {
	return framework.Hints{Dormant: "kubectl apply -k " + dormant, Skew: "kubectl apply -k manifests/crds"}
}
