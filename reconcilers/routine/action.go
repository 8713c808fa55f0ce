package routine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Action is the removal of one leftover; there is no other write.
type Action struct {
	// Kind is what it is, Name its name.
	Kind Leftover `json:"kind"`
	Name string   `json:"name"`
	// UID and Version are those that were judged.
	UID     types.UID `json:"uid"`
	Version string    `json:"version"`
}

// String renders the action for people.
func (a Action) String() string { return "Remove " + string(a.Kind) + " " + a.Name }

func removal(kind Leftover, obj metav1.Object) Action {
	return Action{Kind: kind, Name: obj.GetName(), UID: obj.GetUID(), Version: obj.GetResourceVersion()}
}
