package reconcilers

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/generated/informers/externalversions"
)

// Clients reach the API server over the two kinds of connection.
type Clients struct {
	// Unary is for all requests but watches; they have a deadline.
	Unary versioned.Interface
	// Watch is for informers.
	Watch versioned.Interface
	// UnaryKubernetes and WatchKubernetes are the same for Kubernetes' own
	// kinds.
	UnaryKubernetes, WatchKubernetes kubernetes.Interface
	// UnaryMetadata and WatchMetadata are the same for kinds of which only
	// the metadata is read.
	UnaryMetadata, WatchMetadata metadata.Interface
}

// NewClients makes the clients of both connections.
func NewClients(connections framework.Connections) (Clients, error) {
	var c Clients
	var err error
	if c.Unary, c.Watch, err = framework.Clients(connections, versioned.NewForConfig); err != nil {
		return Clients{}, err
	}
	if c.UnaryKubernetes, c.WatchKubernetes, err = framework.Clients(connections, kubernetes.NewForConfig); err != nil {
		return Clients{}, err
	}
	c.UnaryMetadata, c.WatchMetadata, err = framework.Clients(connections, metadata.NewForConfig)
	return c, err
}

// decoded is told of each object as it is decoded; see ResourceOptions.
type decoded[T framework.Object] = func(obj T, raw []byte, err error)

// tolerant makes informers that decode objects one by one. Each comes from a
// factory of its own, since a stopped informer cannot be started again.
func tolerant[T interface {
	framework.Object
	runtime.Object
}](watch versioned.Interface, client rest.Interface, namespace, resource string, empty T,
) func(decoded[T]) cache.SharedIndexInformer {
	return func(told decoded[T]) cache.SharedIndexInformer {
		factory := externalversions.NewSharedInformerFactoryWithOptions(watch, 0, externalversions.WithNamespace(namespace))
		return factory.InformerFor(empty, func(versioned.Interface, time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(
				framework.TolerantListWatch(client, namespace, resource, told), empty,
				cache.SharedIndexInformerOptions{})
		})
	}
}
