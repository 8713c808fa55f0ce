package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/term"
)

const (
	// terminalGrace is how long a command may take to end after a Ctrl-C that it has seen itself.
	terminalGrace = 5 * time.Second
	// commandGrace is how long it may take after a signal from here.
	commandGrace = 10 * time.Second
)

// runCommand runs the user's command with our standard streams, and returns its exit code. When the context ends, the
// command is asked to end as well, and made to after a while.
func runCommand(ctx context.Context, o *options) (int, error) {
	cmd := exec.Command(o.command[0], o.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+o.kubeconfig(),
		"POLYCHROME_TEST_KUBECONFIG="+o.kubeconfig(),
		"POLYCHROME_TEST_BIN="+o.bin,
	)
	// On a terminal the command has to stay in the foreground group to read from it, and Ctrl-C reaches it there.
	// Elsewhere it gets a group, so that its children can be ended with it: go test does not end its own on SIGTERM.
	onTerminal := term.IsTerminal(int(os.Stdin.Fd()))
	cmd.SysProcAttr = boundToParent()
	cmd.SysProcAttr.Setpgid = !onTerminal
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("starting the command: %w", err)
	}
	target := cmd.Process.Pid
	if !onTerminal {
		target = -target
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	select {
	case err := <-ended:
		return exitCode(err)
	case <-ctx.Done():
	}
	if onTerminal {
		select {
		case err := <-ended:
			return exitCode(err)
		case <-time.After(terminalGrace):
		}
	}
	_ = syscall.Kill(target, syscall.SIGTERM)
	select {
	case err := <-ended:
		return exitCode(err)
	case <-time.After(commandGrace):
	}
	_ = syscall.Kill(target, syscall.SIGKILL)
	return exitCode(<-ended)
}

// exitCode follows the shells: a command ended by a signal counts as 128 and the signal's number.
func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return 1, fmt.Errorf("running the command: %w", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}
