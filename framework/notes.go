package framework

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// view is what notes ask of a store: what it has seen so far.
type view interface {
	// resourceName names the resource, for logs and metrics.
	resourceName() string
	// seen is the newest resourceVersion the store has been told of, by
	// events and bookmarks alike. Empty when it cannot tell.
	seen() string
	// look reports what the store has under a key.
	look(key Key) (sight, bool)
	// probe asks the API server for the same.
	probe(ctx context.Context, key Key) (sight, bool, error)
	// restartWatch ends the watch, so that it is established anew.
	restartWatch()
	// relist has the cache filled anew.
	relist()
	// showing is the cache that shows what was written to this view, false
	// while none does: then nothing can be waited for.
	showing() (view, bool)
}

// sight is one object as a store or the API server shows it.
type sight struct {
	uid         types.UID
	version     string
	terminating bool
	outOfScope  bool
}

// noteKind is what a note waits for.
type noteKind int

const (
	// noteSeen waits until the store has reached a version.
	noteSeen noteKind = iota
	// noteGone waits until the store has no object of that UID, or has it
	// terminating: deletes answer with no usable version.
	noteGone
	// noteMoved waits until the store shows another version than the one a
	// write conflicted with.
	noteMoved
)

// note is one thing a cache must show before its key is planned again.
type note struct {
	kind noteKind
	view view
	key  Key
	// version is what to reach (noteSeen) or to move past (noteMoved, empty
	// when the store showed no object).
	version string
	// uid is whose end is awaited (noteGone).
	uid types.UID
	// terminatingIsGone lets a deletionTimestamp settle a noteGone: after a
	// delete, but not after the removal of a last finalizer.
	terminatingIsGone bool
}

// open reports whether the store still has to catch up.
func (n note) open() bool {
	store, live := n.view.showing()
	if !live {
		return false
	}
	switch n.kind {
	case noteGone:
		now, there := store.look(n.key)
		return there && now.uid == n.uid && (!now.terminating || !n.terminatingIsGone)
	case noteMoved:
		now, there := store.look(n.key)
		if !there {
			return n.version == ""
		}
		return now.version == n.version
	default:
		return behind(store.seen(), n.version)
	}
}

// proof is what the API server says of a note.
type proof int

const (
	// vain: the store already shows all there is, or never will.
	vain proof = iota
	// late: there is something that the store will show.
	late
	// lost: the store has seen later versions than the one it lacks. No watch
	// will bring that again.
	lost
)

// proven asks the API server whether the note is still worth waiting for.
func (n note) proven(ctx context.Context) (proof, error) {
	store, live := n.view.showing()
	if !live {
		return vain, nil
	}
	now, there, err := store.probe(ctx, n.key)
	if err != nil {
		return late, err
	}
	return n.compared(store, now, there), nil
}

// compared is what it proves that the API server has the object like now, or
// does not have it.
func (n note) compared(store view, now sight, there bool) proof {
	seen := store.seen()
	cached, inCache := store.look(n.key)
	switch {
	case !there, now.outOfScope:
		if inCache {
			return late
		}
		return vain
	case n.kind == noteGone && now.uid == n.uid && !now.terminating, inCache && cached.version == now.version:
		return vain
	case tellsVersions(seen) && !behind(seen, now.version) && (!inCache || behind(cached.version, now.version)):
		return lost
	}
	return late
}

// behind reports whether a store that has seen one version lacks another.
// Versions that cannot be compared count as not behind.
func behind(seen, wanted string) bool {
	order, err := resourceversion.CompareResourceVersion(seen, wanted)
	return err == nil && order < 0
}

// tellsVersions reports whether a store's version can be compared at all.
func tellsVersions(seen string) bool {
	_, err := resourceversion.CompareResourceVersion(seen, seen)
	return err == nil
}

// merge adds a note to a key's, keeping the highest version per store.
func merge(notes []note, added note) []note {
	for i, old := range notes {
		if old.kind != added.kind || old.view != added.view {
			continue
		}
		if added.kind == noteSeen {
			if behind(old.version, added.version) {
				notes[i] = added
			}
			return notes
		}
		if old.key == added.key {
			notes[i] = added
			return notes
		}
	}
	return append(notes, added)
}

// stillOpen drops the notes that are settled.
func stillOpen(notes []note) []note {
	kept := notes[:0]
	for _, n := range notes {
		if n.open() {
			kept = append(kept, n)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}
