package workflow

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
)

func TestThreeStagesComeUpInOrderAndRest(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.costs([]string{"apply servicedefinitions one-a", "patch workflows/status one"}, s.makes("one", stage("c", "b"), stage("b", "a"), stage("a")))
	s.finds("workflow one Pending StagesProgressing", "- c Waiting UpstreamNotReady: b (UpstreamNotReady)", "- b Waiting UpstreamNotReady: a (Pending)",
		"- a Pending", "one-a a:1 of one")
	l.costs([]string{"apply servicedefinitions one-b", "patch workflows/status one"}, s.raises("one-a"))
	l.costs([]string{"apply servicedefinitions one-c", "patch workflows/status one"}, s.raises("one-b"))
	l.costs([]string{"patch workflows/status one"}, s.raises("one-c"))
	s.finds("workflow one Ready StagesReady", "- c Ready", "- b Ready", "- a Ready", "one-a a:1 of one", "one-b b:1 of one", "one-c c:1 of one")
	child := s.child("one-b")
	want := polychromev1alpha1.ServiceDefinitionSpec{
		Owner: "user:slack/U1", Image: "example.test/b:1", Port: 8080, Replicas: new(int32(1)), Env: map[string]string{"STAGE": "b", "LEVEL": "info"},
	}
	if diff := cmp.Diff(want, child.Spec); diff != "" {
		t.Errorf("spec of the child (-want +got):\n%s", diff)
	}
	label := map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": "theirs"}}}
	l.costs(nil, s.waits(20*time.Minute), s.patches(workflows, "one", label), s.patches(definitions, "one-b", label), s.waits(20*time.Minute))
	if l.stop(); s.child("one-b").Labels["team"] != "theirs" {
		t.Error("want somebody else's label left alone")
	}
	l = s.start()
	l.costs(nil, s.waits(10*time.Minute))
}

func TestIndependentStagesStartTogether(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("one", stage("end", "left", "right"), stage("left"), stage("right"), stage("alone")), s.raises("one-left"))
	s.finds("workflow one Progressing StagesProgressing", "- end Waiting UpstreamNotReady: right (Pending)", "- left Ready", "- right Pending", "- alone Pending",
		"one-alone alone:1 of one", "one-left left:1 of one", "one-right right:1 of one")
}

// The upstream is ready, but for what it was before the edit that adds the
// stage behind it.
func TestReadyForAnOldGenerationOpensNoGate(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("one", stage("a")), s.raises("one-a"), s.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) {
		spec.Stages[0].Image = "example.test/a:2"
		spec.Stages = append(spec.Stages, stage("b", "a"))
	}))
	s.finds("workflow one Progressing StagesProgressing", "- a Pending", "- b Waiting UpstreamNotReady: a (Pending)", "one-a a:2 of one")
	l.plays(s.raises("one-a"))
	s.finds("workflow one Progressing StagesProgressing", "- a Ready", "- b Pending", "one-a a:2 of one", "one-b b:1 of one")
}

func TestAnUpstreamThatTurnsUnreadyPrunesAndRestartsNothing(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("one", stage("a"), stage("b", "a")), s.raises("one-a"), s.raises("one-b"))
	before := s.child("one-b")
	degraded := []string{"workflow one Degraded StageDegraded", "- a Pending StageDegraded", "- b Ready", "one-a a:1 of one", "one-b b:1 of one"}
	l.costs([]string{"patch workflows/status one"}, s.says("one-a", "False", polychromev1alpha1.ReasonCrashLoopBackOff, "back-off 10s"))
	s.finds(degraded...)
	l.costs(nil, s.says("one-a", "False", polychromev1alpha1.ReasonCrashLoopBackOff, "back-off 20s"), s.waits(20*time.Minute))
	l.stop()
	l = s.start()
	l.costs(nil, s.waits(20*time.Minute))
	s.finds(degraded...)
	if diff := cmp.Diff(before, s.child("one-b")); diff != "" {
		t.Errorf("the stage behind it (-before +after):\n%s", diff)
	}
	if got := s.flow("one").Status.Stages[0].Message; got != "StageDegraded: CrashLoopBackOff: back-off 10s" {
		t.Errorf("want the reason of the child and its message, got %s", got)
	}
	l.plays(s.raises("one-a"))
	s.finds("workflow one Ready StagesReady", "- a Ready", "- b Ready", "one-a a:1 of one", "one-b b:1 of one")
	// A rollout is no loss.
	l.plays(s.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { delete(spec.Stages[0].Env, "LEVEL") }),
		s.says("one-a", "False", polychromev1alpha1.ReasonRolloutInProgress, ""))
	s.finds("workflow one Progressing StagesProgressing", "- a Pending RolloutInProgress", "- b Ready", "one-a a:1 of one", "one-b b:1 of one")
	if diff := cmp.Diff(map[string]string{"STAGE": "a"}, s.child("one-a").Spec.Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if s.child("one-b").Generation != before.Generation {
		t.Error("want the stage behind it as it was")
	}
}

