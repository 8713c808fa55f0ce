package framework

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Object is any API type: a pointer to a struct with ObjectMeta and TypeMeta.
type Object interface {
	comparable
	metav1.Object
	runtime.Object
}

// Key is the namespace and name of an object, as queued.
type Key = types.NamespacedName

// Reconciler is what a kind brings: the content of the four beats of a pass.
// The framework brings their order. T is the reconciled type, W the world of
// one pass, A the kind's action type.
type Reconciler[T Object, W, A any] interface {
	// Observe does every read of the pass, from caches, into one world. An
	// error ends the pass before anything is decided.
	Observe(ctx context.Context, obj T) (W, error)

	// Plan decides. It is pure: the same arguments give the same plan, and
	// obj and world are not changed. It may be called at any time, also for
	// a preview whose actions are never carried out.
	Plan(now time.Time, obj T, world W) Plan[A]

	// Act carries out one action. obj is from the cache and must not be
	// changed. Writes go through a Resource, so that the next pass waits
	// for them to be seen.
	Act(ctx context.Context, obj T, action A) (Result, error)

	// Status returns obj with its whole desired status, as a copy when it
	// differs. It is pure and is called after acting, also when an action
	// failed: done then ends with that action and its error. It keeps
	// conditions that are not its own: the framework adds and removes
	// SchemaSkew, HotLoop, Paused and Stalled afterwards.
	Status(now time.Time, obj T, world W, done []Done[A]) T
}

// Plan is a decision as data.
type Plan[A any] struct {
	// Decision names what was decided, for logs and previews: a constant
	// word of the kind's own vocabulary.
	Decision string
	// Actions are carried out in order; the first failure ends acting. Their
	// text goes into logs and the decision log: it holds no secret.
	Actions []A
	// Wait asks for the next pass after this long although nothing may have
	// changed. Zero waits for a change only. It counts only if nothing
	// failed.
	Wait time.Duration
	// WaitFor names what Wait is for, in a few constant words; people see it
	// in the decision log.
	WaitFor string
	// Spread marks Wait as a periodic look rather than a deadline: it becomes
	// half to one and a half of itself, by a phase of the object's UID, so that
	// objects made together do not wake together.
	Spread bool
	// Unpaced is for actions that the kind limits by itself: they do not wait
	// for the turn that rewrites of an object wait for when it was settled
	// before the start. The status still does, unless an action wrote.
	Unpaced bool
	// Events are told to users once per object and process.
	Events []Event
}

// Result is what one action came to.
type Result struct {
	// Wait asks for another pass after this long; the soonest wait of plan
	// and results wins.
	Wait time.Duration
	// Learned is a fact for Status, of the kind's own vocabulary. Nil when
	// the action taught nothing.
	Learned any
	// Events are told to users once per object and process.
	Events []Event
}

// Done is an action that was tried.
type Done[A any] struct {
	// Action is the action as planned.
	Action A
	// Result is what it came to; zero when Err is set.
	Result Result
	// Err is why it failed; nil when it was carried out.
	Err error
}

// Event is something a user should hear of an object.
type Event struct {
	// Warning tells trouble from news.
	Warning bool
	// Reason is a CamelCase word from a small set.
	Reason string
	// Message is one sentence for people; it holds no secret.
	Message string
}
