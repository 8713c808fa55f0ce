package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// standIn plays the control plane: it notes its process id, reports ready the way the real one does, and waits.
const standIn = `#!/bin/sh
for argument; do
  case $argument in --kubeconfig=*) kubeconfig=${argument#--kubeconfig=};; esac
done
echo $$ >"$kubeconfig.pid"
echo the last words
touch "$kubeconfig"
exec sleep 600
`

func TestTheCommandGetsTheClusterAndItsExitCodeIsPassedOn(t *testing.T) {
	o := newOptions(t, `test "$KUBECONFIG" = "$1" && test "$POLYCHROME_TEST_KUBECONFIG" = "$1" &&
		test -e "$1" && test "$POLYCHROME_TEST_BIN" = "$2" && exit 7`)
	o.command = append(o.command, "sh", o.kubeconfig(), o.bin)
	code, err := run(o)
	if code != 7 || err != nil {
		t.Errorf("run returned %d, %v, want the command's 7", code, err)
	}
}

func TestNothingIsLeftRunning(t *testing.T) {
	o := newOptions(t, "exit 0")
	if code, err := run(o); code != 0 || err != nil {
		t.Fatalf("run returned %d, %v", code, err)
	}
	if err := syscall.Kill(standInPID(t, o), 0); err == nil {
		t.Error("the control plane is still running")
	}
	if _, err := os.Stat(o.kubeconfig()); err == nil {
		t.Error("the kubeconfig of the stopped cluster is still there")
	}
}

func TestADyingPartEndsTheCommandAndIsNamed(t *testing.T) {
	o := newOptions(t, `kill -9 "$(cat "$KUBECONFIG.pid")"; sleep 600`)
	code, err := run(o)
	if code != 1 || err == nil {
		t.Fatalf("run returned %d, %v, want an error", code, err)
	}
	for _, want := range []string{"controlplane ended unasked", "killed", "the last words"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not contain %q:\n%v", want, err)
		}
	}
}

func TestAPartThatDoesNotStartIsNamed(t *testing.T) {
	o := newOptions(t, "exit 0")
	writeStandIn(t, o, "#!/bin/sh\necho no such flag >&2\nexit 1\n")
	code, err := run(o)
	if code != 1 || err == nil || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("run returned %d, %v, want the control plane's own words", code, err)
	}
}

func TestAStateFolderServesOneAtATime(t *testing.T) {
	o := newOptions(t, "exit 0")
	unlock, err := prepareState(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(o); err == nil || !strings.Contains(err.Error(), "another localcluster") {
		t.Errorf("a second run returned %v, want a refusal", err)
	}
	unlock()
	if code, err := run(o); code != 0 || err != nil {
		t.Errorf("a run after the first has ended returned %d, %v", code, err)
	}
}

func TestFreshForgetsTheObjects(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		t.Run(fmt.Sprintf("fresh %t", fresh), func(t *testing.T) {
			o := newOptions(t, "exit 0")
			o.fresh = fresh
			if err := os.MkdirAll(o.state("etcd"), 0o700); err != nil {
				t.Fatal(err)
			}
			if code, err := run(o); code != 0 || err != nil {
				t.Fatalf("run returned %d, %v", code, err)
			}
			_, err := os.Stat(o.state("etcd"))
			if kept := err == nil; kept == fresh {
				t.Errorf("objects kept: %t, want %t", kept, !fresh)
			}
		})
	}
}

func newOptions(t *testing.T, script string) *options {
	t.Helper()
	o := &options{stateDir: t.TempDir(), bin: t.TempDir(), command: []string{"sh", "-c", script}}
	writeStandIn(t, o, standIn)
	return o
}

func writeStandIn(t *testing.T, o *options, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(o.bin, "controlplane"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

func standInPID(t *testing.T, o *options) int {
	t.Helper()
	content, err := os.ReadFile(o.kubeconfig() + ".pid")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