func TestAnUpstreamWithZeroReplicas(t *testing.T) {
	s := newScene(t)
	l := s.start()
	stopped := stage("a")
	stopped.Replicas = new(int32(0))
	l.plays(s.makes("one", stopped, stage("b", "a")), s.says("one-a", "False", polychromev1alpha1.ReasonStopped, "zero replicas are asked for"))
	s.finds("workflow one Pending UpstreamNotReady", "- a Pending Stopped", "- b Waiting UpstreamNotReady: a (Stopped: zero replicas)", "one-a a:1 of one")
	l.plays(s.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages[0].Replicas = new(int32(2)) }), s.raises("one-a"))
	s.finds("workflow one Progressing StagesProgressing", "- a Ready", "- b Pending", "one-a a:1 of one", "one-b b:1 of one")
}

func TestRemovedStagesGoDownstreamFirst(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("one", stage("a"), stage("b", "a"), stage("c", "b"), stage("kept", "a")),
		s.raises("one-a"), s.raises("one-b", "one-kept"), s.raises("one-c"), s.holds("one-c", true))
	l.plays(s.stages("one", stage("kept")))
	s.finds("workflow one Ready StagesReady", "- kept Ready",
		"one-a a:1 of one", "one-b b:1 of one", "one-c c:1 of one going", "one-kept kept:1 of one")
	// Nobody remembers who depended on whom but the children.
	l.stop()
	l = s.start()
	l.costs(nil, s.waits(time.Minute))
	l.plays(s.holds("one-c", false))
	s.finds("workflow one Ready StagesReady", "- kept Ready", "one-kept kept:1 of one")
	if diff := cmp.Diff([]string{"delete servicedefinitions one-b", "delete servicedefinitions one-a"},
		l.asks(frameworktest.By("delete"))); diff != "" {
		t.Errorf("deletes (-want +got):\n%s", diff)
	}
}

func TestAStageRenamedAndAddedAgain(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("one", stage("a"), stage("b", "a")), s.raises("one-a"), s.raises("one-b"))
	old := s.child("one-b").UID
	l.plays(s.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages[1].Name = "bee" }))
	s.finds("workflow one Progressing StagesProgressing", "- a Ready", "- bee Pending", "one-a a:1 of one", "one-bee b:1 of one")
	l.plays(s.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages[1].Name = "b" }))
	s.finds("workflow one Progressing StagesProgressing", "- a Ready", "- b Pending", "one-a a:1 of one", "one-b b:1 of one")
	if s.child("one-b").UID == old {
		t.Error("want another child after the name came back")
	}
}

func TestAChildThatIsGoingIsWaitedFor(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("one", stage("a"), stage("b", "a")), s.raises("one-a"), s.raises("one-b"), s.holds("one-b", true))
	old := s.child("one-b").UID
	l.plays(s.deletes(definitions, "one-b"))
	going := []string{"workflow one Progressing ChildTerminating", "- a Ready", "- b Pending ChildTerminating", "one-a a:1 of one", "one-b b:1 of one going"}
	s.finds(going...)
	l.costs(nil, s.waits(time.Minute))
	// When it is gone its gate is shut.
	l.plays(s.says("one-a", "False", polychromev1alpha1.ReasonImagePullBackOff, ""), s.holds("one-b", false))
	s.finds("workflow one Degraded StageDegraded", "- a Pending StageDegraded", "- b Waiting UpstreamNotReady: a (ImagePullBackOff)", "one-a a:1 of one")
	l.plays(s.raises("one-a"))
	s.finds("workflow one Progressing StagesProgressing", "- a Ready", "- b Pending", "one-a a:1 of one", "one-b b:1 of one")
	if s.child("one-b").UID == old {
		t.Error("want another child")
	}
}

