package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
)

func main() {
	o, err := parseOptions(os.Args[1:])
	if errors.Is(err, pflag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	}
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err = run(ctx, o)
	if err != nil && ctx.Err() != nil {
		// What was under way then fails in ways of its own.
		err = errors.New("interrupted before everything had settled")
	}
	release()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run is the demo from the first check to the last process it stops.
func run(ctx context.Context, o *options) error {
	c, err := connect(o)
	if err != nil {
		return err
	}
	if err := prepare(ctx, o, c); err != nil {
		return err
	}
	closeTools, err := serveTools()
	if err != nil {
		return err
	}
	defer closeTools()
	controller, err := newController(o)
	if err != nil {
		return err
	}
	if err := controller.start(); err != nil {
		return err
	}
	defer controller.stop()
	s := &show{cluster: c, controller: controller, screen: newScreen(os.Stdout)}
	if s.ids, err = applyExamples(ctx, o); err != nil {
		return err
	}
	if err := s.untilSettled(ctx, o.timeout); err != nil {
		return err
	}
	fmt.Print(guide(o, controller, s.screen.terminal))
	if !s.screen.terminal {
		return nil
	}
	return s.untilInterrupted(ctx, os.Stdin)
}

// prepare has the cluster hold all that the controller needs.
func prepare(ctx context.Context, o *options, c *cluster) error {
	install := installDefinitions
	if o.existing {
		install = func(ctx context.Context, o *options) error { return checkInstalled(ctx, o, c) }
	}
	if err := install(ctx, o); err != nil {
		return err
	}
	for _, kustomization := range o.manifests {
		if err := o.kubectl(ctx, nil, "apply", "--server-side", "--field-manager="+fieldManager, "-k", kustomization); err != nil {
			return fmt.Errorf("installing the controller's identity: %w", err)
		}
	}
	return writeIdentity(ctx, c, o.identity())
}
