package admission

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"polychrome.dev/controller/generated/crds"
	"polychrome.dev/controller/test/cluster"
)

var definitions = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// constraints are the keywords of a schema that only refuse. Without them a
// definition accepts what it accepted before there were rules.
var constraints = map[string]bool{
	"x-kubernetes-validations": true, "pattern": true, "enum": true, "required": true,
	"minimum": true, "maximum": true, "minLength": true, "maxLength": true,
	"minItems": true, "maxItems": true, "maxProperties": true,
	"x-kubernetes-list-type": true, "x-kubernetes-list-map-keys": true,
}

// Every bad example is stored while the definitions have no rules. Under the
// rules it can still be labelled, given a finalizer and a status, and deleted: an
// upgrade of the definitions leaves no object that cannot be let go of.
func TestObjectsFromBeforeARuleAreSpared(t *testing.T) {
	cfg := cluster.Start(t, cluster.Options{APIOnly: true}).Config()
	installDefinitions(t, cfg, true)
	stored := map[string]*unstructured.Unstructured{}
	for name, data := range examples(t, "bad") {
		if object := store(t, cfg, data); object != nil {
			stored[name] = object
		}
	}
	if len(stored) < 50 {
		t.Fatalf("only %d bad examples could be stored", len(stored))
	}
	installDefinitions(t, cfg, false)

	judged := stored["servicedefinition-image-has-a-space.yaml"]
	_, err := resource(t, cfg, judged, metav1.NamespaceDefault).Patch(t.Context(), judged.GetName(), types.MergePatchType, []byte(`{"spec":{"image":"still bad"}}`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("a bad value changed into another: want it refused as invalid, got %v", err)
	}
	for name, object := range stored {
		t.Run(name, func(t *testing.T) {
			client := resource(t, cfg, object, metav1.NamespaceDefault)
			for _, write := range []struct{ what, patch, subresource string }{
				{"labelling", `{"metadata":{"labels":{"team":"data"}}}`, ""},
				{"adding a finalizer to", `{"metadata":{"finalizers":["polychrome.dev/test"]}}`, ""},
				{"reporting on", `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"InvalidSpec","message":"m","lastTransitionTime":"2026-03-08T09:00:00Z"}]}}`, "status"},
				{"removing the finalizer from", `{"metadata":{"finalizers":null}}`, ""},
			} {
				var subresources []string
				if write.subresource != "" {
					subresources = append(subresources, write.subresource)
				}
				_, err := client.Patch(t.Context(), object.GetName(), types.MergePatchType, []byte(write.patch), metav1.PatchOptions{}, subresources...)
				if err != nil {
					t.Errorf("%s the object: %v", write.what, err)
				}
			}
			if err := client.Delete(t.Context(), object.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Errorf("deleting the object: %v", err)
			}
		})
	}
}

// installDefinitions creates or replaces our definitions and returns when the
// server judges by them.
func installDefinitions(t *testing.T, cfg *rest.Config, lenient bool) {
	t.Helper()
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	for _, document := range crds.Documents() {
		definition := object(t, document.YAML)
		if lenient {
			strip(definition.Object["spec"])
		}
		apply := metav1.ApplyOptions{FieldManager: "test", Force: true}
		if _, err := client.Resource(definitions).Apply(t.Context(), document.Name, definition, apply); err != nil {
			t.Fatalf("installing %s: %v", document.Name, err)
		}
	}
	for name, data := range probes(t) {
		probe := object(t, data)
		cluster.Eventually(t, time.Minute, func() error {
			_, err := resource(t, cfg, probe, metav1.NamespaceDefault).Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if lenient && err != nil || !lenient && !apierrors.IsInvalid(err) {
				return fmt.Errorf("%s: still judged by other rules: %w", name, err)
			}
			return nil
		})
	}
}

// probes are one bad example of each kind.
func probes(t *testing.T) map[string][]byte {
	t.Helper()
	bad, found := examples(t, "bad"), map[string][]byte{}
	for _, name := range []string{
		"agent-approval-policy-is-unknown", "conversation-idle-timeout-is-negative", "routine-prompt-is-blank",
		"servicedefinition-image-has-a-space", "toolservice-url-has-no-host", "workflow-stage-name-has-a-dot",
	} {
		found[name] = bad[name+".yaml"]
	}
	return found
}

// strip removes the constraints from a schema and all below it.
func strip(value any) {
	switch value := value.(type) {
	case node:
		for key, child := range value {
			if _, isSchema := child.(node); constraints[key] && !isSchema {
				delete(value, key)
				continue
			}
			strip(child)
		}
	case []any:
		for _, child := range value {
			strip(child)
		}
	}
}

// store creates an object under a name of its own where its name is not what is
// bad about it, and returns nil where only its type is: that no rule decides.
func store(t *testing.T, cfg *rest.Config, data []byte) *unstructured.Unstructured {
	t.Helper()
	object := object(t, data)
	if object.GetName() == "bad" {
		object.SetName("")
		object.SetGenerateName("bad-")
	}
	created, err := resource(t, cfg, object, metav1.NamespaceDefault).Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil && strings.Contains(err.Error(), "must be of type") {
		return nil
	}
	if err != nil {
		t.Fatalf("storing the %s: %v", object.GetKind(), err)
	}
	return created
}
