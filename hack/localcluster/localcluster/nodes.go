package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"strings"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodelease "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

var (
	//go:embed manifests/nodes.yaml
	nodesManifest []byte
	//go:embed manifests/unpullable.yaml
	unpullableStage string
)

// startNodes runs kwok and waits for its nodes. Pods become ready as soon as they are scheduled, each with an address of
// its own, and vanish as soon as they are deleted. Those of one image, which no registry has, never start.
func (c *cluster) startNodes(ctx context.Context) error {
	if err := c.apply(ctx, nodesManifest); err != nil {
		return fmt.Errorf("creating the nodes: %w", err)
	}
	stages := c.state("kwok.yaml")
	content := strings.Join([]string{
		nodefast.DefaultNodeInit, nodelease.DefaultNodeHeartbeatWithLease,
		unpullableStage, podfast.DefaultPodReady, podfast.DefaultPodComplete, podfast.DefaultPodDelete,
	}, "\n---\n")
	if err := os.WriteFile(stages, []byte(content), 0o600); err != nil {
		return fmt.Errorf("writing the stages of kwok: %w", err)
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	if err := c.parts.launch("kwok", c.binary("kwok"),
		"--kubeconfig="+c.kubeconfig(),
		"--config="+stages,
		"--manage-all-nodes=true",
		"--cidr="+c.podCIDR,
		"--node-ip=127.0.0.1",
		"--node-lease-duration-seconds=40",
		"--server-address="+address,
	); err != nil {
		return err
	}
	if err := healthy(ctx, "kwok", "http://"+address+"/healthz"); err != nil {
		return err
	}
	return c.wait(ctx, "condition=Ready", "nodes", "--all")
}
