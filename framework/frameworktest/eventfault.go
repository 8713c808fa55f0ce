package frameworktest

import (
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// eventFault is what happens to events of watches of a resource.
type eventFault struct {
	*Injected
	swap bool
}

// DropEvents loses the next n events of the watches of a resource, as in
// Request.Resource; below zero, all until Injected.Stop. Bookmarks are not
// lost: a client believes them that it has seen everything before.
func (t *Transport) DropEvents(resource string, n int) *Injected {
	return t.injectEvents(resource, n, false)
}

// SwapEvents has the next n events of the watches of a resource each arrive
// after the one that follows it in the same watch. Bookmarks keep their place.
func (t *Transport) SwapEvents(resource string, n int) *Injected {
	return t.injectEvents(resource, n, true)
}

func (t *Transport) injectEvents(resource string, n int, swap bool) *Injected {
	t.mu.Lock()
	defer t.mu.Unlock()
	injected := &Injected{transport: t, fault: Fault{Resource: resource}, left: n}
	t.eventFaults = append(t.eventFaults, eventFault{Injected: injected, swap: swap})
	return injected
}

// ExpireWatches tells the open watches of a resource that the version they
// follow from is too old, and ends them, as a server does that has compacted
// its history: an event ERROR with a status 410. The same answer to a list or
// to a new watch is a Fault with that Status.
func (t *Transport) ExpireWatches(resource string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.streams {
		if s.resource != resource {
			continue
		}
		if err := s.fail(&metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
			Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version",
		}); err != nil {
			return err
		}
	}
	return nil
}

// fail appends an event ERROR and lets nothing more come.
func (s *stream) fail(status *metav1.Status) error {
	var event []byte
	if s.framing.failure != nil {
		made, err := s.framing.failure(status)
		if err != nil {
			return err
		}
		event = made
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunks = append(s.chunks, chunk{data: event, at: time.Now()})
	s.err = io.EOF
	s.announce()
	return nil
}

// passOn returns what becomes of an event: it may be lost, or held until the
// next one, which then comes with it.
func (s *stream) passOn(frame []byte) [][]byte {
	kind := s.framing.kind(frame)
	if kind == "" || kind == watch.Bookmark || kind == watch.Error {
		return [][]byte{frame}
	}
	if held := s.held; held != nil {
		s.held = nil
		return [][]byte{frame, held}
	}
	fault, hit := s.transport.eventFaultFor(s.resource)
	switch {
	case hit && fault.swap:
		s.held = frame
		return nil
	case hit:
		return nil
	}
	return [][]byte{frame}
}

func (t *Transport) eventFaultFor(resource string) (eventFault, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.eventFaults {
		if f.left != 0 && (f.fault.Resource == "" || f.fault.Resource == resource) {
			f.left--
			f.hits++
			return f, true
		}
	}
	return eventFault{}, false
}
