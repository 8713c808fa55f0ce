package process

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/generated/testcrds"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/standin"
)

const (
	// namespace is the one of manifests/base.
	namespace = "polychrome"
	// account is the controller's, as the audit log spells it.
	account = "system:serviceaccount:polychrome:polychrome-controller"
	// settle is how long the world may take to become as it should.
	settle = 2 * time.Minute
)

// binary builds the controller once, with the race detector.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "polychrome-controller-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "polychrome-controller")
	out, err := exec.Command("go", "build", "-race", "-o", path, "polychrome.dev/controller/cmd/polychrome-controller").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the controller: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// world is a control plane with the shipped manifests and a stand-in for the
// operator.
type world struct {
	t          *testing.T
	server     *cluster.Cluster
	client     versioned.Interface
	kubeconfig string
}

// newWorld has all manifests, or those named.
func newWorld(t *testing.T, manifests ...string) *world {
	t.Helper()
	t.Parallel()
	server := cluster.Start(t, cluster.Options{CRDDirs: []string{cluster.ProjectCRDs(t)}, Audit: true})
	crd := filepath.Join(t.TempDir(), "sandboxclaims.yaml")
	if err := os.WriteFile(crd, testcrds.SandboxClaimV1alpha1, 0o600); err != nil {
		t.Fatal(err)
	}
	server.Kubectl("apply", "--server-side", "-f", crd)
	if manifests == nil {
		manifests = []string{"base", "apps-namespace"}
	}
	for _, name := range manifests {
		server.Kubectl("apply", "-k", manifest(name))
	}
	client, err := versioned.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, server: server, client: client, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	w.writeIdentity()
	standin.Start(t, server.Config(), namespace)
	return w
}

// manifest is the folder of a kustomization.
func manifest(name string) string { return filepath.Join("..", "..", "manifests", name) }

// writeIdentity writes a kubeconfig that has the ServiceAccount's token and
// nothing else.
func (w *world) writeIdentity() {
	w.t.Helper()
	config := w.server.Config()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		w.t.Fatal(err)
	}
	granted, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(w.t.Context(), "polychrome-controller",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	identity := clientcmdapi.NewConfig()
	identity.Clusters["c"] = &clientcmdapi.Cluster{
		Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile,
	}
	identity.AuthInfos["c"] = &clientcmdapi.AuthInfo{Token: granted.Status.Token}
	identity.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "c"}
	identity.CurrentContext = "c"
	if err := clientcmd.WriteToFile(*identity, w.kubeconfig); err != nil {
		w.t.Fatal(err)
	}
}

// process is one running controller.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	ended chan error
	log   *safeBuffer
}

// safeBuffer gathers a log that is read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (w *world) start(args ...string) *process {
	w.t.Helper()
	path, err := binary()
	if err != nil {
		w.t.Fatal(err)
	}
	p := &process{t: w.t, ended: make(chan error, 1), log: &safeBuffer{}}
	p.cmd = exec.Command(path, append([]string{
		"run", "--kubeconfig=" + w.kubeconfig, "--namespace=" + namespace,
		"--health-address=127.0.0.1:0", "--metrics-address=127.0.0.1:0", "--log-format=text",
	}, args...)...)
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	p.cmd.Stderr, p.cmd.Stdout = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	w.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if w.t.Failed() {
			w.t.Logf("the controller's log:\n%s", p.log)
		}
	})
	return p
}

// end sends a signal, waits for the end, and returns the exit code.
func (p *process) end(signal syscall.Signal) int {
	p.t.Helper()
	_ = p.cmd.Process.Signal(signal)
	select {
	case <-p.ended:
	case <-time.After(settle):
		p.t.Fatalf("the controller did not end after %s", signal)
	}
	if strings.Contains(p.log.String(), "DATA RACE") {
		p.t.Error("the race detector found something")
	}
	return p.cmd.ProcessState.ExitCode()
}

func (w *world) create(name string) {
	w.t.Helper()
	conv := &polychromev1alpha1.Conversation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: polychromev1alpha1.ConversationSpec{IdleTimeoutSeconds: 86400}}
	if _, err := w.client.PolychromeV1alpha1().Conversations(namespace).Create(w.t.Context(), conv, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// eventuallyAllReady waits until every conversation is ready, and returns
// how many there are.
func (w *world) eventuallyAllReady() int {
	w.t.Helper()
	count := 0
	cluster.Eventually(w.t, settle, func() error {
		list, err := w.client.PolychromeV1alpha1().Conversations(namespace).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		count = len(list.Items)
		for _, conv := range list.Items {
			if !conv.Status.HarnessReady {
				return fmt.Errorf("conversation %s is not ready: %+v", conv.Name, conv.Status)
			}
		}
		return nil
	})
	return count
}

// asked returns what the controller asked since a mark, but for watches and
// its lease.
func (w *world) asked(since int) []string {
	w.t.Helper()
	var asked []string
	for _, r := range cluster.ReadAudit(w.t, w.server.AuditLog())[since:] {
		absent := r.Resource == "" && r.Code == http.StatusNotFound
		if r.User == account && r.Verb != "watch" && r.Resource != "leases" && r.Stage != "RequestReceived" && !absent {
			asked = append(asked, fmt.Sprintf("%s %s %d", r.Verb, r.URI, r.Code))
		}
	}
	return asked
}

// mark is where the audit log ends now.
func (w *world) mark() int {
	w.t.Helper()
	return len(cluster.ReadAudit(w.t, w.server.AuditLog()))
}
