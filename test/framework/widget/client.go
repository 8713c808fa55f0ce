package widget

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// REST makes a REST client of the widget's group.
func REST(config *rest.Config) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(GroupVersion, &Widget{})
	scheme.AddKnownTypeWithName(GroupVersion.WithKind("WidgetList"), &List{})
	scheme.AddKnownTypeWithName(GroupVersion.WithKind("LooseWidget"), &Widget{})
	scheme.AddKnownTypeWithName(GroupVersion.WithKind("LooseWidgetList"), &List{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	config = rest.CopyConfig(config)
	config.GroupVersion, config.APIPath = &GroupVersion, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client of %s: %w", GroupVersion, err)
	}
	return client, nil
}

// Client reads and writes the widgets of one namespace.
type Client struct {
	REST      rest.Interface
	Namespace string
	// Resource is the plural name; widgets or loosewidgets.
	Resource string
}

// Get reads one widget.
func (c *Client) Get(ctx context.Context, name string, opts metav1.GetOptions) (*Widget, error) {
	out := &Widget{}
	err := c.REST.Get().Namespace(c.Namespace).Resource(c.Resource).Name(name).
		VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(out)
	return out, err
}

// List reads all widgets that the type can hold.
func (c *Client) List(ctx context.Context) (*List, error) {
	raw, err := c.REST.Get().Namespace(c.Namespace).Resource(c.Resource).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var list struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("reading a list of %s: %w", c.Resource, err)
	}
	out := &List{ListMeta: list.Metadata}
	for _, item := range list.Items {
		var w Widget
		if json.Unmarshal(item, &w) == nil {
			out.Items = append(out.Items, w)
		}
	}
	return out, nil
}

// Create makes a widget. It goes out as it is: a type of two kinds has no
// encoder that knows which one is meant.
func (c *Client) Create(ctx context.Context, w *Widget) (*Widget, error) {
	body, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("writing the widget: %w", err)
	}
	out := &Widget{}
	return out, c.REST.Post().Namespace(c.Namespace).Resource(c.Resource).Body(body).Do(ctx).Into(out)
}

// Patch changes a widget.
//
//nolint:revive // the parameters are those of a generated client
func (c *Client) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*Widget, error) {
	out := &Widget{}
	return out, c.REST.Patch(pt).Namespace(c.Namespace).Resource(c.Resource).Name(name).SubResource(subresources...).
		VersionedParams(&opts, metav1.ParameterCodec).Body(data).Do(ctx).Into(out)
}

// Delete deletes a widget.
func (c *Client) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return c.REST.Delete().Namespace(c.Namespace).Resource(c.Resource).Name(name).Body(&opts).Do(ctx).Error()
}
