package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
	logsapi "k8s.io/component-base/logs/api/v1"
)

// errStopped is the cause of an orderly end.
var errStopped = errors.New("asked to stop")

func init() {
	// Each of the components configures logging for the whole process; all of them do it the same way.
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
}

func main() {
	o, err := parseOptions(os.Args[1:])
	if errors.Is(err, pflag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(2)
	}
	terminal, err := redirectLogs(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stopOnSignal(stop)
	if o.dieWithParent {
		stopWithParent(stop)
	}
	if err := serve(ctx, stop, o); !errors.Is(err, errStopped) {
		fmt.Fprintln(terminal, "controlplane:", err)
		os.Exit(1)
	}
}

// redirectLogs sends standard error, where every component and the Go runtime write, to the log file. It returns the
// standard error the process was started with.
func redirectLogs(o *options) (io.Writer, error) {
	if err := os.MkdirAll(o.stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the state folder: %w", err)
	}
	log, err := os.OpenFile(o.state("controlplane.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close()
	original, err := unix.Dup(int(os.Stderr.Fd()))
	if err != nil {
		return nil, fmt.Errorf("keeping standard error: %w", err)
	}
	unix.CloseOnExec(original)
	if err := unix.Dup2(int(log.Fd()), int(os.Stderr.Fd())); err != nil {
		return nil, fmt.Errorf("redirecting standard error: %w", err)
	}
	return os.NewFile(uintptr(original), "stderr"), nil
}

func stopOnSignal(stop context.CancelCauseFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		stop(errStopped)
	}()
}

// stopWithParent relies on the starter holding the other end of standard input: the kernel closes it when the starter
// ends, however it ends.
func stopWithParent(stop context.CancelCauseFunc) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop(errStopped)
	}()
}
