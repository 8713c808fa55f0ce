package framework

import (
	"context"
	"testing"
	"testing/synctest"
)

// besides is work that ends a while after it is told to.
type besides struct {
	busy    bool
	release chan struct{}
	ended   bool
}

func (b *besides) Run(ctx context.Context) {
	<-ctx.Done()
	<-b.release
	b.ended = true
}

func (b *besides) Busy() bool { return b.busy }

func TestWorkBesidesThePassesEndsWithThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, work := newPassWorld(t, &scripted{}), &besides{release: make(chan struct{})}
		w.Beside = work
		stop, end := context.WithCancel(t.Context())
		over := false
		go func() {
			w.Controller.run(stop, t.Context())
			over = true
		}()
		synctest.Wait()
		end()
		synctest.Wait()
		if over {
			t.Error("the controller has ended before the work beside it")
		}
		close(work.release)
		synctest.Wait()
		if !over || !work.ended {
			t.Errorf("want both ended, got %t and %t", over, work.ended)
		}
	})
}

func TestAControllerWithWorkBesidesThePassesIsNotIdle(t *testing.T) {
	w, work := newPassWorld(t, &scripted{}), &besides{}
	w.Beside = work
	w.leading = func() bool { return true }
	if !w.Idle() {
		t.Error("want it idle while there is no work")
	}
	if work.busy = true; w.Idle() {
		t.Error("want it not idle while there is")
	}
}
