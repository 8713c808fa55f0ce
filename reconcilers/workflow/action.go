package workflow

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// ActionKind is what an action does.
type ActionKind string

// The actions; each is one write.
const (
	// ApplyStage makes the ServiceDefinition of a stage, or brings it to what
	// the spec says.
	ApplyStage ActionKind = "ApplyStage"
	// RemoveStage deletes the ServiceDefinition of a stage that is no longer in
	// the spec.
	RemoveStage ActionKind = "RemoveStage"
)

// Action is one intended write.
type Action struct {
	// Kind is what to do.
	Kind ActionKind `json:"kind"`
	// Stage is the name of the stage.
	Stage string `json:"stage"`
	// Child is the name of its ServiceDefinition.
	Child string `json:"child"`
	// Drift names the paths in which ApplyStage changes it; the path "" is the
	// whole of one that is to be made.
	Drift []string `json:"drift,omitempty"`
	// UID is that of the child, empty if it is to be made.
	UID types.UID `json:"uid,omitempty"`
	// Version is the one that RemoveStage was decided on.
	Version string `json:"version,omitempty"`
}

// String renders the action for people.
func (a Action) String() string {
	text := string(a.Kind) + " " + a.Child
	if drift := strings.Join(a.Drift, ", "); drift != "" {
		text += " (" + drift + ")"
	}
	return text
}

// Learned is what an action teaches the status.
type Learned struct {
	// Applied is the ServiceDefinition as the API server answered.
	Applied *polychromev1alpha1.ServiceDefinition
	// Refused is why the API server would not have this one write.
	Refused error
}
