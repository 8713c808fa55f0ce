package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// stopGrace is a little more than the controller allows its passes.
	stopGrace = 25 * time.Second
	// tailLines is how much of the log a death is explained with.
	tailLines = 15
	// firstGeneration is desired unless the environment says otherwise: a
	// unit without one could not be rolled.
	firstGeneration = "demo-1"
)

// controller is the controller as a child process, under its own identity.
type controller struct {
	options         *options
	health, metrics string
	// generation is the harness image generation it desires.
	generation string
	cmd        *exec.Cmd
	// ended is closed once the present process is gone.
	ended chan struct{}
}

func newController(o *options) (*controller, error) {
	// The last run's, or this one would roll everything back.
	last, err := os.ReadFile(o.generation())
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("reading the last run's generation: %w", err)
	}
	c := &controller{options: o, generation: cmp.Or(os.Getenv(generationEnv), strings.TrimSpace(string(last)), firstGeneration)}
	for _, address := range []*string{&c.health, &c.metrics} {
		free, err := freeAddress()
		if err != nil {
			return nil, err
		}
		*address = free
	}
	if err := os.Remove(o.log()); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("clearing the controller's log: %w", err)
	}
	return c, nil
}

// freeAddress finds a port that nobody listens on at this moment.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("looking for a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// start runs the controller. Nothing of the administrator's environment
// reaches it.
func (c *controller) start() error {
	if err := os.WriteFile(c.options.generation(), []byte(c.generation+"\n"), 0o600); err != nil {
		return fmt.Errorf("keeping the generation for the next run: %w", err)
	}
	log, err := os.OpenFile(c.options.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the controller's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(c.options.program(), "run",
		"--namespace="+namespace,
		"--kubeconfig="+c.options.identity(),
		"--health-address="+c.health,
		"--metrics-address="+c.metrics,
		"--harness-image-generation="+c.generation,
		"--allow-loopback-probes",
		"--log-format=text",
	)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = attached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the controller: %w", err)
	}
	ended := make(chan struct{})
	c.cmd, c.ended = cmd, ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	return nil
}

// stop asks the controller to end in order, and makes it after a while.
func (c *controller) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(stopGrace):
		_ = c.cmd.Process.Kill()
		<-c.ended
	}
}

// roll restarts the controller with the next generation.
func (c *controller) roll() error {
	c.stop()
	c.generation = nextGeneration(c.generation)
	return c.start()
}

// nextGeneration counts up the number at the end.
func nextGeneration(generation string) string {
	stem := strings.TrimRight(generation, "0123456789")
	n, err := strconv.ParseUint(generation[len(stem):], 10, 32)
	if err != nil {
		return generation + "-2"
	}
	return stem + strconv.FormatUint(n+1, 10)
}

// died says how a controller ended that should not have, or nil.
func (c *controller) died() error {
	select {
	case <-c.ended:
		return fmt.Errorf("the controller ended: %v; the end of %s:\n%s", c.cmd.ProcessState, c.options.log(), tail(c.options.log(), tailLines))
	default:
		return nil
	}
}

// leads reports whether the controller is at work, and not standing by.
func (c *controller) leads(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.health+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	return err == nil && strings.Contains(string(said), "leading: true")
}

// tail is the last lines of a file.
func tail(path string, lines int) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	var last []string
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		last = append(last, "  "+scanner.Text())
		if len(last) > lines {
			last = last[1:]
		}
	}
	return strings.Join(last, "\n")
}
