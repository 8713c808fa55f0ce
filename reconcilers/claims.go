package reconcilers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	agentsandboxv1beta1 "polychrome.dev/controller/apis/agentsandbox/v1beta1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// claimsOf makes the resources of SandboxClaims in the versions that may be
// used, and what they are to a controller of conversations. Of two the older
// one yields to the newer. An empty version allows both.
func claimsOf(m *framework.Manager, c Clients, namespace, version string) (execution.Claims, []framework.Watch) {
	var (
		claims  execution.Claims
		watches []framework.Watch
		newer   *framework.Resource[*agentsandboxv1beta1.SandboxClaim]
		older   *framework.Resource[*agentsandboxv1alpha1.SandboxClaim]
	)
	if version != execution.V1alpha1 {
		newer = claimsV1beta1(m, c, namespace)
		pools := partial(m, c, namespace, "SandboxWarmPool", agentsandboxv1beta1.SchemeGroupVersion.WithResource("sandboxwarmpools"))
		claims.V1beta1, claims.WarmPools = newer, pools
		watches = append(watches, framework.Watches(newer, execution.MapClaim), framework.Watches(pools, concernsNobody))
	}
	if version != execution.V1beta1 {
		o := claimsV1alpha1(c, namespace)
		if newer != nil {
			o.YieldsTo = newer
		}
		older = framework.NewResource(m, o)
		claims.V1alpha1 = older
		watches = append(watches, framework.Watches(older, execution.MapClaim))
	}
	announce := claims.Announce(m.Log)
	if newer != nil {
		newer.OnTurn(announce)
	}
	if older != nil {
		older.OnTurn(announce)
	}
	return claims, watches
}

func claimsV1beta1(m *framework.Manager, c Clients, namespace string) *framework.Resource[*agentsandboxv1beta1.SandboxClaim] {
	return framework.NewResource(m, framework.ResourceOptions[*agentsandboxv1beta1.SandboxClaim]{
		Resource:  agentsandboxv1beta1.SchemeGroupVersion.WithResource("sandboxclaims"),
		Kind:      "SandboxClaim",
		Namespace: namespace,
		Client:    c.Unary.AgentSandboxV1beta1().SandboxClaims(namespace),
		Informer: tolerant(c.Watch, c.Watch.AgentSandboxV1beta1().RESTClient(), namespace,
			"sandboxclaims", &agentsandboxv1beta1.SandboxClaim{}),
		Optional:    true,
		CheckSchema: true,
	})
}

func claimsV1alpha1(c Clients, namespace string) framework.ResourceOptions[*agentsandboxv1alpha1.SandboxClaim] {
	return framework.ResourceOptions[*agentsandboxv1alpha1.SandboxClaim]{
		Resource:  agentsandboxv1alpha1.SchemeGroupVersion.WithResource("sandboxclaims"),
		Kind:      "SandboxClaim",
		Namespace: namespace,
		Client:    c.Unary.AgentSandboxV1alpha1().SandboxClaims(namespace),
		Informer: tolerant(c.Watch, c.Watch.AgentSandboxV1alpha1().RESTClient(), namespace,
			"sandboxclaims", &agentsandboxv1alpha1.SandboxClaim{}),
		Optional:    true,
		CheckSchema: true,
	}
}

// concernsNobody maps an object that is only looked up. A claim that waits for
// its sandbox is looked at again before long, and with it the pools.
func concernsNobody(*metav1.PartialObjectMetadata) []framework.Key { return nil }
