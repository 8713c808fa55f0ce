package main

import (
	"context"
	_ "embed"
	"fmt"
)

//go:embed manifests/sandboxes.yaml
var sandboxesManifest []byte

// startOperator runs the agent-sandbox operator. With nodes it waits until the warm pool is full, which shows that
// operator, scheduler and nodes work together.
func (c *cluster) startOperator(ctx context.Context) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	if err := c.parts.launch("agent-sandbox-controller", c.binary("agent-sandbox-controller"),
		"--kubeconfig="+c.kubeconfig(),
		"--extensions",
		"--leader-elect=false",
		"--metrics-bind-address=0",
		"--health-probe-bind-address="+address,
	); err != nil {
		return err
	}
	if err := healthy(ctx, "the operator", "http://"+address+"/readyz"); err != nil {
		return err
	}
	if err := c.apply(ctx, sandboxesManifest); err != nil {
		return fmt.Errorf("creating the template and the warm pool: %w", err)
	}
	if !c.nodes {
		return nil
	}
	return c.wait(ctx, "jsonpath={.status.readyReplicas}=2", "sandboxwarmpools", "--all", "--namespace=polychrome")
}
