package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// Options says what a private control plane is made of. The zero value is a complete and empty one.
type Options struct {
	// CRDDirs are folders of CustomResourceDefinitions to serve from the start, so that the garbage collector knows
	// their kinds. See [ProjectCRDs] and [OperatorCRDs].
	CRDDirs []string
	// Audit has every request written to [Cluster.AuditLog].
	Audit bool
	// Fairness turns API priority and fairness on.
	Fairness bool
	// APIOnly leaves out the controller manager and the scheduler: no garbage collection, no service accounts, no
	// deletion of namespaces. It starts about a second sooner.
	APIOnly bool
}

// Cluster is a control plane that belongs to one test. Its methods fail that test when they cannot do their work, and
// are for one goroutine at a time.
type Cluster struct {
	t       testing.TB
	options Options
	binary  string
	dir     string
	// port stays the same over restarts, as a real server's address would.
	port   string
	server *server
	config *rest.Config
}

// Start runs a control plane until the end of the test.
func Start(t testing.TB, options Options) *Cluster {
	t.Helper()
	c := &Cluster{t: t, options: options, binary: Binary(t, "controlplane"), dir: t.TempDir(), port: "0"}
	t.Cleanup(func() {
		c.Kill()
		if t.Failed() {
			t.Logf("the log of the control plane ends with:\n%s", c.logTail())
		}
	})
	c.start()
	return c
}

// Config returns the administrator's access, without client-side rate limits. It stays valid over restarts. The test may
// change the returned value.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig returns the path of a file with the same access.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// AuditLog returns the path of the audit log, one JSON object per line. [ReadAudit] reads it.
func (c *Cluster) AuditLog() string { return filepath.Join(c.dir, "audit.log") }

// Kill ends the control plane as a crash would, losing nothing it had acknowledged. It returns when the process is gone.
func (c *Cluster) Kill() {
	if c.server != nil {
		c.server.end(syscall.SIGKILL, 0)
		c.server = nil
	}
}

// Stop ends the control plane in order.
func (c *Cluster) Stop() {
	if c.server != nil {
		c.server.end(syscall.SIGTERM, 10*time.Second)
		c.server = nil
	}
}

// Restart runs the control plane again, at the same address and with the same objects. A running one is killed first.
func (c *Cluster) Restart() {
	c.t.Helper()
	c.Kill()
	c.start()
}

func (c *Cluster) start() {
	c.t.Helper()
	// The one a killed run left behind would be taken for the sign that this run is ready.
	if err := os.Remove(c.Kubeconfig()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.t.Fatalf("removing the kubeconfig of the last run: %v", err)
	}
	server, err := startServer(c.binary, c.arguments()...)
	if err != nil {
		c.t.Fatalf("starting the control plane: %v", err)
	}
	c.server = server
	if err := server.ready(c.t.Context(), c.Kubeconfig()); err != nil {
		c.t.Fatalf("waiting for the control plane: %v", err)
	}
	cfg, err := load(c.Kubeconfig())
	if err != nil {
		c.t.Fatal(err)
	}
	c.config = cfg
	if c.port, err = portOf(cfg.Host); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Cluster) arguments() []string {
	args := []string{"--die-with-parent", "--state-dir=" + c.dir, "--port=" + c.port}
	for _, dir := range c.options.CRDDirs {
		args = append(args, "--crds="+dir)
	}
	if c.options.Audit {
		args = append(args, "--audit-log="+c.AuditLog())
	}
	if c.options.Fairness {
		args = append(args, "--fairness")
	}
	if c.options.APIOnly {
		args = append(args, "--api-only")
	}
	return args
}

func (c *Cluster) logTail() string {
	const size = 4000
	content, err := os.ReadFile(filepath.Join(c.dir, "controlplane.log"))
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-size):])
}
