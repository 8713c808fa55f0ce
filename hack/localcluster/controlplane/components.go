package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errEnded stands for a component that returned without an error although nobody had asked it to.
var errEnded = errors.New("ended unasked")

// components runs the parts of the control plane; the first to end ends all of them, with its error as the cause.
type components struct {
	ctx     context.Context
	stop    context.CancelCauseFunc
	running sync.WaitGroup
}

func (c *components) start(name string, run func(context.Context) error) {
	c.running.Go(func() {
		err := run(c.ctx)
		if err == nil {
			err = errEnded
		}
		c.stop(fmt.Errorf("running the %s: %w", name, err))
	})
}

// watch treats the first value of a channel as the end of a part that runs by itself.
func (c *components) watch(name string, failed <-chan error) {
	go func() {
		if err, ok := <-failed; ok {
			c.stop(fmt.Errorf("running %s: %w", name, err))
		}
	}()
}

// wait gives the parts some time to end.
func (c *components) wait(grace time.Duration) {
	ended := make(chan struct{})
	go func() {
		c.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(grace):
	}
}
