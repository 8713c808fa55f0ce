package owners

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Owner is the object that children are made for.
type Owner struct {
	// APIVersion and Kind are its type, as in a reference.
	APIVersion, Kind string
	// Name is its name, in the namespace of the child.
	Name string
	// UID tells it from an earlier object of the same name.
	UID types.UID
	// UIDLabel is the key of the label in which its children carry its UID.
	// Empty if they do not.
	UIDLabel string
}

// Ownership is the relation of a child to an owner.
type Ownership int

const (
	// Foreign children have another controller, or one that is not clear.
	Foreign Ownership = iota
	// Free children have no controller and do not say that they are ours.
	Free
	// Ours are the owner's own.
	Ours
)

// String names the relation.
func (o Ownership) String() string {
	switch o {
	case Ours:
		return "ours"
	case Free:
		return "free"
	}
	return "foreign"
}

// Judge tells whose a child is. It is the owner's if its only controller
// reference has the owner's group (in any version), kind and UID, or if it
// has no controller reference and the owner's UID in its label.
func Judge(owner Owner, child metav1.Object) Ownership {
	if child == nil {
		return Foreign
	}
	references := controllers(child)
	if len(references) == 0 {
		if owner.UID != "" && owner.UIDLabel != "" && child.GetLabels()[owner.UIDLabel] == string(owner.UID) {
			return Ours
		}
		return Free
	}
	if len(references) == 1 && owner.is(references[0]) {
		return Ours
	}
	return Foreign
}

// Controller returns the child's controller reference, and false if it has
// none or several.
func Controller(child metav1.Object) (metav1.OwnerReference, bool) {
	if child != nil {
		if references := controllers(child); len(references) == 1 {
			return references[0], true
		}
	}
	return metav1.OwnerReference{}, false
}

// Fields is the reference by which a child names its controller, in the
// fields of a JSON object. It does not hold the owner's deletion up.
func (o Owner) Fields() map[string]any {
	return map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "name": o.Name, "uid": string(o.UID), "controller": true}
}

// IsIn reports whether a reference, in the fields of a JSON object, is to the
// owner, whatever else it says.
func (o Owner) IsIn(reference any) bool {
	fields, _ := reference.(map[string]any)
	return o.UID != "" && fields["uid"] == string(o.UID)
}

func (o Owner) is(reference metav1.OwnerReference) bool {
	ours, ok := group(o.APIVersion)
	theirs, okToo := group(reference.APIVersion)
	return ok && okToo && ours == theirs &&
		o.Kind != "" && o.Kind == reference.Kind &&
		o.UID != "" && o.UID == reference.UID
}

// group is the group of an API version, and false if that is none.
func group(apiVersion string) (string, bool) {
	parsed, err := schema.ParseGroupVersion(apiVersion)
	if err != nil || parsed.Version == "" {
		return "", false
	}
	return parsed.Group, true
}

func controllers(child metav1.Object) []metav1.OwnerReference {
	var found []metav1.OwnerReference
	for _, reference := range child.GetOwnerReferences() {
		if reference.Controller != nil && *reference.Controller {
			found = append(found, reference)
		}
	}
	return found
}
