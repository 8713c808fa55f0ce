package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const (
	// stopGrace is how long a process may take to end after being asked to.
	stopGrace = 5 * time.Second
	// tailSize is how much of a log goes into an error.
	tailSize = 2000
)

// processes are the parts of the cluster, each with a log in dir. The first to end unasked is reported to fail.
type processes struct {
	dir     string
	fail    func(error)
	running []*process
}

type process struct {
	name string
	cmd  *exec.Cmd
	// ended is closed after the process has ended.
	ended chan struct{}
}

// launch runs a binary in the background. The process gets a process group of its own, so that Ctrl-C reaches the command
// alone and the cluster is still there while the command cleans up.
func (p *processes) launch(name, binary string, args ...string) error {
	// Appending, since the control plane writes to the same file by itself.
	log, err := os.OpenFile(p.log(name), os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("creating the log of %s: %w", name, err)
	}
	defer log.Close()
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = boundToParent()
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	started := &process{name: name, cmd: cmd, ended: make(chan struct{})}
	p.running = append(p.running, started)
	go func() {
		_ = cmd.Wait()
		p.fail(fmt.Errorf("%s ended unasked: %v; its log ends with:\n%s", name, cmd.ProcessState, p.tail(name)))
		close(started.ended)
	}()
	return nil
}

// stop ends all processes, the last started first.
func (p *processes) stop() {
	for _, running := range slices.Backward(p.running) {
		_ = running.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-running.ended:
		case <-time.After(stopGrace):
			_ = running.cmd.Process.Kill()
			<-running.ended
		}
	}
}

func (p *processes) log(name string) string {
	return filepath.Join(p.dir, name+".log")
}

func (p *processes) tail(name string) []byte {
	content, err := os.ReadFile(p.log(name))
	if err != nil {
		return []byte(err.Error())
	}
	content = bytes.TrimSpace(content)
	return content[max(0, len(content)-tailSize):]
}
