package cluster

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// KubeconfigEnv names the kubeconfig of the shared cluster.
	KubeconfigEnv = "POLYCHROME_TEST_KUBECONFIG"
	// BinEnv names the folder of the cluster's binaries.
	BinEnv = "POLYCHROME_TEST_BIN"

	skipped = "needs a Kubernetes API server; make test runs this test with one"
	// cleanupLimit bounds what happens after a test, when its own context has ended.
	cleanupLimit = 10 * time.Second
)

// shared is read once per test binary.
var shared = sync.OnceValues(func() (*rest.Config, error) {
	cfg, err := load(os.Getenv(KubeconfigEnv))
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
	defer cancel()
	if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return nil, fmt.Errorf("asking the API server whether it is ready: %w", err)
	}
	return cfg, nil
})

// Shared returns the administrator's access to the cluster shared by all tests, without client-side rate limits. The
// test may change the returned value.
func Shared(t testing.TB) *rest.Config {
	t.Helper()
	if os.Getenv(KubeconfigEnv) == "" {
		t.Skip(skipped)
	}
	cfg, err := shared()
	if err != nil {
		t.Fatalf("the cluster of %s does not work: %v", KubeconfigEnv, err)
	}
	return rest.CopyConfig(cfg)
}

// Namespace creates a namespace for one test and returns its name. It is deleted after the test, without waiting for the
// deletion to end.
func Namespace(t testing.TB, cfg *rest.Config) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	namespaces := client.CoreV1().Namespaces()
	wanted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	created, err := namespaces.Create(t.Context(), wanted, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
		defer cancel()
		// A test may have taken the server away on purpose; then nothing is left to clean.
		if err := namespaces.Delete(ctx, created.Name, metav1.DeleteOptions{}); err != nil {
			t.Logf("deleting the namespace %s: %v", created.Name, err)
		}
	})
	return created.Name
}

func load(kubeconfig string) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	cfg.QPS = -1
	return cfg, nil
}
