package framework

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeView is a store and an API server in two maps.
type fakeView struct {
	mu        sync.Mutex
	version   string
	cached    map[Key]sight
	server    map[Key]sight
	probeErr  error
	probes    int
	restarted int
	relisted  int
	dead      bool
}

func (v *fakeView) resourceName() string { return "things.g" }
func (v *fakeView) seen() string         { return locked(&v.mu, func() string { return v.version }) }
func (v *fakeView) restartWatch()        { v.change(func() { v.restarted++ }) }
func (v *fakeView) relist()              { v.change(func() { v.relisted++ }) }
func (v *fakeView) showing() (view, bool) {
	return v, !locked(&v.mu, func() bool { return v.dead })
}
func (v *fakeView) look(key Key) (sight, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, ok := v.cached[key]
	return s, ok
}

// change changes the view while a loop looks at it.
func (v *fakeView) change(how func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	how()
}

// shown is the version of the thing in the cache.
func (v *fakeView) shown() string {
	return locked(&v.mu, func() string { return v.cached[thing].version })
}

// asked tells how often the server was asked and the watch restarted.
func (v *fakeView) asked() (probes, restarted int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.probes, v.restarted
}

func (v *fakeView) probe(context.Context, Key) (sight, bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.probes++
	s, ok := v.server[thing]
	return s, ok, v.probeErr
}

var thing = Key{Namespace: "n", Name: "thing"}

func TestNoteOpen(t *testing.T) {
	cases := map[string]struct {
		note    note
		version string
		cached  map[Key]sight
		want    bool
	}{
		"a write the store has not reached":            {note{kind: noteSeen, version: "11"}, "10", nil, true},
		"versions are numbers, not text":               {note{kind: noteSeen, version: "100"}, "99", nil, true},
		"a write the store has reached":                {note{kind: noteSeen, version: "11"}, "11", nil, false},
		"a write the store has passed":                 {note{kind: noteSeen, version: "11"}, "12", nil, false},
		"a store that cannot tell counts as caught up": {note{kind: noteSeen, version: "11"}, "", nil, false},
		"a version that is no number counts as seen":   {note{kind: noteSeen, version: "abc"}, "1", nil, false},
		"a deleted object still there":                 {note{kind: noteGone, uid: "u", terminatingIsGone: true}, "", map[Key]sight{thing: {uid: "u"}}, true},
		"a deleted object terminating":                 {note{kind: noteGone, uid: "u", terminatingIsGone: true}, "", map[Key]sight{thing: {uid: "u", terminating: true}}, false},
		"a last finalizer gone, object terminating":    {note{kind: noteGone, uid: "u"}, "", map[Key]sight{thing: {uid: "u", terminating: true}}, true},
		"a deleted object replaced by a namesake":      {note{kind: noteGone, uid: "u"}, "", map[Key]sight{thing: {uid: "v"}}, false},
		"a deleted object gone":                        {note{kind: noteGone, uid: "u"}, "", nil, false},
		"a conflict with what the cache still shows":   {note{kind: noteMoved, version: "7"}, "", map[Key]sight{thing: {version: "7"}}, true},
		"a conflict the cache has moved past":          {note{kind: noteMoved, version: "7"}, "", map[Key]sight{thing: {version: "8"}}, false},
		"a conflict whose object has gone":             {note{kind: noteMoved, version: "7"}, "", nil, false},
		"a create refused, and the cache shows nobody": {note{kind: noteMoved}, "", nil, true},
		"a create refused, and now the cache shows it": {note{kind: noteMoved}, "", map[Key]sight{thing: {version: "7"}}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			store := &fakeView{version: c.version, cached: c.cached}
			c.note.view, c.note.key = store, thing
			if got := c.note.open(); got != c.want {
				t.Errorf("open: want %t, got %t", c.want, got)
			}
			store.dead = true
			if c.note.open() {
				t.Error("open although nothing is shown any more: it would wait for ever")
			}
		})
	}
}

