package framework_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
	"polychrome.dev/controller/test/framework/widget"
)

// suspendedNamespace tells a process of this test that it is the one to be
// suspended, and where it works.
const suspendedNamespace = "FRAMEWORK_TEST_SUSPENDED_IN"

// short are election times that a test can wait out.
var short = framework.Election{LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 500 * time.Millisecond}

// TestASuspendedLeaderWritesNothingWhenItWakes stops a process between the
// decision and the write, lets another one lead, and lets it go on.
func TestASuspendedLeaderWritesNothingWhenItWakes(t *testing.T) {
	if namespace := os.Getenv(suspendedNamespace); namespace != "" {
		suspendItself(t, namespace)
		return
	}
	t.Parallel()
	namespace := cluster.Namespace(t, cluster.Shared(t))
	r := candidate(t, namespace, "two", short)
	r.create("red", "w")

	var out, log bytes.Buffer
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), suspendedNamespace+"="+namespace)
	command.Stdout, command.Stderr = &log, &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(command.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("want the process stopped, got %v, %v: %s", status, err, log.String())
	}
	r.elect()
	r.leads()
	r.recolor("blue", "w")
	r.ready("w")
	r.idle()
	w, child := r.get("w"), r.configMap("w")
	if err := command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("the suspended process: %v: %s", err, log.String())
	}
	var late []frameworktest.Request
	if err := json.Unmarshal(out.Bytes(), &late); err != nil {
		t.Fatalf("reading what the suspended process wrote: %v: %s", err, out.String())
	}
	if len(late) > 0 {
		t.Errorf("want nothing written after it woke, got %+v", late)
	}
	r.idle()
	r.same("the widget", w, r.get("w"))
	r.same("the child", child, r.configMap("w"))
}

// suspendItself leads, stops this very process in the middle of a pass, and
// tells on its standard error what was written after it went on.
func suspendItself(t *testing.T, namespace string) {
	t.Helper()
	config := cluster.Shared(t)
	var woke time.Time
	r := newRig(t, rigOptions{config: config, namespace: namespace, election: &framework.Election{
		LeaseDuration: short.LeaseDuration, RenewDeadline: short.RenewDeadline, RetryPeriod: short.RetryPeriod,
		Namespace: namespace, Name: "leader", Identity: "one",
	}, script: func(r *rig) *script {
		s := standard(r)
		act := s.acts[apply]
		s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
			if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
				panic(err)
			}
			// The signal stops all threads, this one not always at once.
			for begun := time.Now(); time.Since(begun) < short.LeaseDuration; {
				<-time.After(10 * time.Millisecond)
			}
			woke = time.Now()
			// Even a write whose context nobody ends must not go out.
			return act(context.WithoutCancel(ctx), w)
		}
		return s
	}})
	r.elect()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case <-r.ended:
	case <-ctx.Done():
		t.Error("a program that lost its lease goes on")
	}
	late := r.faults.Requests(frameworktest.Writes, func(request frameworktest.Request) bool {
		return request.At.After(woke) && request.Resource != "leases"
	})
	if err := json.NewEncoder(os.Stderr).Encode(late); err != nil {
		t.Error(err)
	}
}
