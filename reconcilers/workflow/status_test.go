package workflow

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
)

// film is a simulation of which a test says what it shows after each step.
type film struct {
	t *testing.T
	p *plane
	s *simulation
	// writes counts actions and status writes.
	writes int
}

func newFilm(t *testing.T, stages ...workflowStage) *film {
	p := newPlane()
	return &film{t: t, p: p, s: p.simulate(flow(stages...))}
}

// then lets something happen and compares what is shown once all is quiet.
func (f *film) then(what string, do func(), want ...string) {
	f.t.Helper()
	do()
	f.s.World = f.p.world(f.s.Object)
	passes, err := f.s.Settle(frameworktest.Rounds)
	if err != nil {
		f.t.Fatalf("%s: %v", what, err)
	}
	for _, pass := range passes {
		f.writes += len(pass.Done)
		if pass.Before != pass.After {
			f.writes++
		}
	}
	if diff := cmp.Diff(want, shown(f.s.Object)); diff != "" {
		f.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// shown is a status in a few lines: the workflow, then each stage.
func shown(wf *workflow) []string {
	var lines []string
	for _, c := range wf.Status.Conditions {
		switch {
		case c.Type == "Ready":
			lines = append(lines, fmt.Sprintf("%s %d/%d %s: %s", wf.Status.Phase, wf.Status.ReadyStages, wf.Status.TotalStages, c.Reason, c.Message))
		case c.Status == metav1.ConditionTrue:
			lines = append(lines, c.Type+" "+c.Reason)
		}
	}
	for _, entry := range wf.Status.Stages {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", entry.Name, entry.ServiceDefinition, entry.Phase, entry.Message)))
	}
	return lines
}

func (f *film) edit(change func(spec *polychromev1alpha1.WorkflowSpec)) func() {
	return func() {
		wf := f.s.Object.DeepCopy()
		change(&wf.Spec)
		wf.Generation++
		f.s.Object = wf
	}
}

func (f *film) up(names ...string) func() {
	return func() {
		for _, name := range names {
			f.p.put(up(f.p.objects[name]))
		}
	}
}

func (f *film) down(name string, reason polychromev1alpha1.Reason) func() {
	return func() { f.p.put(down(f.p.objects[name], reason)) }
}

func nothing() {}

const (
	isNew = "Pending: the ServiceDefinition is new or changed, and its status is not about that yet"
	taken = " is not this workflow's and is left alone; remove it, or rename the stage"
)

func TestThreeStagesComeUpInOrder(t *testing.T) {
	f := newFilm(t, stage("c", "b"), stage("a"), stage("b", "a"))
	f.then("made", nothing,
		"Pending 0/3 StagesProgressing: stages ready: 0 of 3; not yet: a (Pending), b (UpstreamNotReady), c (UpstreamNotReady)",
		"c wf-c Waiting UpstreamNotReady: b (UpstreamNotReady)",
		"a wf-a Pending "+isNew,
		"b wf-b Waiting UpstreamNotReady: a (Pending)")
	f.then("a starts", f.down("wf-a", polychromev1alpha1.ReasonRolloutInProgress),
		"Pending 0/3 StagesProgressing: stages ready: 0 of 3; not yet: a (RolloutInProgress), b (UpstreamNotReady), c (UpstreamNotReady)",
		"c wf-c Waiting UpstreamNotReady: b (UpstreamNotReady)",
		"a wf-a Pending RolloutInProgress: because",
		"b wf-b Waiting UpstreamNotReady: a (RolloutInProgress)")
	f.then("a cannot start", f.down("wf-a", polychromev1alpha1.ReasonImagePullBackOff),
		"Pending 0/3 UpstreamNotReady: b waits for a (ImagePullBackOff)",
		"c wf-c Waiting UpstreamNotReady: b (UpstreamNotReady)",
		"a wf-a Pending ImagePullBackOff: because",
		"b wf-b Waiting UpstreamNotReady: a (ImagePullBackOff)")
	f.then("a is up", f.up("wf-a"),
		"Progressing 1/3 StagesProgressing: stages ready: 1 of 3; not yet: b (Pending), c (UpstreamNotReady)",
		"c wf-c Waiting UpstreamNotReady: b (Pending)", "a wf-a Ready", "b wf-b Pending "+isNew)
	f.then("b is up", f.up("wf-b"),
		"Progressing 2/3 StagesProgressing: stages ready: 2 of 3; not yet: c (Pending)",
		"c wf-c Pending "+isNew, "a wf-a Ready", "b wf-b Ready")
	f.then("c is up", f.up("wf-c"), "Ready 3/3 StagesReady: every stage is ready", "c wf-c Ready", "a wf-a Ready", "b wf-b Ready")
	if f.writes != 9 {
		t.Errorf("want three children and six statuses written, got %d writes", f.writes)
	}
}

func TestAStageThatWasReadyIsDegradedUntilItIsReadyOrEdited(t *testing.T) {
	f := newFilm(t, stage("a"), stage("b", "a"))
	f.then("made", nothing, "Pending 0/2 StagesProgressing: stages ready: 0 of 2; not yet: a (Pending), b (UpstreamNotReady)",
		"a wf-a Pending "+isNew, "b wf-b Waiting UpstreamNotReady: a (Pending)")
	ready := []string{"Ready 2/2 StagesReady: every stage is ready", "a wf-a Ready", "b wf-b Ready"}
	f.s.World = f.p.world(f.s.Object)
	f.up("wf-a")()
	f.then("a is up", nothing, "Progressing 1/2 StagesProgressing: stages ready: 1 of 2; not yet: b (Pending)", "a wf-a Ready", "b wf-b Pending "+isNew)
	f.then("b is up", f.up("wf-b"), ready...)
	lost := []string{"Degraded 1/2 StageDegraded: no longer ready: a (CrashLoopBackOff)", "a wf-a Pending StageDegraded: CrashLoopBackOff: because", "b wf-b Ready"}
	f.then("a is lost", f.down("wf-a", polychromev1alpha1.ReasonCrashLoopBackOff), lost...)
	f.then("its reason changes", f.down("wf-a", polychromev1alpha1.ReasonRolloutInProgress),
		"Degraded 1/2 StageDegraded: no longer ready: a (RolloutInProgress)", "a wf-a Pending StageDegraded: RolloutInProgress: because", "b wf-b Ready")
	f.then("another stage is edited", f.edit(func(s *polychromev1alpha1.WorkflowSpec) { s.Stages[1].Image = "b:2" }),
		"Degraded 0/2 StageDegraded: no longer ready: a (RolloutInProgress)", "a wf-a Pending StageDegraded: RolloutInProgress: because", "b wf-b Pending "+isNew)
	f.then("b is up again", f.up("wf-b"),
		"Degraded 1/2 StageDegraded: no longer ready: a (RolloutInProgress)", "a wf-a Pending StageDegraded: RolloutInProgress: because", "b wf-b Ready")
	f.then("and a", f.up("wf-a"), ready...)
	f.then("lost again", f.down("wf-a", polychromev1alpha1.ReasonCrashLoopBackOff), lost...)
	f.then("edited", f.edit(func(s *polychromev1alpha1.WorkflowSpec) { s.Stages[0].Image = "a:2" }),
		"Progressing 1/2 StagesProgressing: stages ready: 1 of 2; not yet: a (Pending)", "a wf-a Pending "+isNew, "b wf-b Ready")
	f.then("rolling", f.down("wf-a", polychromev1alpha1.ReasonRolloutInProgress),
		"Progressing 1/2 StagesProgressing: stages ready: 1 of 2; not yet: a (RolloutInProgress)", "a wf-a Pending RolloutInProgress: because", "b wf-b Ready")
	f.then("the edit does not start", f.down("wf-a", polychromev1alpha1.ReasonImagePullBackOff),
		"Progressing 1/2 StagesProgressing: stages ready: 1 of 2; not yet: a (ImagePullBackOff)", "a wf-a Pending ImagePullBackOff: because", "b wf-b Ready")
}

// The pass that gave the child its new spec did not come to write a status.
func TestARolloutAfterALostStatusIsNoLoss(t *testing.T) {
	wf := flow(stage("a"))
	wf.Status = polychromev1alpha1.WorkflowStatus{
		Phase: polychromev1alpha1.WorkflowReady, ObservedGeneration: 1, Stages: []stageStatus{{Name: "a", Ready: true}},
	}
	wf.Generation = 2
	p := newPlane(down(wantedFor(wf, wf.Spec.Stages[0]), polychromev1alpha1.ReasonRolloutInProgress))
	f := &film{t: t, p: p, s: p.simulate(wf)}
	f.then("seen again", nothing, "Progressing 0/1 StagesProgressing: stages ready: 0 of 1; not yet: a (RolloutInProgress)",
		"a wf-a Pending RolloutInProgress: because")
}

// What does not start after such an edit was ready before it all the same.
func TestAFailureAfterALostStatusIsALoss(t *testing.T) {
	wf := flow(stage("a"))
	wf.Status = polychromev1alpha1.WorkflowStatus{ObservedGeneration: 1, Stages: []stageStatus{{Name: "a", Ready: true}}}
	wf.Generation = 2
	p := newPlane(down(wantedFor(wf, wf.Spec.Stages[0]), polychromev1alpha1.ReasonImagePullBackOff))
	f := &film{t: t, p: p, s: p.simulate(wf)}
	f.then("seen again", nothing, "Degraded 0/1 StageDegraded: no longer ready: a (ImagePullBackOff)",
		"a wf-a Pending StageDegraded: ImagePullBackOff: because")
}

func TestWhomAStageWaitsForDoesNotDependOnNames(t *testing.T) {
	f := newFilm(t, stage("a", "b"), stage("b", "c"), stage("c"))
	f.then("made", nothing, "Pending 0/3 StagesProgressing: stages ready: 0 of 3; not yet: a (UpstreamNotReady), b (UpstreamNotReady), c (Pending)",
		"a wf-a Waiting UpstreamNotReady: b (UpstreamNotReady)", "b wf-b Waiting UpstreamNotReady: c (Pending)", "c wf-c Pending "+isNew)
}

func TestAFailedPassSaysWhatIsStillToBeDone(t *testing.T) {
	f := newFilm(t, stage("a"), stage("b"))
	f.p.objects["wf-b"] = up(wantedFor(f.s.Object, with(stage("b"), func(s *workflowStage) { s.Image = "example.com/old:1" })))
	f.s.World = f.p.world(f.s.Object)
	f.s.Fail = func(Action) error { return errors.New("the API server is busy") }
	f.s.Pass()
	want := []string{
		"Pending 0/2 StagesProgressing: stages ready: 0 of 2; not yet: a (Pending), b (Pending)",
		"a wf-a Pending Pending: the ServiceDefinition is still to be made",
		"b wf-b Pending Pending: the ServiceDefinition is still to be changed to what the spec says",
	}
	if diff := cmp.Diff(want, shown(f.s.Object)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAStageThatCannotHaveAChildNamesNone(t *testing.T) {
	f := newFilm(t, stage("a"), stage("B"))
	f.then("made", nothing, "Invalid 0/2 InvalidStageName: the stage name \"B\" cannot end the name of a Service: write "+labelRule,
		"Stalled InvalidStageName", "a wf-a Waiting", "B  Waiting")
}

func TestARolledWorkflowIsNoLongerPending(t *testing.T) {
	f := newFilm(t, stage("a"))
	f.then("made", nothing, "Pending 0/1 StagesProgressing: stages ready: 0 of 1; not yet: a (Pending)", "a wf-a Pending "+isNew)
	f.then("up", f.up("wf-a"), "Ready 1/1 StagesReady: every stage is ready", "a wf-a Ready")
	f.then("edited", f.edit(func(s *polychromev1alpha1.WorkflowSpec) { s.Stages[0].Image = "a:2" }),
		"Progressing 0/1 StagesProgressing: stages ready: 0 of 1; not yet: a (Pending)", "a wf-a Pending "+isNew)
}

func TestAnUpstreamWithZeroReplicas(t *testing.T) {
	f := newFilm(t, with(stage("a"), func(s *workflowStage) { s.Replicas = new(int32(0)) }), stage("b", "a"))
	f.then("made", nothing, "Pending 0/2 UpstreamNotReady: b waits for a (Stopped: zero replicas)",
		"a wf-a Pending "+isNew, "b wf-b Waiting UpstreamNotReady: a (Stopped: zero replicas)")
	f.then("stopped", f.down("wf-a", polychromev1alpha1.ReasonStopped), "Pending 0/2 UpstreamNotReady: b waits for a (Stopped: zero replicas)",
		"a wf-a Pending Stopped: because", "b wf-b Waiting UpstreamNotReady: a (Stopped: zero replicas)")
}

func TestANameThatIsTakenStopsOnlyWhatDependsOnIt(t *testing.T) {
	f := newFilm(t, stage("a"), stage("b", "a"), stage("c"))
	theirs := foreign(wantedFor(f.s.Object, stage("a")))
	before := theirs.DeepCopy()
	f.then("taken", func() { f.p.objects["wf-a"] = theirs },
		"Pending 0/3 NameConflict: stage a: the ServiceDefinition wf-a"+taken, "Stalled NameConflict",
		"a wf-a Pending NameConflict: the ServiceDefinition wf-a"+taken, "b wf-b Waiting UpstreamNotReady: a (NameConflict)", "c wf-c Pending "+isNew)
	if diff := cmp.Diff(before, f.p.objects["wf-a"]); diff != "" {
		t.Errorf("somebody else's object (-want +got):\n%s", diff)
	}
	plan := f.s.Plan(now, f.s.Object, f.s.World)
	want := []framework.Event{{Warning: true, Reason: "NameConflict", Message: "stage a: the ServiceDefinition wf-a" + taken}}
	if diff := cmp.Diff(want, plan.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	f.then("free", func() { delete(f.p.objects, "wf-a") },
		"Pending 0/3 StagesProgressing: stages ready: 0 of 3; not yet: a (Pending), b (UpstreamNotReady), c (Pending)",
		"a wf-a Pending "+isNew, "b wf-b Waiting UpstreamNotReady: a (Pending)", "c wf-c Pending "+isNew)
}

func TestAChildThatIsGoingIsWaitedFor(t *testing.T) {
	f := newFilm(t, stage("a"), stage("b", "a"))
	f.then("made", nothing, "Pending 0/2 StagesProgressing: stages ready: 0 of 2; not yet: a (Pending), b (UpstreamNotReady)",
		"a wf-a Pending "+isNew, "b wf-b Waiting UpstreamNotReady: a (Pending)")
	f.then("deleted, and held", func() { f.p.put(going(f.p.objects["wf-a"])) },
		"Pending 0/2 ChildTerminating: stage a: waiting for the old ServiceDefinition wf-a to go; held by example.com/hold",
		"a wf-a Pending ChildTerminating: waiting for the old ServiceDefinition wf-a to go; held by example.com/hold",
		"b wf-b Waiting UpstreamNotReady: a (ChildTerminating)")
	f.then("held by somebody else", func() {
		sd := f.p.objects["wf-a"].DeepCopy()
		sd.Finalizers = []string{"example.com/other"}
		f.p.put(sd)
	}, "Pending 0/2 ChildTerminating: stage a: waiting for the old ServiceDefinition wf-a to go; held by example.com/other",
		"a wf-a Pending ChildTerminating: waiting for the old ServiceDefinition wf-a to go; held by example.com/other",
		"b wf-b Waiting UpstreamNotReady: a (ChildTerminating)")
	f.then("gone", func() { delete(f.p.objects, "wf-a") }, "Pending 0/2 StagesProgressing: stages ready: 0 of 2; not yet: a (Pending), b (UpstreamNotReady)",
		"a wf-a Pending "+isNew, "b wf-b Waiting UpstreamNotReady: a (Pending)")
}

func TestAnInvalidEditTouchesNothingAndMendingItGoesOn(t *testing.T) {
	f := newFilm(t, stage("a"), stage("b", "a"))
	f.then("made", nothing, "Pending 0/2 StagesProgressing: stages ready: 0 of 2; not yet: a (Pending), b (UpstreamNotReady)",
		"a wf-a Pending "+isNew, "b wf-b Waiting UpstreamNotReady: a (Pending)")
	f.then("broken", f.edit(func(s *polychromev1alpha1.WorkflowSpec) {
		s.Stages[0].DependsOn = []string{"b"}
		s.Stages[0].Image = "a:2"
	}),
		"Invalid 0/2 DependencyCycle: stages depend on each other in a circle: a → b → a", "Stalled DependencyCycle",
		"a wf-a Pending "+isNew, "b wf-b Waiting")
	f.then("a is up all the same", f.up("wf-a"), "Invalid 1/2 DependencyCycle: stages depend on each other in a circle: a → b → a",
		"Stalled DependencyCycle", "a wf-a Ready", "b wf-b Waiting")
	if sd := f.p.objects["wf-a"]; sd.Generation != 1 || len(f.p.objects) != 1 {
		t.Errorf("want the child as it was, got %+v", sd)
	}
	f.then("mended", f.edit(func(s *polychromev1alpha1.WorkflowSpec) { s.Stages[0].DependsOn = nil }),
		"Progressing 0/2 StagesProgressing: stages ready: 0 of 2; not yet: a (Pending), b (UpstreamNotReady)",
		"a wf-a Pending "+isNew, "b wf-b Waiting UpstreamNotReady: a (Pending)")
}

func TestAStageRemovedRenamedAndAddedAgain(t *testing.T) {
	f := newFilm(t, stage("a"), stage("b", "a"))
	f.then("made", nothing, "Pending 0/2 StagesProgressing: stages ready: 0 of 2; not yet: a (Pending), b (UpstreamNotReady)",
		"a wf-a Pending "+isNew, "b wf-b Waiting UpstreamNotReady: a (Pending)")
	f.then("up", func() { f.up("wf-a")(); f.p.put(up(f.p.apply(f.s.Object, stage("b", "a")))) },
		"Ready 2/2 StagesReady: every stage is ready", "a wf-a Ready", "b wf-b Ready")
	before := f.writes
	f.then("renamed", f.edit(func(s *polychromev1alpha1.WorkflowSpec) { s.Stages[1].Name = "bee" }),
		"Progressing 1/2 StagesProgressing: stages ready: 1 of 2; not yet: bee (Pending)", "a wf-a Ready", "bee wf-bee Pending "+isNew)
	if f.writes-before != 3 {
		t.Errorf("want a child made, one deleted and the status written, got %d writes", f.writes-before)
	}
	if f.p.objects["wf-b"] != nil {
		t.Error("want the child of the old name gone")
	}
	f.then("held", func() {
		sd := f.p.objects["wf-bee"].DeepCopy()
		sd.Finalizers = []string{"example.com/hold"}
		f.p.put(up(sd))
	},
		"Ready 2/2 StagesReady: every stage is ready", "a wf-a Ready", "bee wf-bee Ready")
	f.then("removed", f.edit(func(s *polychromev1alpha1.WorkflowSpec) { s.Stages = s.Stages[:1] }),
		"Ready 1/1 StagesReady: every stage is ready; removed ones still going: 1", "a wf-a Ready")
	f.then("added again", f.edit(func(s *polychromev1alpha1.WorkflowSpec) { s.Stages = append(s.Stages, stage("bee")) }),
		"Progressing 1/2 ChildTerminating: stage bee: waiting for the old ServiceDefinition wf-bee to go; held by example.com/hold",
		"a wf-a Ready", "bee wf-bee Pending ChildTerminating: waiting for the old ServiceDefinition wf-bee to go; held by example.com/hold")
}

func TestARemovalFromAReadyWorkflowTakesTwoWrites(t *testing.T) {
	f := newFilm(t, stage("a"))
	f.p.put(up(wantedFor(f.s.Object, stage("a"))))
	f.then("ready", func() { f.p.put(wantedFor(f.s.Object, stage("b"))) }, "Ready 1/1 StagesReady: every stage is ready", "a wf-a Ready")
	if f.writes != 2 || len(f.p.objects) != 1 {
		t.Errorf("want one child deleted and one status written, got %d writes", f.writes)
	}
}

// Its own words are written when they change, also where Ready is about
// another stage.
func TestAnotherHolderIsTold(t *testing.T) {
	f := newFilm(t, stage("a"), stage("b"))
	f.p.put(up(wantedFor(f.s.Object, stage("a"))))
	f.p.put(going(wantedFor(f.s.Object, stage("b"))))
	f.then("b is held", nothing, "Progressing 1/2 ChildTerminating: stage b: waiting for the old ServiceDefinition wf-b to go; held by example.com/hold",
		"a wf-a Ready", "b wf-b Pending ChildTerminating: waiting for the old ServiceDefinition wf-b to go; held by example.com/hold")
	f.then("a is lost", f.down("wf-a", polychromev1alpha1.ReasonCrashLoopBackOff), "Degraded 0/2 StageDegraded: no longer ready: a (CrashLoopBackOff)",
		"a wf-a Pending StageDegraded: CrashLoopBackOff: because", "b wf-b Pending ChildTerminating: waiting for the old ServiceDefinition wf-b to go; held by example.com/hold")
	f.then("b is held by somebody else", func() {
		sd := f.p.objects["wf-b"].DeepCopy()
		sd.Finalizers = []string{"example.com/other"}
		f.p.put(sd)
	}, "Degraded 0/2 StageDegraded: no longer ready: a (CrashLoopBackOff)",
		"a wf-a Pending StageDegraded: CrashLoopBackOff: because", "b wf-b Pending ChildTerminating: waiting for the old ServiceDefinition wf-b to go; held by example.com/other")
}

// A refusal of one stage is told, and keeps no other from starting.
func TestARefusedStageIsTold(t *testing.T) {
	p := newPlane()
	s := p.simulate(flow(stage("a"), stage("b"), stage("c", "a")))
	refusal := errors.New("exceeded quota")
	s.Do = func(s *simulation, a Action) (framework.Result, error) {
		if a.Stage == "a" {
			return framework.Result{Learned: Learned{Refused: refusal}}, nil
		}
		result := p.carryOut(s.Object, a)
		s.World = p.world(s.Object)
		return result, nil
	}
	want := []string{
		"Pending 0/3 APIRefused: stage a: exceeded quota",
		"a wf-a Pending APIRefused: exceeded quota", "b wf-b Pending " + isNew, "c wf-c Waiting UpstreamNotReady: a (APIRefused)",
	}
	s.Pass()
	if diff := cmp.Diff(want, shown(s.Object)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	refusal = errors.New("exceeded quota again")
	if pass := s.Pass(); pass.Before != pass.After {
		t.Errorf("want no write for another text, got %v", shown(pass.After))
	}
}

func TestARefusedRemovalIsTold(t *testing.T) {
	wf := flow(stage("a"))
	// Its label says, wrongly, that it is the stage that is still there.
	left := wantedFor(wf, stage("b"))
	left.Labels[polychromev1alpha1.StageLabel] = "a"
	for name, c := range map[string]struct {
		a    *serviceDefinition
		want []string
	}{
		"where all else is well": {up(wantedFor(wf, stage("a"))), []string{"Progressing 1/1 APIRefused: removed stage a: denied", "a wf-a Ready"}},
		"where a stage comes first": {down(wantedFor(wf, stage("a")), "CrashLoopBackOff"), []string{
			"Pending 0/1 StagesProgressing: stages ready: 0 of 1; not yet: a (CrashLoopBackOff)", "a wf-a Pending CrashLoopBackOff: because",
		}},
	} {
		s := newPlane(c.a, left).simulate(wf)
		s.Do = func(*simulation, Action) (framework.Result, error) {
			return framework.Result{Learned: Learned{Refused: errors.New("denied")}}, nil
		}
		s.Pass()
		if diff := cmp.Diff(c.want, shown(s.Object)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnUnreadableChildIsToldAndLeftAlone(t *testing.T) {
	wf := flow(stage("a"), stage("b"), stage("c", "a"))
	p := newPlane(up(wantedFor(wf, stage("a"))))
	s := p.simulate(wf)
	child := s.World.Children["a"]
	child.Unread, child.Drift = errors.New("spec.image is a number"), []string{"spec"}
	s.World.Children["a"] = child
	pass := s.Pass()
	if len(pass.Plan.Actions) != 1 || pass.Plan.Actions[0].Stage != "b" {
		t.Errorf("want b made and nothing else, got %v", pass.Plan.Actions)
	}
	want := []string{
		"Pending 0/3 Undecodable: stage a: spec.image is a number",
		"a wf-a Pending Undecodable: spec.image is a number", "b wf-b Pending " + isNew, "c wf-c Waiting UpstreamNotReady: a (Undecodable)",
	}
	if diff := cmp.Diff(want, shown(s.Object)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What somebody else says in other words is no reason to write; it comes with
// the next write.
func TestTextsDoNotChurn(t *testing.T) {
	f := newFilm(t, stage("a"), stage("b"))
	f.then("made", func() {
		f.p.put(down(f.p.apply(f.s.Object, stage("a")), polychromev1alpha1.ReasonCrashLoopBackOff))
	}, "Pending 0/2 StagesProgressing: stages ready: 0 of 2; not yet: a (CrashLoopBackOff), b (Pending)", "a wf-a Pending CrashLoopBackOff: because", "b wf-b Pending "+isNew)
	before := f.writes
	again := func() {
		f.p.put(says(f.p.objects["wf-a"], "False", polychromev1alpha1.ReasonCrashLoopBackOff, "in other words"))
	}
	f.then("said again", again,
		"Pending 0/2 StagesProgressing: stages ready: 0 of 2; not yet: a (CrashLoopBackOff), b (Pending)", "a wf-a Pending CrashLoopBackOff: because", "b wf-b Pending "+isNew)
	if f.writes != before {
		t.Errorf("want no write, got %d", f.writes-before)
	}
	f.then("b is up", f.up("wf-b"),
		"Progressing 1/2 StagesProgressing: stages ready: 1 of 2; not yet: a (CrashLoopBackOff)", "a wf-a Pending CrashLoopBackOff: in other words", "b wf-b Ready")
}

func TestMessagesAreBounded(t *testing.T) {
	stages := dense(64, false)
	p := newPlane()
	s := p.simulate(flow(stages...))
	p.put(says(p.apply(s.Object, stages[0]), "False", "CrashLoopBackOff", strings.Repeat("é", 3000)))
	s.World = p.world(s.Object)
	s.Pass()
	for _, entry := range s.Object.Status.Stages {
		if len(entry.Message) > maxMessage {
			t.Errorf("stage %s: a message of %d bytes", entry.Name, len(entry.Message))
		}
	}
	if ready := s.Object.Status.Conditions[0]; len(ready.Message) > maxMessage {
		t.Errorf("a message of %d bytes", len(ready.Message))
	}
}
