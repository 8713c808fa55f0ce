package toolservice

// ActionKind is what an action does.
type ActionKind string

// The actions.
const (
	// AddFinalizer puts our finalizer on the ToolService.
	AddFinalizer ActionKind = "AddFinalizer"
	// Probe begins a probe; its end brings the next pass.
	Probe ActionKind = "Probe"
	// RemoveFinalizer drops what is remembered and takes our finalizer off.
	RemoveFinalizer ActionKind = "RemoveFinalizer"
)

// Action is one thing to do.
type Action struct {
	// Kind is what to do.
	Kind ActionKind `json:"kind"`
}

// String renders the action for people.
func (a Action) String() string { return string(a.Kind) }
