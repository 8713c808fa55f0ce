package framework

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// recorder gathers, for one pass, what its writes teach: notes for the next
// pass, and the newest version of the reconciled object. It travels in the
// context of the pass, so that a write through any Resource finds it.
type recorder struct {
	// uid and version are the reconciled object's; version moves forward
	// when a write inside the pass moves it.
	uid     types.UID
	version string
	// gone is set once the pass has removed the reconciled object.
	gone bool
	// alive asks the cache whether the reconciled object still stands.
	alive func() bool
	// unchanged tells whether an answer shows the reconciled object as it
	// was judged, but for its metadata.
	unchanged func(metav1.Object) bool
	notes     []note
	// writes counts the requests that were meant to change something,
	// touches are those that did.
	writes  int
	touches []touch
	// unheld are the paths that the server did not keep of an apply.
	unheld []string
}

type recorderKey struct{}

func withRecorder(ctx context.Context, r *recorder) context.Context {
	return context.WithValue(ctx, recorderKey{}, r)
}

// recorderOf returns the pass's recorder, or one that nobody reads when a
// write happens outside of a pass.
func recorderOf(ctx context.Context) *recorder {
	if r, ok := ctx.Value(recorderKey{}).(*recorder); ok {
		return r
	}
	return &recorder{alive: func() bool { return true }, unchanged: func(metav1.Object) bool { return true }}
}

// touch remembers a write that succeeded.
func (r *recorder) touch(kind, name string, m mark, paths ...string) {
	r.touches = append(r.touches, touch{target: kind + " " + name, mark: m, paths: paths})
}

// note remembers what the caches must show before the next pass.
func (r *recorder) note(n note) { r.notes = merge(r.notes, n) }

// wrote carries the reconciled object's version forward, unless the answer
// also holds what somebody else has written since: a finalizer is swapped
// whatever else has changed, and a status written on top of the new version
// would then overwrite what was never looked at.
func (r *recorder) wrote(obj metav1.Object) {
	if obj.GetUID() == r.uid && r.unchanged(obj) {
		r.version = obj.GetResourceVersion()
	}
}
