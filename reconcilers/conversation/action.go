package conversation

import (
	"strings"

	"polychrome.dev/controller/reconcilers/conversation/execution"
)

// ActionKind is what an action does.
type ActionKind string

// The actions; each is one write.
const (
	// AddFinalizer puts our finalizer on the conversation.
	AddFinalizer ActionKind = "AddFinalizer"
	// EnsureUnit makes the unit or brings it back to what it should be.
	EnsureUnit ActionKind = "EnsureUnit"
	// RollUnit tears the unit down so that it comes back with the desired
	// generation, if a slot is free.
	RollUnit ActionKind = "RollUnit"
	// TeardownUnit tears the unit down.
	TeardownUnit ActionKind = "TeardownUnit"
	// RemoveFinalizer takes our finalizer off the conversation.
	RemoveFinalizer ActionKind = "RemoveFinalizer"
	// DeleteConversation deletes the conversation.
	DeleteConversation ActionKind = "DeleteConversation"
)

// Action is one intended write.
type Action struct {
	// Kind is what to do.
	Kind ActionKind `json:"kind"`
	// Unit is the unit as it was judged, for those that are about it.
	Unit execution.Ref `json:"unit,omitzero"`
	// Drift names the paths in which the unit is to be mended: by EnsureUnit,
	// and by a RollUnit that has to wait.
	Drift []string `json:"drift,omitempty"`
	// LastChance lets a failing TeardownUnit pass: the conversation has been
	// deleting for too long already.
	LastChance bool `json:"lastChance,omitempty"`
	// Busy says that a turn is under way, which delays RollUnit.
	Busy bool `json:"busy,omitempty"`
}

// String renders the action for people.
func (a Action) String() string {
	text := string(a.Kind)
	if a.Unit.Name != "" {
		text += " " + a.Unit.Name
	}
	if len(a.Drift) > 0 {
		text += " (" + strings.Join(a.Drift, ", ") + ")"
	}
	return text
}

// Learned is what an action teaches the status.
type Learned struct {
	execution.Made
	// Deferred says that a due roll has to wait.
	Deferred bool
}
