package frameworktest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Snapshot renders the objects of a namespace so that two runs compare: in a
// stable order, without versions and managed fields, with every time, hash
// and the namespace masked, and each UID replaced by the name of its object,
// so that references still compare. A UID of no object that is listed is
// called unknown. What every namespace has from the start is left out.
type Snapshot struct {
	// Live reads. Required.
	Live dynamic.Interface
	// Namespace is where. Required.
	Namespace string
	// Resources are what to read, in the order to render. Events are no
	// state. Required.
	Resources []schema.GroupVersionResource
	// Mask changes an object before it is rendered: for what else differs from
	// run to run, such as times in numbers or names made up.
	Mask func(resource string, object map[string]any)
}

// State is a Snapshot of the run's namespace, for Scenario.State.
func (r Run) State(resources ...schema.GroupVersionResource) func(context.Context) (string, error) {
	return Snapshot{Live: r.Live, Namespace: r.Namespace, Resources: resources}.Text
}

// Text reads and renders.
func (s Snapshot) Text(ctx context.Context) (string, error) {
	var text strings.Builder
	lists := make([][]unstructured.Unstructured, len(s.Resources))
	known := []string{s.Namespace, "<namespace>"}
	for i, resource := range s.Resources {
		list, err := s.Live.Resource(resource).Namespace(s.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
		}
		slices.SortFunc(list.Items, func(a, b unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
		lists[i] = slices.DeleteFunc(list.Items, func(u unstructured.Unstructured) bool { return given(resource.Resource, u.GetName()) })
		for _, object := range lists[i] {
			known = append(known, string(object.GetUID()), "<uid of "+resource.Resource+"/"+object.GetName()+">")
		}
	}
	masks := strings.NewReplacer(known...)
	for i, resource := range s.Resources {
		for _, object := range lists[i] {
			if s.Mask != nil {
				s.Mask(resource.Resource, object.Object)
			}
			name := object.GetName()
			fmt.Fprintf(&text, "%s/%s %s\n", resource.Resource, name, readable(masked(object.Object, masks), "  "))
		}
	}
	return text.String(), nil
}

// given reports what a control plane puts into every namespace.
func given(resource, name string) bool {
	return resource == "configmaps" && name == "kube-root-ca.crt" || resource == "serviceaccounts" && name == "default"
}

// versioned are the fields of metadata that no two runs have alike.
var versioned = []string{"resourceVersion", "uid", "managedFields", "selfLink"}

var (
	timeText = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	uidText  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

func masked(object map[string]any, masks *strings.Replacer) any {
	if metadata, ok := object["metadata"].(map[string]any); ok {
		for _, field := range versioned {
			delete(metadata, field)
		}
		annotations, _ := metadata["annotations"].(map[string]any)
		for key := range annotations {
			// The framework's hash covers the owner's UID.
			if strings.HasSuffix(key, "/applied-hash") {
				annotations[key] = "<hash>"
			}
		}
	}
	return maskValue(object, masks)
}

func maskValue(value any, masks *strings.Replacer) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = maskValue(v[key], masks)
		}
	case []any:
		for i := range v {
			v[i] = maskValue(v[i], masks)
		}
	case string:
		return uidText.ReplaceAllString(timeText.ReplaceAllString(masks.Replace(v), "<time>"), "<unknown uid>")
	}
	return value
}
