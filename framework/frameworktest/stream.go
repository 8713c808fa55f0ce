package frameworktest

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// stream is the body of a watch whose bytes may come late. A goroutine takes
// them from the server at once, as a real network would.
type stream struct {
	transport *Transport
	resource  string
	ctx       context.Context
	body      io.ReadCloser
	framing   framing
	arrived   chan struct{}
	ended     chan struct{}
	endOnce   sync.Once
	// frozen is guarded by the transport's mutex.
	frozen bool
	// held is an event that comes after the next one; it is the pump's.
	held []byte

	mu     sync.Mutex
	chunks []chunk
	err    error
}

// chunk is bytes and when they came.
type chunk struct {
	data []byte
	at   time.Time
}

func (t *Transport) follow(ctx context.Context, resource string, resp *http.Response) *stream {
	s := &stream{
		transport: t, resource: resource, ctx: ctx, body: resp.Body,
		framing: framingOf(resp.Header.Get("Content-Type"), resp.Body),
		arrived: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	t.mu.Lock()
	s.frozen = t.frozen
	t.streams[s] = struct{}{}
	if t.cut {
		s.end()
	}
	t.mu.Unlock()
	go s.pump()
	return s
}

func (s *stream) pump() {
	for {
		frame, err := s.framing.next()
		var frames [][]byte
		if len(frame) > 0 {
			frames = s.passOn(frame)
		}
		if err != nil && s.held != nil {
			frames = append(frames, s.held)
		}
		if s.came(frames, err) {
			return
		}
	}
}

// came takes over what the server has sent; true when no more will come.
func (s *stream) came(frames [][]byte, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return true
	}
	for _, frame := range frames {
		s.chunks = append(s.chunks, chunk{data: frame, at: time.Now()})
	}
	s.err = err
	s.announce()
	return err != nil
}

// announce wakes the reader.
func (s *stream) announce() {
	select {
	case s.arrived <- struct{}{}:
	default:
	}
}

// Read returns what has come and is due.
func (s *stream) Read(p []byte) (int, error) {
	for {
		moved, wait, open := s.due()
		if open {
			if n, ready, err := s.take(p); ready {
				return n, err
			}
		}
		if err := s.pause(wait, moved); err != nil {
			return 0, err
		}
	}
}

// pause waits until something may be due: after a time unless that is zero,
// when something has come, or when the transport has changed.
func (s *stream) pause(wait time.Duration, moved <-chan struct{}) error {
	var later <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		later = timer.C
	}
	select {
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-s.ended:
		return io.EOF
	case <-s.arrived:
	case <-moved:
	case <-later:
	}
	return nil
}

// due tells whether the next bytes may be read, else how long they have to
// wait, zero for as long as nothing changes.
func (s *stream) due() (moved <-chan struct{}, wait time.Duration, open bool) {
	s.transport.mu.Lock()
	frozen, lag, moved := s.frozen, s.transport.lagOf(s.resource), s.transport.moved
	s.transport.mu.Unlock()
	if frozen {
		return moved, 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.chunks) == 0 {
		return moved, 0, s.err != nil
	}
	wait = lag - time.Since(s.chunks[0].at)
	return moved, wait, wait <= 0
}

func (s *stream) take(p []byte) (n int, ready bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.chunks) == 0 {
		return 0, s.err != nil, s.err
	}
	n = copy(p, s.chunks[0].data)
	if s.chunks[0].data = s.chunks[0].data[n:]; len(s.chunks[0].data) == 0 {
		s.chunks = s.chunks[1:]
	}
	return n, true, nil
}

// end makes it look as if the server had ended the watch.
func (s *stream) end() { s.endOnce.Do(func() { close(s.ended) }) }

// Close gives the watch up.
func (s *stream) Close() error {
	s.transport.mu.Lock()
	delete(s.transport.streams, s)
	s.transport.mu.Unlock()
	s.end()
	return s.body.Close()
}
