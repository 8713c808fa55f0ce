package frameworktest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"polychrome.dev/controller/framework/frameworktest"
)

func object(kind, name, uid string, more map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	for key, value := range more {
		u.Object[key] = value
	}
	meta, _ := u.Object["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["namespace"], meta["name"], meta["uid"], meta["resourceVersion"] = "test-1", name, uid, "77"
	u.Object["metadata"] = meta
	return u
}

func TestASnapshotMasksWhatDiffersFromRunToRun(t *testing.T) {
	const (
		parent  = "0b9f2c6e-3c5f-4d4c-9f55-0a1b2c3d4e5f"
		nobody  = "11111111-3c5f-4d4c-9f55-0a1b2c3d4e5f"
		ourselv = "22222222-3c5f-4d4c-9f55-0a1b2c3d4e5f"
	)
	pods, maps := schema.GroupVersionResource{Version: "v1", Resource: "pods"}, schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	accounts := schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	live := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{pods: "PodList", maps: "ConfigMapList", accounts: "ServiceAccountList"},
		object("Pod", "w", parent, map[string]any{"status": map[string]any{
			"at": "2026-11-29T22:12:09Z", "text": "since 2026-11-29T22:12:09.123456+01:00 in test-1", "unix": int64(5), "count": int64(3),
		}}),
		object("ConfigMap", "b", ourselv, map[string]any{"metadata": map[string]any{
			"managedFields": []any{map[string]any{"manager": "m"}}, "creationTimestamp": "2026-11-29T22:12:09Z", "generation": int64(2),
			"annotations":     map[string]any{"example.test/applied-hash": "0123", "other": "kept"},
			"ownerReferences": []any{map[string]any{"name": "w", "uid": parent}, map[string]any{"name": "gone", "uid": nobody}},
		}}),
		object("ConfigMap", "a", nobody[:35]+"0", nil),
		object("ConfigMap", "kube-root-ca.crt", nobody[:35]+"1", nil),
		object("ServiceAccount", "default", nobody[:35]+"2", nil),
	)
	got, err := frameworktest.Snapshot{
		Live: live, Namespace: "test-1", Resources: []schema.GroupVersionResource{pods, maps, accounts},
		Mask: func(_ string, object map[string]any) {
			unstructured.RemoveNestedField(object, "status", "unix")
		},
	}.Text(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := `pods/w {
  "apiVersion": "v1",
  "kind": "Pod",
  "metadata": {
    "name": "w",
    "namespace": "<namespace>"
  },
  "status": {
    "at": "<time>",
    "count": 3,
    "text": "since <time> in <namespace>"
  }
}
configmaps/a {
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "metadata": {
    "name": "a",
    "namespace": "<namespace>"
  }
}
configmaps/b {
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "metadata": {
    "annotations": {
      "example.test/applied-hash": "<hash>",
      "other": "kept"
    },
    "creationTimestamp": "<time>",
    "generation": 2,
    "name": "b",
    "namespace": "<namespace>",
    "ownerReferences": [
      {
        "name": "w",
        "uid": "<uid of pods/w>"
      },
      {
        "name": "gone",
        "uid": "<unknown uid>"
      }
    ]
  }
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
}
