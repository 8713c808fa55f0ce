package widget

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

//go:embed widgets.yaml
var widgetsDefinition []byte

//go:embed loosewidgets.yaml
var looseDefinition []byte

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Define has a server know the widget, and waits until it does.
func Define(ctx context.Context, config *rest.Config) error {
	return define(ctx, config, widgetsDefinition)
}

// DefineLoose has a server know the loose widget, and waits until it does.
func DefineLoose(ctx context.Context, config *rest.Config) error {
	return define(ctx, config, looseDefinition)
}

// Undefine has a server forget the widget.
func Undefine(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	return client.Resource(definitions).Delete(ctx, "widgets.example.test", metav1.DeleteOptions{})
}

func define(ctx context.Context, config *rest.Config, definition []byte) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(definition, &crd.Object); err != nil {
		return fmt.Errorf("reading the definition: %w", err)
	}
	_, err = client.Resource(definitions).Create(ctx, crd, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating %s: %w", crd.GetName(), err)
	}
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	served := client.Resource(GroupVersion.WithResource(plural))
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		_, err := served.List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil, nil
	})
}
