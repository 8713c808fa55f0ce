package cluster

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// Kubectl runs kubectl against the shared cluster and returns its standard output. It fails the test when kubectl fails.
func Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	Shared(t)
	return runKubectl(t, os.Getenv(KubeconfigEnv), args)
}

// Kubectl runs kubectl against this control plane and returns its standard output.
func (c *Cluster) Kubectl(args ...string) string {
	c.t.Helper()
	return runKubectl(c.t, c.Kubeconfig(), args)
}

func runKubectl(t testing.TB, kubeconfig string, args []string) string {
	t.Helper()
	// Discovery is not cached: one address may stand for several clusters, one after the other.
	args = append([]string{"--kubeconfig=" + kubeconfig, "--cache-dir=" + t.TempDir()}, args...)
	cmd := exec.CommandContext(t.Context(), Binary(t, "kubectl"), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("running kubectl %q: %v: %s", args[2:], err, &stderr)
	}
	return stdout.String()
}
