package reconcilers

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"polychrome.dev/controller/framework"
)

// partial makes a resource of which only the metadata is read.
func partial(m *framework.Manager, c Clients, namespace, kind string, resource schema.GroupVersionResource,
) *framework.Resource[*metav1.PartialObjectMetadata] {
	return framework.NewResource(m, metadataOf(c, namespace, kind, resource))
}

// removable makes a resource of which the metadata is read, and whose objects
// may be deleted.
func removable(m *framework.Manager, c Clients, namespace, kind string, resource schema.GroupVersionResource,
) *framework.Resource[*metav1.PartialObjectMetadata] {
	o := metadataOf(c, namespace, kind, resource)
	o.Client = deleteOnly{readOnly{c.UnaryMetadata.Resource(resource).Namespace(namespace)}}
	return framework.NewResource(m, o)
}

// metadataOf describes a kind of which only the metadata is read. Controllers
// do without it where it is not served or not theirs to see.
func metadataOf(c Clients, namespace, kind string, resource schema.GroupVersionResource,
) framework.ResourceOptions[*metav1.PartialObjectMetadata] {
	return framework.ResourceOptions[*metav1.PartialObjectMetadata]{
		Resource:  resource,
		Kind:      kind,
		Namespace: namespace,
		Client:    readOnly{c.UnaryMetadata.Resource(resource).Namespace(namespace)},
		Informer: func(decoded[*metav1.PartialObjectMetadata]) cache.SharedIndexInformer {
			return metadatainformer.NewFilteredMetadataInformer(c.WatchMetadata, resource, namespace, 0, cache.Indexers{}, nil).Informer()
		},
		Optional: true,
	}
}

// deleteOnly is a framework.Client of objects that are deleted and not written
// in any other way.
type deleteOnly struct{ readOnly }

// Delete deletes one object.
func (d deleteOnly) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return d.objects.Delete(ctx, name, opts)
}

// readOnly is a framework.Client of objects that are never written.
type readOnly struct{ objects metadata.ResourceInterface }

// errReadOnly is a mistake of ours: there is no right to such a write.
var errReadOnly = errors.New("only the metadata of these objects is read; nothing of them is written")

// Get reads the metadata of one object.
func (r readOnly) Get(ctx context.Context, name string, opts metav1.GetOptions) (*metav1.PartialObjectMetadata, error) {
	return r.objects.Get(ctx, name, opts)
}

// Patch is refused.
func (readOnly) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string,
) (*metav1.PartialObjectMetadata, error) {
	return nil, errReadOnly
}

// Delete is refused.
func (readOnly) Delete(context.Context, string, metav1.DeleteOptions) error { return errReadOnly }
