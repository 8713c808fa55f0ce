package cluster_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/test/cluster"
)

func TestEveryTestGetsANamespaceOfItsOwn(t *testing.T) {
	cfg := cluster.Shared(t)
	client := kubernetesClient(t, cfg)
	first, second := "", ""
	t.Run("in use", func(t *testing.T) {
		first, second = cluster.Namespace(t, cfg), cluster.Namespace(t, cfg)
		for _, namespace := range []string{first, second} {
			_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(),
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "same"}}, metav1.CreateOptions{})
			if err != nil {
				t.Errorf("creating an object in %s: %v", namespace, err)
			}
		}
	})
	for _, name := range []string{first, second} {
		namespace, err := client.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && namespace.DeletionTimestamp.IsZero() {
			t.Errorf("the namespace %s has not been deleted after its test", name)
		}
	}
}

func TestKubectlReachesTheSharedCluster(t *testing.T) {
	got := cluster.Kubectl(t, "get", "nodes", "-o", "name")
	if !strings.Contains(got, "node/") {
		t.Errorf("kubectl lists the nodes %q, want at least one", got)
	}
}
