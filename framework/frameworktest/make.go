package frameworktest

import (
	"crypto/sha256"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Option gives a sample object one property.
type Option func(metav1.Object)

// Make applies options to an object and gives it what every stored object
// has, where they did not: a UID that follows from its namespace and name,
// and generation 1.
//
//	w := frameworktest.Make(&v1.Widget{}, frameworktest.Name("w"), frameworktest.Finalizers("example.test/widget"))
func Make[T metav1.Object](obj T, options ...Option) T {
	for _, option := range options {
		option(obj)
	}
	if obj.GetUID() == "" {
		obj.SetUID(UIDOf(obj.GetNamespace(), obj.GetName()))
	}
	if obj.GetGeneration() == 0 {
		obj.SetGeneration(1)
	}
	return obj
}

// UIDOf is the UID that Make gives to an object of that name. It has the form
// of a real one.
func UIDOf(namespace, name string) types.UID {
	sum := sha256.Sum256([]byte(namespace + "/" + name))
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}

// Name sets the name.
func Name(name string) Option {
	return func(obj metav1.Object) { obj.SetName(name) }
}

// InNamespace sets the namespace.
func InNamespace(namespace string) Option {
	return func(obj metav1.Object) { obj.SetNamespace(namespace) }
}

// UID sets the UID.
func UID(uid types.UID) Option {
	return func(obj metav1.Object) { obj.SetUID(uid) }
}

// Generation sets the generation.
func Generation(generation int64) Option {
	return func(obj metav1.Object) { obj.SetGeneration(generation) }
}

// Labels adds labels.
func Labels(labels map[string]string) Option {
	return func(obj metav1.Object) { obj.SetLabels(union(obj.GetLabels(), labels)) }
}

// Annotations adds annotations.
func Annotations(annotations map[string]string) Option {
	return func(obj metav1.Object) { obj.SetAnnotations(union(obj.GetAnnotations(), annotations)) }
}

func union(old, added map[string]string) map[string]string {
	all := make(map[string]string, len(old)+len(added))
	for key, value := range old {
		all[key] = value
	}
	for key, value := range added {
		all[key] = value
	}
	return all
}

// Finalizers adds finalizers.
func Finalizers(finalizers ...string) Option {
	return func(obj metav1.Object) {
		old := obj.GetFinalizers()
		obj.SetFinalizers(append(old[:len(old):len(old)], finalizers...))
	}
}

// CreatedAt sets the time of creation.
func CreatedAt(at time.Time) Option {
	return func(obj metav1.Object) { obj.SetCreationTimestamp(metav1.NewTime(at)) }
}

// Deleting has the object be deleted since a time.
func Deleting(at time.Time) Option {
	return func(obj metav1.Object) {
		stamp, grace := metav1.NewTime(at), int64(0)
		obj.SetDeletionTimestamp(&stamp)
		obj.SetDeletionGracePeriodSeconds(&grace)
	}
}

// OwnedBy adds a controller reference to an owner. The kind is given because
// typed objects do not carry theirs.
func OwnedBy(owner metav1.Object, kind schema.GroupVersionKind) Option {
	reference := *metav1.NewControllerRef(owner, kind)
	// As Apply makes it: it does not hold the owner's deletion up.
	reference.BlockOwnerDeletion = nil
	return func(obj metav1.Object) {
		old := obj.GetOwnerReferences()
		obj.SetOwnerReferences(append(old[:len(old):len(old)], reference))
	}
}
