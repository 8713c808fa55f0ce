package reconcilers

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
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
}

// NewClients makes the clients of both connections.
func NewClients(connections framework.Connections) (Clients, error) {
	unary, watch, err := framework.Clients(connections, versioned.NewForConfig)
	return Clients{Unary: unary, Watch: watch}, err
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
