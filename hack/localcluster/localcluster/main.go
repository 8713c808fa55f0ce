package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	o, err := parseOptions(os.Args[1:])
	if errors.Is(err, pflag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "localcluster:", err)
		os.Exit(2)
	}
	code, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "localcluster:", err)
	}
	os.Exit(code)
}

// run starts the cluster, runs the command and stops the cluster. The exit code is the command's, or 1 with an error.
func run(o *options) (int, error) {
	interrupted, release := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer release()
	ctx, fail := context.WithCancelCause(interrupted)
	defer fail(nil)

	unlock, err := prepareState(o)
	if err != nil {
		return 1, err
	}
	defer unlock()
	c := &cluster{options: o, parts: processes{dir: o.stateDir, fail: fail}, started: time.Now()}
	defer c.stop()
	if err := c.start(ctx); err != nil {
		return outcome(ctx, interrupted, 1, err)
	}
	if len(o.command) == 0 {
		c.say("holding until a signal; KUBECONFIG=%s", o.kubeconfig())
		<-ctx.Done()
		return outcome(ctx, interrupted, 0, nil)
	}
	code, err := runCommand(ctx, o)
	return outcome(ctx, interrupted, code, err)
}

// outcome prefers the death of a process to what followed from it. A signal is no error: whoever sent it knows.
func outcome(ctx, interrupted context.Context, code int, err error) (int, error) {
	switch {
	case ended(interrupted):
		return code, nil
	case ended(ctx):
		return 1, context.Cause(ctx)
	default:
		return code, err
	}
}

func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}
