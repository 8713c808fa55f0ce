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

	"polychrome.dev/controller/framework"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(command(os.Args[1:], processEnvironment(), os.Stdout, os.Stderr))
}

// command carries out a command line and returns the exit code.
func command(args []string, env environment, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, env)
	var help *helpError
	switch {
	case errors.As(err, &help):
		_, _ = io.WriteString(stdout, help.text)
		return exitDone
	case err != nil:
		return complain(stderr, exitUsage, err)
	}
	switch o.command {
	case "crds":
		err = printCRDs(stdout)
	case "version":
		err = printVersion(stdout)
	default:
		return logAndRun(o, stderr)
	}
	if err != nil {
		return complain(stderr, exitFailed, err)
	}
	return exitDone
}

func complain(stderr io.Writer, code int, err error) int {
	_, _ = fmt.Fprintln(stderr, "polychrome-controller:", err)
	return code
}

// logAndRun says what is going to be done and does it until a signal. What
// goes wrong is in the log.
func logAndRun(o *options, stderr io.Writer) int {
	log, err := framework.NewLogger(stderr, o.logFormat, o.logLevel)
	if err != nil {
		return complain(stderr, exitUsage, err)
	}
	framework.RouteKlog(log)
	log.Info("starting", "version", version())
	log.Info("configuration", o.effective()...)
	for _, warning := range o.warnings {
		log.Warn("questionable configuration", "warning", warning)
	}
	ctx, release := untilSignal()
	defer release()
	if err := run(ctx, o, log); err != nil {
		log.Error("ending", "error", err)
		return exitFailed
	}
	log.Info("ended in order")
	return exitDone
}

// untilSignal returns a context that the first signal ends; the second ends
// the process.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitFailed)
	}()
	return ctx, cancel
}

// helpError carries the text that was asked for with --help.
type helpError struct{ text string }

func (*helpError) Error() string { return pflag.ErrHelp.Error() }
