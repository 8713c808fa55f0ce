package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// startLimit is generous: a start takes three seconds on an idle machine and many more on one that compiles tests.
const startLimit = 3 * time.Minute

// server is one run of the control plane's process.
type server struct {
	cmd *exec.Cmd
	// lifeline is the other end of the process's standard input. The process ends when it is closed, at the latest by
	// the kernel when the test binary is gone.
	lifeline io.Closer
	output   *bytes.Buffer
	// ended is closed after the process has ended and its output is complete.
	ended chan struct{}
}

func startServer(binary string, args ...string) (*server, error) {
	s := &server{cmd: exec.Command(binary, args...), output: &bytes.Buffer{}, ended: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	s.cmd.Env = environment()
	lifeline, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.lifeline = lifeline
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	return s, nil
}

// environment is that of the tests without what makes client-go slow: it is meant for the code under test.
func environment() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "KUBE_") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// ready waits for the kubeconfig, which is written when everything works.
func (s *server) ready(ctx context.Context, kubeconfig string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if _, err := os.Stat(kubeconfig); err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("it ended: %v: %s", s.cmd.ProcessState, s.output)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// end sends a signal, and after the grace the one that cannot be ignored. It returns when the process is gone.
func (s *server) end(signal syscall.Signal, grace time.Duration) {
	_ = s.cmd.Process.Signal(signal)
	select {
	case <-s.ended:
	case <-time.After(grace):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

func portOf(server string) (string, error) {
	parsed, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("reading the server's address: %w", err)
	}
	return parsed.Port(), nil
}