func TestNoteProven(t *testing.T) {
	one := map[Key]sight{thing: {uid: "u", version: "7"}}
	cases := map[string]struct {
		note   note
		cached map[Key]sight
		server map[Key]sight
		err    error
		want   proof
	}{
		"the server has a newer version: the watch is late":     {note{kind: noteSeen, version: "8"}, one, map[Key]sight{thing: {uid: "u", version: "8"}}, nil, late},
		"the server has what the cache has: waited in vain":     {note{kind: noteSeen, version: "8"}, one, one, nil, vain},
		"neither has the object: waited in vain":                {note{kind: noteSeen, version: "8"}, nil, nil, nil, vain},
		"only the cache has the object: the watch is late":      {note{kind: noteSeen, version: "8"}, one, nil, nil, late},
		"only the server has the object: the watch is late":     {note{kind: noteMoved}, nil, one, nil, late},
		"the object is out of scope and was never cached":       {note{kind: noteSeen, version: "8"}, nil, map[Key]sight{thing: {version: "8", outOfScope: true}}, nil, vain},
		"the object went out of scope and the cache has it":     {note{kind: noteSeen, version: "8"}, one, map[Key]sight{thing: {version: "8", outOfScope: true}}, nil, late},
		"a conflict with the version that is still the newest":  {note{kind: noteMoved, version: "7"}, one, one, nil, vain},
		"a delete that did not happen":                          {note{kind: noteGone, uid: "u", terminatingIsGone: true}, one, one, nil, vain},
		"a delete that the cache has not seen":                  {note{kind: noteGone, uid: "u", terminatingIsGone: true}, one, map[Key]sight{thing: {uid: "u", version: "9", terminating: true}}, nil, late},
		"no answer: the note is kept":                           {note{kind: noteSeen, version: "8"}, one, nil, errors.New("no route"), late},
		"the cache has seen more, and not that":                 {note{kind: noteMoved, version: "7"}, one, map[Key]sight{thing: {uid: "u", version: "8"}}, nil, lost},
		"a delete seen, but the finalizer's removal is awaited": {note{kind: noteGone, uid: "u"}, map[Key]sight{thing: {uid: "u", version: "9", terminating: true}}, nil, nil, late},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			view := &fakeView{cached: c.cached, server: c.server, probeErr: c.err}
			if c.want == lost {
				view.version = "9"
			}
			c.note.view = view
			c.note.key = thing
			got, err := c.note.proven(t.Context())
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("proven: want %v, %v, got %v, %v", c.want, c.err, got, err)
			}
		})
	}
}

func TestMergeKeepsTheHighestVersionPerStore(t *testing.T) {
	one, two := &fakeView{version: "a"}, &fakeView{version: "b"}
	var notes []note
	for _, n := range []note{
		{kind: noteSeen, view: one, key: thing, version: "9"},
		{kind: noteSeen, view: one, key: thing, version: "10"},
		{kind: noteSeen, view: one, key: thing, version: "8"},
		{kind: noteSeen, view: two, key: thing, version: "3"},
		{kind: noteMoved, view: one, key: thing, version: "3"},
		{kind: noteMoved, view: one, key: thing, version: "4"},
	} {
		notes = merge(notes, n)
	}
	var got []string
	for _, n := range notes {
		got = append(got, n.view.seen()+":"+n.version)
	}
	if diff := cmp.Diff([]string{"a:10", "b:3", "a:4"}, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestKeyState(t *testing.T) {
	now := time.Unix(1000, 0)
	one := identity{uid: "u", generation: 1}
	t.Run("unrelated events during a backoff change nothing", func(t *testing.T) {
		var s keyState
		delay := s.fail(now, thing, one, ClassTransient, 0)
		for range 20 {
			wait, held := s.held(now.Add(delay/2), one)
			if !held || wait != delay-delay/2 {
				t.Fatalf("want held for %s, got %s, %t", delay-delay/2, wait, held)
			}
		}
		if _, held := s.held(now.Add(delay), one); held {
			t.Error("want free at the end of the backoff")
		}
	})
	t.Run("a new generation is tried at once and starts anew", func(t *testing.T) {
		var s keyState
		for range 7 {
			s.fail(now, thing, one, ClassTransient, 0)
		}
		if _, held := s.held(now, identity{uid: "u", generation: 2}); held {
			t.Error("want a new generation free")
		}
		if got := s.fail(now, thing, identity{uid: "u", generation: 2}, ClassTransient, 0); got >= 2*time.Second {
			t.Errorf("want the first delay again, got %s", got)
		}
	})
	t.Run("a terminal verdict holds until the generation changes", func(t *testing.T) {
		var s keyState
		if wait := s.fail(now, thing, one, ClassTerminal, 0); wait != 0 {
			t.Errorf("want no retry, got %s", wait)
		}
		if wait, held := s.held(now.Add(100*time.Hour), one); !held || wait != 0 {
			t.Errorf("want held for ever, got %s, %t", wait, held)
		}
		if _, held := s.held(now, identity{uid: "u", generation: 2}); held {
			t.Error("want a new generation free")
		}
	})
	t.Run("a namesake is not held for the dead", func(t *testing.T) {
		var s keyState
		s.fail(now, thing, one, ClassTerminal, 0)
		if _, held := s.held(now, identity{uid: "v", generation: 1}); held {
			t.Error("want another object of the name free")
		}
	})
	t.Run("throttling waits at least as long as asked and does not escalate", func(t *testing.T) {
		var s keyState
		for range 10 {
			if got := s.fail(now, thing, one, ClassThrottled, 30*time.Second); got < 30*time.Second || got > 32*time.Second {
				t.Errorf("want the server's 30s and a little, got %s", got)
			}
		}
		if s.failures != 1 {
			t.Errorf("want one failure remembered, got %d", s.failures)
		}
	})
}
