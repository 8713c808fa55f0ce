package cluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"polychrome.dev/controller/test/cluster"
)

const patience = 30 * time.Second

var parts = schema.GroupVersionResource{Group: "test.polychrome.dev", Version: "v1", Resource: "parts"}

func TestObjectsOutliveKillAndStop(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{APIOnly: true, Audit: true})
	client := kubernetesClient(t, c.Config())
	created, err := client.CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating an object: %v", err)
	}
	for name, end := range map[string]func(){"killed": c.Kill, "stopped": c.Stop} {
		before := time.Now()
		end()
		if took := time.Since(before); took > 3*time.Second {
			t.Errorf("a control plane being %s took %v to end", name, took)
		}
		if _, err := get(t.Context(), client, created.Name); err == nil {
			t.Errorf("a %s control plane still answers", name)
		}
		c.Restart()
		found, err := get(t.Context(), client, created.Name)
		if err != nil {
			t.Fatalf("reading from a restarted control plane with the client of before: %v", err)
		}
		if found.UID != created.UID {
			t.Errorf("a control plane that was %s has the object %s, want %s", name, found.UID, created.UID)
		}
	}
	if !audited(cluster.ReadAudit(t, c.AuditLog()), "create", "configmaps", 201) {
		t.Error("the audit log does not show that the object was created")
	}
}

func TestGarbageIsCollectedForDefinitionsServedFromTheStart(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{CRDDirs: []string{"testdata"}})
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	objects := client.Resource(parts).Namespace("default")
	owner := createPart(t, objects, part("owner"))
	child := part("child")
	child.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "test.polychrome.dev/v1", Kind: "Part", Name: owner.GetName(), UID: owner.GetUID(),
	}})
	createPart(t, objects, child)
	if err := objects.Delete(t.Context(), owner.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the owner: %v", err)
	}
	cluster.Eventually(t, patience, func() error {
		_, err := objects.Get(t.Context(), "child", metav1.GetOptions{})
		if err == nil {
			return errors.New("the child is still there")
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	})
}

func TestRightsAreEnforced(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{APIOnly: true})
	cfg := c.Config()
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	_, err := get(t.Context(), kubernetesClient(t, cfg), "any")
	if !apierrors.IsForbidden(err) {
		t.Errorf("a user without rights got %v, want forbidden", err)
	}
}

func TestKubectlReachesAPrivateControlPlane(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{APIOnly: true})
	got := c.Kubectl("get", "namespace", "default", "-o", "name")
	if want := "namespace/default"; strings.TrimSpace(got) != want {
		t.Errorf("kubectl printed %q, want %q", got, want)
	}
	if version := c.Kubectl("version"); !strings.Contains(version, "Server Version: v1.") {
		t.Errorf("kubectl version does not know the server's version:\n%s", version)
	}
}

func kubernetesClient(t *testing.T, cfg *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	return client
}

func get(ctx context.Context, client kubernetes.Interface, name string) (*corev1.ConfigMap, error) {
	return client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
}

func audited(requests []cluster.Request, verb, resource string, code int) bool {
	for _, r := range requests {
		if r.Verb == verb && r.Resource == resource && r.Code == code && r.User == "admin" {
			return true
		}
	}
	return false
}

func part(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("test.polychrome.dev/v1")
	u.SetKind("Part")
	u.SetName(name)
	return u
}

func createPart(t *testing.T, objects dynamic.ResourceInterface, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created, err := objects.Create(t.Context(), u, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating %s: %v", u.GetName(), err)
	}
	return created
}
