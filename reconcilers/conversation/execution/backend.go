package execution

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// TightPoll is how often a unit that is not ready is looked at, and the pace
// of a backend that has no watch.
const TightPoll = 30 * time.Second

// Backend is the mechanism that provides execution units. What wakes the
// reconciler when a unit changes is wired apart from it.
type Backend interface {
	// Observe reads the unit that bears the conversation's name, from a
	// cache. An error means that nothing is known of it.
	Observe(conv *polychromev1alpha1.Conversation) (Unit, error)
	// Ensure makes the unit, or brings it back to what it should be.
	Ensure(ctx context.Context, conv *polychromev1alpha1.Conversation) (Made, error)
	// Teardown deletes the unit if it is still what ref says. One that is
	// gone already is success.
	Teardown(ctx context.Context, conv *polychromev1alpha1.Conversation, ref Ref) error
	// Kind names the mechanism in logs.
	Kind() string
	// ReadyPollInterval is how often a ready unit is looked at although
	// nothing was heard of it.
	ReadyPollInterval() time.Duration
}

// Made is what ensuring a unit taught.
type Made struct {
	// Created says that it was made just now.
	Created bool
	// Generation is the harness image generation it carries.
	Generation string
}

// Standing is whose object bears the unit's name.
type Standing int

const (
	// Nobodys means that there is none.
	Nobodys Standing = iota
	// Own means that it is this conversation's.
	Own
	// Foreign is anything else. To the conversation its unit is absent.
	Foreign
)

// Ref is one version of one incarnation of a unit. One without a UID could
// not be read.
type Ref struct {
	// Name is the unit's name.
	Name string `json:"name"`
	// UID is its incarnation.
	UID types.UID `json:"uid,omitempty"`
	// Version is its resourceVersion.
	Version string `json:"version,omitempty"`
}

// Unit is what a backend knows of an execution unit. Apart from the first
// three fields everything is about an own one.
type Unit struct {
	// Name is the unit's, also when there is none.
	Name string
	// Unserved is set while the backend's API does not exist.
	Unserved bool
	// Standing is whose it is.
	Standing Standing
	// UID and Version are the incarnation and version that were read.
	UID     types.UID
	Version string
	// Terminating is set while it is being deleted, held by HeldBy.
	Terminating bool
	HeldBy      []string
	// CreatedAt is when it was made, in Unix seconds.
	CreatedAt int64
	// Address is where the harness can be dialled, if it is known.
	Address string
	// Ready is what the unit says of itself.
	Ready bool
	// BlockedBy is a reason why it cannot become ready, with its text.
	BlockedBy, BlockedText string
	// EndedBy is a reason why it will never be ready again, with its text.
	EndedBy, EndedText string
	// Generation is the harness image generation it was made with.
	Generation string
	// Drift names the paths in which it is not what it should be.
	Drift []string
}

// Present reports whether the conversation has a unit, going or not.
func (u Unit) Present() bool { return u.Standing == Own }

// Live reports whether the conversation has a unit that is not going.
func (u Unit) Live() bool { return u.Standing == Own && !u.Terminating }

// Dialable reports whether the harness may be advertised: an operator may
// call a unit ready before it has an address.
func (u Unit) Dialable() bool { return u.Live() && u.Ready && u.Address != "" }

// Ended reports whether the conversation has a unit that is not going by
// itself, and that can only be replaced.
func (u Unit) Ended() bool { return u.Live() && u.EndedBy != "" }

// Ref is the unit as it was read.
func (u Unit) Ref() Ref { return Ref{Name: u.Name, UID: u.UID, Version: u.Version} }

// NameOf is the recorded name of the unit, or else the one it would get.
func NameOf(conv *polychromev1alpha1.Conversation) string {
	if recorded := conv.Status.SandboxClaimName; recorded != "" {
		return recorded
	}
	return conv.Name
}
