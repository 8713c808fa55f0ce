package framework

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// presence asks whether an API is served and may be read. Discovery is open
// to every authenticated client, so that no right on CRDs is needed.
type presence struct {
	rest      rest.Interface
	resource  schema.GroupVersionResource
	namespace string
}

// check answers Served, Absent without an error, or Unknown with one.
// Without a client to ask, as over a fake clientset, every API is served.
func (p presence) check(ctx context.Context) (State, error) {
	if p.rest == nil {
		return Served, nil
	}
	served, err := p.discovered(ctx)
	switch {
	case err != nil:
		return Unknown, err
	case !served:
		return Absent, nil
	}
	// Without a resourceVersion, or the limit would be ignored.
	err = p.rest.Get().AbsPath(p.root()).Namespace(p.namespace).Resource(p.resource.Resource).
		VersionedParams(&metav1.ListOptions{Limit: 1}, metav1.ParameterCodec).Do(ctx).Error()
	switch {
	case apierrors.IsNotFound(err):
		return Absent, nil
	case err != nil:
		return Unknown, fmt.Errorf("listing one of %s in namespace %s: %w", p.resource.GroupResource(), p.namespace, err)
	}
	return Served, nil
}

func (p presence) discovered(ctx context.Context) (bool, error) {
	raw, err := p.rest.Get().AbsPath(p.root()).SetHeader("Accept", "application/json").Do(ctx).Raw()
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("asking discovery for %s: %w", p.resource.GroupVersion(), err)
	}
	var group metav1.APIResourceList
	if err := json.Unmarshal(raw, &group); err != nil {
		return false, fmt.Errorf("reading discovery of %s: %w", p.resource.GroupVersion(), err)
	}
	return slices.ContainsFunc(group.APIResources, func(served metav1.APIResource) bool {
		return served.Name == p.resource.Resource
	}), nil
}

func (p presence) root() string {
	if p.resource.Group == "" {
		return "/api/" + p.resource.Version
	}
	return "/apis/" + p.resource.GroupVersion().String()
}
