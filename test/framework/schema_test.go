package framework_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"polychrome.dev/controller/framework/served"
	"polychrome.dev/controller/test/cluster"
)

// gadget is a newer Go type than the definition below. Each field that the
// definition lacks is named lost.
type gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   gadgetSpec   `json:"spec"`
	Status gadgetStatus `json:"status"`
}

type gadgetSpec struct {
	shared  `json:",inline"`
	Note    string             `json:"note"`
	Parts   []part             `json:"parts"`
	ByName  map[string]part    `json:"byName"`
	Tags    map[string]string  `json:"tags"`
	Labels  map[string]string  `json:"labels"`
	Loose   map[string]part    `json:"loose"`
	Free    part               `json:"free"`
	Halves  halves             `json:"halves"`
	Inner   *corev1.ConfigMap  `json:"inner"`
	When    metav1.Time        `json:"when"`
	Port    intstr.IntOrString `json:"port"`
	Size    resource.Quantity  `json:"size"`
	Raw     runtime.RawExtension
	Hidden  string `json:"-"`
	Renamed string `json:"lost"`
}

type gadgetStatus struct {
	Conditions []metav1.Condition `json:"conditions"`
	Lost       *part              `json:"lost"`
}

type shared struct {
	Common string `json:"common"`
}

type part struct {
	Name string `json:"name"`
	Lost string `json:"lost"`
}

type halves struct {
	Known   part `json:"known"`
	Unknown part `json:"unknown"`
}

const gadgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              common: {type: string}
              note: {type: string}
              parts:
                type: array
                items: {type: object, properties: {name: {type: string}}}
              byName:
                type: object
                additionalProperties: {type: object, properties: {name: {type: string}}}
              tags: {type: object, additionalProperties: {type: string}}
              labels: {type: object}
              loose: {type: object, additionalProperties: true}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              halves:
                type: object
                x-kubernetes-preserve-unknown-fields: true
                properties:
                  known: {type: object, properties: {name: {type: string}}}
              inner:
                type: object
                x-kubernetes-embedded-resource: true
                properties: {data: {type: object, additionalProperties: {type: string}}}
              when: {type: string, format: date-time}
              port: {x-kubernetes-int-or-string: true}
              size: {x-kubernetes-int-or-string: true}
              Raw: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              conditions:
                type: array
                items:
                  type: object
                  properties: {type: {type: string}, status: {type: string}, reason: {type: string}, message: {type: string}}
`

const gadgetSpecSent = `{
	"common": "c", "note": "n", "lost": "x",
	"parts": [{"name": "a", "lost": "x"}], "byName": {"a": {"name": "a", "lost": "x"}},
	"tags": {"a": "b"}, "labels": {"lost": "x"}, "loose": {"a": {"lost": "x"}},
	"free": {"name": "a", "kept": "x"}, "halves": {"known": {"name": "a", "lost": "x"}, "unknown": {"name": "a", "kept": "x"}},
	"inner": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"a": "b"}}, "data": {"a": "b"}, "lost": "x"},
	"when": "2026-01-01T00:00:00Z", "port": "http", "size": "1Gi", "Raw": {"any": {"thing": "x"}}}`

func TestWhatTheServedSchemaLacksIsWhatTheServerDrops(t *testing.T) {
	t.Parallel()
	config := cluster.Shared(t)
	namespace := cluster.Namespace(t, config)
	kind := schema.GroupVersionKind{Group: namespace + ".example.test", Version: "v1", Kind: "Gadget"}
	client := must(dynamic.NewForConfig(config))
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(gadgetDefinition, "GROUP", kind.Group)), &definition.Object); err != nil {
		t.Fatal(err)
	}
	must(definitions.Create(t.Context(), definition, metav1.CreateOptions{}))
	t.Cleanup(func() {
		if err := definitions.Delete(context.WithoutCancel(t.Context()), definition.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Errorf("deleting the definition: %v", err)
		}
	})

	var got []string
	discovery := must(kubernetes.NewForConfig(config)).Discovery().RESTClient()
	cluster.Eventually(t, patience, func() error {
		document, err := discovery.Get().AbsPath("/openapi/v3/apis", kind.Group, kind.Version).
			SetHeader("Accept", runtime.ContentTypeJSON).Do(t.Context()).Raw()
		if err != nil {
			return fmt.Errorf("reading the schema: %w", err)
		}
		got, err = served.Missing(document, kind, reflect.TypeFor[*gadget]())
		return err
	})
	want := []string{
		".spec.byName[*].lost", ".spec.halves.known.lost", ".spec.inner.binaryData", ".spec.inner.immutable", ".spec.labels[*]",
		".spec.loose[*].lost", ".spec.loose[*].name", ".spec.lost", ".spec.parts[].lost", ".status.conditions[].lastTransitionTime", ".status.conditions[].observedGeneration", ".status.lost",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("missing fields (-want +got):\n%s", diff)
	}

	var spec map[string]any
	if err := json.Unmarshal([]byte(gadgetSpecSent), &spec); err != nil {
		t.Fatal(err)
	}
	sent := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	sent.SetGroupVersionKind(kind)
	sent.SetName("g")
	gadgets := client.Resource(kind.GroupVersion().WithResource("gadgets")).Namespace(namespace)
	var stored *unstructured.Unstructured
	cluster.Eventually(t, patience, func() (err error) {
		stored, err = gadgets.Create(t.Context(), sent, metav1.CreateOptions{})
		return err
	})
	if diff := cmp.Diff(withoutLost(spec), stored.Object["spec"]); diff != "" {
		t.Errorf("spec as stored (-want +got):\n%s", diff)
	}
}

// withoutLost takes every member named lost out of a value.
func withoutLost(value any) any {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(name string, _ any) bool { return name == "lost" })
		for _, member := range value {
			withoutLost(member)
		}
	case []any:
		for _, element := range value {
			withoutLost(element)
		}
	}
	return value
}
