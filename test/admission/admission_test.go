package admission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

// refusal opens a bad example; what follows it must be in the server's answer.
const refusal = "# refused: "

func TestBadObjectsAreRefusedWithAdvice(t *testing.T) {
	cfg := cluster.Shared(t)
	namespace := cluster.Namespace(t, cfg)
	for name, data := range examples(t, "bad") {
		t.Run(name, func(t *testing.T) {
			first, _, _ := strings.Cut(string(data), "\n")
			want, found := strings.CutPrefix(first, refusal)
			if !found {
				t.Fatalf("the first line does not begin with %q", refusal)
			}
			object := object(t, data)
			_, err := resource(t, cfg, object, namespace).Create(t.Context(), object, metav1.CreateOptions{})
			if !apierrors.IsInvalid(err) {
				t.Fatalf("want it refused as invalid, got %v", err)
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("want %q in the answer, got:\n%v", want, err)
			}
		})
	}
}

func TestGoodObjectsAreAccepted(t *testing.T) {
	cfg := cluster.Shared(t)
	namespace := cluster.Namespace(t, cfg)
	for name, data := range examples(t, "good") {
		t.Run(name, func(t *testing.T) {
			create(t, cfg, namespace, data)
		})
	}
}

// What the server fills in, seen by reading the object back. Every kind that has
// a reconciler is not ready until that has looked.
func TestDefaultsAreFilledIn(t *testing.T) {
	cfg := cluster.Shared(t)
	namespace := cluster.Namespace(t, cfg)
	pending := node{"conditions": []any{node{
		"type": "Ready", "status": "False", "reason": string(polychromev1alpha1.ReasonPending),
		"message":            "no controller has looked at this object yet",
		"lastTransitionTime": "1970-01-01T00:00:00Z",
	}}}
	prompt := node{"text": "summarise the news"}
	cron := node{"expression": "0 9 * * 1-5", "timeZone": polychromev1alpha1.DefaultTimeZone}
	env := node{}
	port, replicas := int64(polychromev1alpha1.DefaultPort), int64(polychromev1alpha1.DefaultReplicas)
	tests := []struct {
		example    string
		wantSpec   node
		wantStatus any
	}{
		{"agent-minimal.yaml", node{}, nil},
		{"conversation-minimal.yaml", node{
			"model": "", "idleTimeoutSeconds": int64(0), "principalRef": "", "toolsEnabled": []any{}, "toolsDisabled": []any{},
		}, pending},
		{"routine-minimal.yaml", node{
			"owner": "user:slack/U1", "prompt": prompt, "schedule": node{"cron": cron}, "scope": "Private", "suspend": false,
		}, pending},
		{"servicedefinition-minimal.yaml", node{"image": "app", "port": port, "replicas": replicas, "env": env}, pending},
		{"toolservice-minimal.yaml", node{"name": "weather"}, pending},
		{"workflow-minimal.yaml", node{"stages": []any{node{
			"name": "serve", "image": "app", "kind": "service", "port": port, "replicas": replicas, "env": env,
		}}}, pending},
	}
	good := examples(t, "good")
	for _, tt := range tests {
		t.Run(tt.example, func(t *testing.T) {
			created := create(t, cfg, namespace, good[tt.example])
			client := resource(t, cfg, created, namespace)
			got, err := client.Get(t.Context(), created.GetName(), metav1.GetOptions{})
			if err != nil {
				t.Fatalf("reading it back: %v", err)
			}
			if diff := cmp.Diff(any(tt.wantSpec), got.Object["spec"]); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.wantStatus, got.Object["status"]); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// examples reads a folder of testdata.
func examples(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples in %s: %v", folder, err)
	}
	found := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(file)] = data
	}
	return found
}

func object(t *testing.T, data []byte) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: decoded(t, data)}
}

// resource is a client for the kind of an object of ours.
func resource(t *testing.T, cfg *rest.Config, object *unstructured.Unstructured, namespace string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	plural := strings.ToLower(object.GetKind()) + "s"
	return client.Resource(polychromev1alpha1.SchemeGroupVersion.WithResource(plural)).Namespace(namespace)
}

func create(t *testing.T, cfg *rest.Config, namespace string, data []byte) *unstructured.Unstructured {
	t.Helper()
	object := object(t, data)
	created, err := resource(t, cfg, object, namespace).Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatalf("creating the %s: %v", object.GetKind(), err)
	}
	return created
}
