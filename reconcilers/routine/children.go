package routine

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// Leftover is a kind of object that older releases made for a routine.
type Leftover string

// The leftovers, in the order in which they are removed: the trigger goes
// before what it runs as.
const (
	// CronJob fired the routine.
	CronJob Leftover = "CronJob"
	// ServiceAccount is what the CronJob's pods ran as.
	ServiceAccount Leftover = "ServiceAccount"
)

var leftovers = [...]Leftover{CronJob, ServiceAccount}

const leftoverPrefix = "routine-"

// leftoverName is the name of a routine's leftovers.
func leftoverName(routine string) string { return leftoverPrefix + routine }

// MapLeftover maps an object to the routine that it may be a leftover of. By
// the name: most objects of these kinds concern nobody.
func MapLeftover(obj *metav1.PartialObjectMetadata) []framework.Key {
	routine, ok := strings.CutPrefix(obj.Name, leftoverPrefix)
	if !ok || routine == "" {
		return nil
	}
	return []framework.Key{{Namespace: obj.Namespace, Name: routine}}
}

// ownedBy reports whether the routine is an object's owner, and its only one:
// what others own too is theirs to remove. Older releases may not have called
// themselves the controller.
func ownedBy(routine *polychromev1alpha1.Routine, obj metav1.Object) bool {
	references := obj.GetOwnerReferences()
	for _, reference := range references {
		group, err := schema.ParseGroupVersion(reference.APIVersion)
		if err != nil || group.Group != polychromev1alpha1.GroupName ||
			reference.Kind != "Routine" || reference.UID != routine.UID {
			return false
		}
	}
	return len(references) > 0 && routine.UID != ""
}
