package crds

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

func TestReadFindsTheDefinitionsAmongOtherKinds(t *testing.T) {
	found, err := Read([]string{"testdata/mixed"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range found {
		got = append(got, d.name)
	}
	want := []string{"parts.test.polychrome.dev", "wholes.test.polychrome.dev"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestReadRefusesAFolderWithoutDefinitions(t *testing.T) {
	for _, folder := range []string{"testdata/empty", "testdata/missing"} {
		if _, err := Read([]string{"testdata/mixed", folder}); err == nil || !strings.Contains(err.Error(), folder) {
			t.Errorf("reading %s returned %v, want an error that names it", folder, err)
		}
	}
}

// A definition whose API server died before it was served stays as it is until something updates it.
func TestADefinitionThatIsStuckIsNudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "parts.test.polychrome.dev"
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
		client := fake.NewSimpleClientset()
		client.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, crd.DeepCopy(), nil
		})
		client.PrependReactor("patch", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
				{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
			}
			return true, crd.DeepCopy(), nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := waitUntilServed(ctx, client.ApiextensionsV1().CustomResourceDefinitions(), name); err != nil {
			t.Errorf("waiting for a stuck definition: %v", err)
		}
	})
}