func TestAWorkflowDeletedHalfWayIsCollected(t *testing.T) {
	for _, propagation := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(propagation), func(t *testing.T) {
			s := newScene(t)
			l := s.start()
			l.plays(s.makes("one", stage("a"), stage("b", "a")), s.holds("one-a", true))
			if err := s.workflows().Delete(t.Context(), "one", metav1.DeleteOptions{PropagationPolicy: &propagation}); err != nil {
				t.Fatal(err)
			}
			// A child that gets ready opens no gate any more.
			l.plays(s.raises("one-a"), s.holds("one-a", false))
			s.eventually()
			l.settle()
			if diff := cmp.Diff([]string{"apply servicedefinitions one-a"}, l.asks(frameworktest.On("servicedefinitions"), frameworktest.Writes)); diff != "" {
				t.Errorf("requests about children (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesThatMeetAndNamesThatAreCut(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("a-b", stage("c")), s.makes("a", stage("b-c"), stage("d")))
	theirs := s.child("a-b-c")
	met := []string{"workflow a Pending NameConflict", "- b-c Pending NameConflict", "- d Pending",
		"workflow a-b Pending StagesProgressing", "- c Pending", "a-b-c c:1 of a-b", "a-d d:1 of a"}
	s.finds(met...)
	if told := l.told("NameConflict"); len(told) == 0 {
		t.Error("want an event")
	}
	if diff := cmp.Diff(theirs, s.child("a-b-c")); diff != "" {
		t.Errorf("the first one's (-want +got):\n%s", diff)
	}
	// The second one hears that the name is free, and takes it.
	l.plays(s.deletes(workflows, "a-b"))
	s.eventually("workflow a Pending StagesProgressing", "- b-c Pending", "- d Pending", "a-b-c b-c:1 of a", "a-d d:1 of a")
	l.settle()

	long := strings.Repeat("w", 57)
	l.plays(s.deletes(workflows, "a"))
	s.eventually()
	l.plays(s.makes(long, stage("aaaa"), stage("aaaaa"), stage("aaaaaa"), stage("aaaaab")))
	for i, entry := range s.flow(long).Status.Stages {
		if n := len(entry.ServiceDefinition); n > 63 || (i < 2) != (entry.ServiceDefinition == long+"-"+entry.Name) {
			t.Errorf("stage %s: want a name of at most 63 characters, cut where it must be, got %s", entry.Name, entry.ServiceDefinition)
		}
		if child := s.child(entry.ServiceDefinition); child.Labels[polychromev1alpha1.StageLabel] != entry.Name {
			t.Errorf("want the child of %s, got that of %s", entry.Name, child.Labels[polychromev1alpha1.StageLabel])
		}
	}
}

func TestAForeignServiceDefinitionStaysAsItIs(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.takes("one-b"))
	before := s.child("one-b")
	l.plays(s.makes("one", stage("a"), stage("b"), stage("c", "b")), s.raises("one-a"), s.waits(time.Hour), s.stages("one", stage("a")))
	if diff := cmp.Diff(before, s.child("one-b")); diff != "" {
		t.Errorf("somebody else's (-before +after):\n%s", diff)
	}
	s.finds("workflow one Ready StagesReady", "- a Ready", "one-a a:1 of one", "one-b theirs:1")
}

func TestAnInvalidEditTouchesNoChildAndMendingItGoesOn(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("one", stage("a"), stage("b", "a"), stage("c", "b")), s.raises("one-a"), s.raises("one-b"))
	broken := []frameworktest.Step{s.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) {
		spec.Stages[0].Image, spec.Stages[0].DependsOn = "example.test/a:2", []string{"c"}
		spec.Stages = append(without(spec.Stages, "b"), stage("b", "a"), stage("d"))
	})}
	l.costs([]string{"patch workflows/status one"}, broken...)
	s.finds("workflow one Invalid DependencyCycle", "- a Ready", "- c Pending", "- b Ready", "- d Waiting",
		"one-a a:1 of one", "one-b b:1 of one", "one-c c:1 of one")
	if got := s.flow("one").Status.Conditions; got[0].Message != "stages depend on each other in a circle: a → c → b → a" || got[1].Type != "Stalled" {
		t.Errorf("want the circle told, and Stalled, got %+v", got)
	}
	l.costs(nil, s.waits(time.Hour))
	l.costs([]string{"patch workflows/status one"}, s.raises("one-c"))
	l.plays(s.edits("one", func(spec *polychromev1alpha1.WorkflowSpec) { spec.Stages[0].DependsOn = nil }))
	s.finds("workflow one Progressing StagesProgressing", "- a Pending", "- c Ready", "- b Ready", "- d Pending",
		"one-a a:2 of one", "one-b b:1 of one", "one-c c:1 of one", "one-d d:1 of one")
	if got := s.flow("one").Status.Conditions; len(got) != 1 {
		t.Errorf("want nothing but Ready left, got %+v", got)
	}
}

func TestARefusedStageKeepsNoOtherFromStarting(t *testing.T) {
	s := newScene(t)
	l := s.start()
	refused := l.faults.Inject(frameworktest.Fault{
		Verb: "apply", Resource: "servicedefinitions", Name: "one-a", Status: http.StatusForbidden, Message: "exceeded quota", Times: -1,
	})
	l.plays(s.makes("one", stage("a"), stage("b"), stage("c", "a")), s.raises("one-b"))
	s.finds("workflow one Progressing APIRefused", "- a Pending APIRefused", "- b Ready", "- c Waiting UpstreamNotReady: a (APIRefused)", "one-b b:1 of one")
	before := refused.Hits()
	l.plays(s.waits(23*time.Second), s.waits(23*time.Second))
	if again := refused.Hits() - before; again != 2 {
		t.Errorf("want it tried again with each look, got %d times", again)
	}
	refused.Stop()
	l.plays(s.waits(23 * time.Second))
	s.finds("workflow one Progressing StagesProgressing", "- a Pending", "- b Ready", "- c Waiting UpstreamNotReady: a (Pending)",
		"one-a a:1 of one", "one-b b:1 of one")
}
