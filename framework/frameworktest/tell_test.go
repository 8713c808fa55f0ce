package frameworktest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"polychrome.dev/controller/framework"
)

// idle is a story of a pod for which nothing is ever to do.
func idle() *Story[*corev1.Pod, int, string] {
	return &Story[*corev1.Pod, int, string]{Simulation: &Simulation[*corev1.Pod, int, string]{
		Object: &corev1.Pod{},
		Plan: func(time.Time, *corev1.Pod, int) framework.Plan[string] {
			return framework.Plan[string]{Decision: "rest"}
		},
		Status: func(_ time.Time, pod *corev1.Pod, _ int, _ []framework.Done[string]) *corev1.Pod { return pod },
	}}
}

func TestAStorySaysWhereItDiffers(t *testing.T) {
	tests := map[string]struct {
		file string
		// want is what the command prints; wantDiff a part of the difference.
		want, wantDiff string
	}{
		"nothing differs":       {"pass\n----\ndecision: rest\n", "decision: rest", ""},
		"another decision":      {"# why\n\npass\n----\ndecision: run\n", "decision: rest", "3: pass (-want +got):\n- decision: run\n+ decision: rest\n"},
		"not recorded yet":      {"pass\n", "decision: rest", "+ decision: rest"},
		"an unknown command":    {"dance\n----\n", "error: no such command; there are pass, step, until-settled", "+ error: no such"},
		"a failure of nothing":  {"pass fail=run\n----\ndecision: rest\n", "decision: rest\nerror: no action begins with \"run\"", "+ error: no action"},
		"a step back":           {"step -1s\n----\n", "error: not a step forward: \"-1s\"", "+ error"},
		"a step without length": {"step\n----\n", "error: step takes a duration", "+ error"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "story.txt")
			if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			sections, err := readScript(path)
			if err != nil {
				t.Fatal(err)
			}
			told, differences := idle().tell(sections)
			if want := test.want + "\n"; !strings.HasSuffix(told, "----\n"+want) {
				t.Errorf("want the file to end with %q, got %q", want, told)
			}
			if got := strings.Join(differences, ""); (test.wantDiff == "") != (got == "") || !strings.Contains(got, test.wantDiff) {
				t.Errorf("want a difference with %q, got %q", test.wantDiff, got)
			}
			if err := os.WriteFile(path, []byte(told), 0o600); err != nil {
				t.Fatal(err)
			}
			recorded, err := readScript(path)
			if err != nil {
				t.Fatal(err)
			}
			if again, differences := idle().tell(recorded); again != told || differences != nil {
				t.Errorf("a recorded story differs from itself: %v", differences)
			}
		})
	}
}

func TestCommandsAreRead(t *testing.T) {
	got, err := parseCommand(`make red  name=w text="a \" b = c" big`)
	if err != nil {
		t.Fatal(err)
	}
	want := Command{Name: "make", Args: []string{"red", "big"}, Options: map[string]string{"name": "w", "text": `a " b = c`}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
	for _, line := range []string{`make text="a`, `make text="a"b`} {
		if _, err := parseCommand(line); err == nil {
			t.Errorf("want %s refused", line)
		}
	}
}

func TestChangedFieldsAreNamedByWhatTellsThemApart(t *testing.T) {
	before := corev1.PodStatus{Phase: "Pending", HostIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: "Ready", Status: "False"}}}
	after := corev1.PodStatus{Phase: "Running", PodIPs: []corev1.PodIP{{IP: "10.0.0.2"}}, Conditions: []corev1.PodCondition{
		{Type: "Scheduled", Status: "True"}, {Type: "Ready", Status: "False"},
	}}
	want := []string{
		`conditions[Scheduled].lastProbeTime = null`,
		`conditions[Scheduled].lastTransitionTime = null`,
		`conditions[Scheduled].status = "True"`,
		`conditions[Scheduled].type = "Scheduled"`,
		`hostIP is gone ("10.0.0.1")`,
		`phase = "Running" ("Pending")`,
		`podIPs[0].ip = "10.0.0.2"`,
	}
	if diff := cmp.Diff(want, changedFields(before, after)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
