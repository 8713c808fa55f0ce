package crds

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	crdclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	fieldManager    = "controlplane"
	nudgeAnnotation = "polychrome.dev/nudged-at"
	nudgeInterval   = time.Second
	pollInterval    = 50 * time.Millisecond
)

// Apply applies definitions and waits until every one of them is served.
func Apply(ctx context.Context, client apiextensions.Interface, definitions []Definition) error {
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	force := true
	options := metav1.PatchOptions{FieldManager: fieldManager, Force: &force}
	for _, d := range definitions {
		if _, err := crds.Patch(ctx, d.name, types.ApplyPatchType, d.body, options); err != nil {
			return fmt.Errorf("applying the definition %s: %w", d.name, err)
		}
	}
	for _, d := range definitions {
		if err := waitUntilServed(ctx, crds, d.name); err != nil {
			return fmt.Errorf("waiting for the definition %s: %w", d.name, err)
		}
	}
	return nil
}

// waitUntilServed nudges a definition that is slow to be served. One whose API server was killed between accepting its names
// and serving it is only looked at again after an update, and applying it unchanged is none.
func waitUntilServed(ctx context.Context, crds crdclient.CustomResourceDefinitionInterface, name string) error {
	nudge := time.NewTicker(nudgeInterval)
	defer nudge.Stop()
	return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		crd, err := crds.Get(ctx, name, metav1.GetOptions{})
		if err != nil || established(crd) {
			return err == nil, err
		}
		select {
		case now := <-nudge.C:
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, nudgeAnnotation, now.Format(time.RFC3339Nano))
			_, err = crds.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		default:
		}
		return false, err
	})
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}
