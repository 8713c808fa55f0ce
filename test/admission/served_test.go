package admission

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/served"
	"polychrome.dev/controller/test/cluster"
)

func TestTheServerKeepsEveryFieldOfOurTypes(t *testing.T) {
	client, err := kubernetes.NewForConfig(cluster.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	version := polychromev1alpha1.SchemeGroupVersion
	document, err := client.Discovery().RESTClient().Get().AbsPath("/openapi/v3/apis", version.Group, version.Version).
		SetHeader("Accept", runtime.ContentTypeJSON).Do(t.Context()).Raw()
	if err != nil {
		t.Fatalf("reading what the server knows of %s: %v", version, err)
	}
	for kind, goType := range map[string]reflect.Type{
		"Agent":             reflect.TypeFor[polychromev1alpha1.Agent](),
		"Conversation":      reflect.TypeFor[polychromev1alpha1.Conversation](),
		"Routine":           reflect.TypeFor[polychromev1alpha1.Routine](),
		"ServiceDefinition": reflect.TypeFor[polychromev1alpha1.ServiceDefinition](),
		"ToolService":       reflect.TypeFor[polychromev1alpha1.ToolService](),
		"Workflow":          reflect.TypeFor[polychromev1alpha1.Workflow](),
	} {
		t.Run(kind, func(t *testing.T) {
			missing, err := served.Missing(document, version.WithKind(kind), goType)
			if err != nil {
				t.Fatal(err)
			}
			if len(missing) > 0 {
				t.Errorf("want every field kept, but the server drops %v", missing)
			}
		})
	}
}
