package frameworktest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"polychrome.dev/controller/framework"
)

// life is one life of a program.
type life struct {
	manager   *framework.Manager
	transport *Transport
	// ctx ends with the life, however that comes.
	ctx    context.Context
	killed chan struct{}
	kill   func()
	end    func()
}

// errEnded is why a program is not at work that nobody has stopped.
var errEnded = errors.New("the program ended by itself")

// begin starts the program anew, over a transport of its own.
func (j *journey) begin(ctx context.Context) (*life, error) {
	ctx, fail := context.WithCancelCause(ctx)
	l := &life{transport: NewTransport(), ctx: ctx, killed: make(chan struct{})}
	l.kill = sync.OnceFunc(func() {
		l.transport.Cut()
		close(l.killed)
		fail(errCut)
	})
	if j.Network != nil {
		j.Network(l.transport)
	}
	over := l.transport.Wrap(&recorder{ledger: j.ledger, next: j.base})
	config := j.access(&blade{ledger: j.ledger, transport: l.transport, next: over, kill: l.kill})
	manager, err := j.scenario.Start(config, j.run.Clock)
	if err != nil {
		fail(err)
		return nil, fmt.Errorf("making the program: %w", err)
	}
	l.manager = manager
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := manager.Run(ctx)
		fail(errors.Join(errEnded, err))
	}()
	// The next life must not begin before this one is over: what it has in
	// flight would count as that one's.
	l.end = func() {
		fail(context.Canceled)
		<-ended
	}
	return l, nil
}

func (l *life) isKilled() bool {
	select {
	case <-l.killed:
		return true
	default:
		return false
	}
}
