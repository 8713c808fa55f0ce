package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// startLimit bounds the wait for each part. It is generous, as the machine may be busy compiling the tests.
const startLimit = 3 * time.Minute

// cluster is the running whole.
type cluster struct {
	*options
	parts   processes
	started time.Time
}

// say reports progress on standard error; standard output is the command's.
func (c *cluster) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "localcluster: %5.1fs  %s\n", time.Since(c.started).Seconds(), fmt.Sprintf(format, args...))
}

// start brings the parts up one after the other and returns when all of them work.
func (c *cluster) start(ctx context.Context) error {
	c.say("starting in %s", c.stateDir)
	if err := c.startControlPlane(ctx); err != nil {
		return err
	}
	c.say("control plane ready")
	if c.nodes {
		if err := c.startNodes(ctx); err != nil {
			return err
		}
		c.say("nodes ready")
	}
	if c.operator {
		if err := c.startOperator(ctx); err != nil {
			return err
		}
		c.say("agent-sandbox operator ready")
	}
	return nil
}

func (c *cluster) stop() {
	c.say("stopping")
	c.parts.stop()
	_ = os.Remove(c.kubeconfig())
	c.say("stopped")
}

func (c *cluster) startControlPlane(ctx context.Context) error {
	crds := c.crds
	if c.operator {
		crds = append([]string{c.operatorCRDs()}, crds...)
	}
	args := []string{"--state-dir=" + c.stateDir, "--kubeconfig=" + c.kubeconfig()}
	for _, folder := range crds {
		args = append(args, "--crds="+folder)
	}
	if c.auditLog != "" {
		args = append(args, "--audit-log="+c.auditLog)
	}
	if c.fairness {
		args = append(args, "--fairness")
	}
	if err := c.parts.launch("controlplane", c.binary("controlplane"), args...); err != nil {
		return err
	}
	return eventually(ctx, "the control plane", func(context.Context) error {
		_, err := os.Stat(c.kubeconfig())
		return err
	})
}

// eventually repeats a check until it passes.
func eventually(ctx context.Context, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, errors.New("time is up"))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: %w", what, context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}
