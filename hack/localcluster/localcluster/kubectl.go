package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
)

// kubectl runs kubectl against the cluster, with input as its standard input.
func (c *cluster) kubectl(ctx context.Context, input []byte, args ...string) error {
	args = append([]string{"--kubeconfig=" + c.kubeconfig(), "--cache-dir=" + c.state("kubectl-cache")}, args...)
	cmd := exec.CommandContext(ctx, c.binary("kubectl"), args...)
	cmd.Stdin = bytes.NewReader(input)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running kubectl %s: %w: %s", args[2], err, bytes.TrimSpace(output))
	}
	return nil
}

// apply makes the objects of a manifest what the manifest says, also where an earlier run or a user changed them.
func (c *cluster) apply(ctx context.Context, manifest []byte) error {
	return c.kubectl(ctx, manifest, "apply", "--server-side", "--force-conflicts", "--field-manager=localcluster", "-f", "-")
}

// wait waits until the objects fulfil a condition.
func (c *cluster) wait(ctx context.Context, condition string, objects ...string) error {
	return c.kubectl(ctx, nil, append([]string{"wait", "--timeout=" + startLimit.String(), "--for=" + condition}, objects...)...)
}
