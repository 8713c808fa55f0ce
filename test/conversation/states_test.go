package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
)

// state is what kubectl get conversations shows of one, and what its Ready
// condition has to name.
type state struct {
	// arrange brings the conversation of a name there. The clock stands.
	arrange func(s *scene, name string) []frameworktest.Step
	want    string
	names   string
}

// states are those that last. Each conversation is called what its key says.
var states = map[string]state{
	"ready":   {booted, "Ready True HarnessReady", "can be dialled"},
	"booting": {made, "Pending False CreatingExecutionUnit", "being made"},
	"unheard": {func(s *scene, name string) []frameworktest.Step {
		return append(booted(s, name), s.claimed(name, "DependenciesNotReady", "pod has no address"))
	}, "Pending False WaitingForHarness", "cannot be dialled"},
	"taken": {func(s *scene, name string) []frameworktest.Step {
		return []frameworktest.Step{s.takes(name), s.makes(name)}
	}, "Pending False NameConflict", "SandboxClaim taken belongs to somebody else"},
	"going": {func(s *scene, name string) []frameworktest.Step {
		return append(booted(s, name), s.holds(name, "example.test/backup"), s.deletes(claims, name))
	}, "Pending False ExecutionUnitTerminating", "held by example.test/backup"},
	"vanishing": {lostTimes(2, func(s *scene, name string) frameworktest.Step { return s.deletes(claims, name) }),
		"Pending False ExecutionUnitVanished", "disappeared"},
	"failing": {lostTimes(2, func(s *scene, name string) frameworktest.Step { return s.ends(name) }),
		"Pending False PodFailed", "exit code 1"},
	"limited": {func(s *scene, name string) []frameworktest.Step {
		lost := map[string]any{"count": 5, "windowStart": s.Clock.Now().Unix(), "lastAt": s.Clock.Now().Unix() - 1}
		return append(booted(s, name), s.says("lost", name, map[string]any{"unitRecreations": lost}), s.ends(name))
	}, "Pending False RecreateLimit", "exit code 1"},
	"untemplated": {func(s *scene, name string) []frameworktest.Step {
		return append(made(s, name), s.claimed(name, "TemplateNotFound", `SandboxTemplate "nope" not found`))
	}, "Pending False TemplateNotFound", `SandboxTemplate "nope" not found`},
	"closed": {func(s *scene, name string) []frameworktest.Step { return append(booted(s, name), s.closes(name)) },
		"Closing False Closed", "closed"},
	"closing": {func(s *scene, name string) []frameworktest.Step {
		return append(booted(s, name), s.holds(name, "example.test/backup"), s.closes(name))
	}, "Closing False ExecutionUnitTerminating", "held by example.test/backup"},
	"deleted": {func(s *scene, name string) []frameworktest.Step {
		return append(booted(s, name), s.archives(name), s.deletes(conversations, name))
	}, "Closing False TearingDown", "deleted"},
	"reclaimed": {func(s *scene, name string) []frameworktest.Step {
		return append(made(s, name), s.says("reclaimed", name, map[string]any{"idleReclaimed": true}))
	}, "Paused False IdleReclaimed", "next turn"},
}

// late10 are states that take time.
var late10 = map[string]state{
	"late":   {made, "Pending False PendingDeadlineExceeded", "10 minutes"},
	"unroll": {rolledNotReady, "Pending False RollFailed", `generation "b"`},
}

func made(s *scene, name string) []frameworktest.Step { return []frameworktest.Step{s.makes(name)} }

func booted(s *scene, name string) []frameworktest.Step {
	return []frameworktest.Step{s.makes(name), s.boots(name, "10.0.0.1")}
}

func rolledNotReady(s *scene, name string) []frameworktest.Step {
	return append(booted(s, name), s.ages(name))
}

func lostTimes(n int, loses func(s *scene, name string) frameworktest.Step) func(*scene, string) []frameworktest.Step {
	return func(s *scene, name string) []frameworktest.Step {
		steps := made(s, name)
		for range n {
			steps = append(steps, s.boots(name, "10.0.0.1"), loses(s, name))
		}
		return steps
	}
}

// claimed is the operator: it says why a claim is not ready.
func (p player) claimed(name, reason, message string) frameworktest.Step {
	return p.patches("said", claims, name, "status", map[string]any{"status": map[string]any{
		"sandbox": nil,
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "False", "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z",
		}},
	}})
}

// archives is somebody with a finalizer of theirs on a conversation.
func (p player) archives(name string) frameworktest.Step {
	return p.edits(name, map[string]any{"metadata": map[string]any{"finalizers": []string{"example.test/archive", "polychrome.dev/cleanup"}}})
}

// TestKubectlShowsWhatIsTheMatter reads the table that kubectl prints, of one
// conversation in each state.
func TestKubectlShowsWhatIsTheMatter(t *testing.T) {
	t.Parallel()
	s := newScene(t, startBare(t))
	l := s.start(conversation.Options{Generation: generation, RetentionSeconds: retention})
	for name, each := range late10 {
		l.plays(each.arrange(s, name)...)
	}
	l.plays(s.waits(11 * time.Minute))
	for name, each := range states {
		l.plays(each.arrange(s, name)...)
	}
	want := map[string]string{}
	for _, all := range []map[string]state{states, late10} {
		for name, each := range all {
			want[name] = each.want
			ready := meta.FindStatusCondition(s.conv(name).Status.Conditions, "Ready")
			if ready == nil || !strings.Contains(ready.Message, each.names) {
				t.Errorf("want %s to name %q, got %+v", name, each.names, ready)
			}
		}
	}
	if diff := cmp.Diff(want, s.table()); diff != "" {
		t.Errorf("kubectl get conversations (-want +got):\n%s", diff)
	}
}

// table is what kubectl get prints: phase, readiness and reason of each.
func (s *scene) table() map[string]string {
	s.t.Helper()
	body, err := s.client.PolychromeV1alpha1().RESTClient().Get().Namespace(s.Namespace).Resource("conversations").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(body, &table); err != nil {
		s.t.Fatal(err)
	}
	var columns []string
	for _, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			columns = append(columns, column.Name)
		}
	}
	if want := []string{"Name", "Phase", "Ready", "Reason", "Age"}; !slices.Equal(columns, want) {
		s.t.Errorf("want the columns %v, got %v", want, columns)
	}
	rows := map[string]string{}
	for _, row := range table.Rows {
		rows[fmt.Sprint(row.Cells[0])] = words(row.Cells[1:4]...)
	}
	return rows
}
