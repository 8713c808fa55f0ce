package workflow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
)

const worlds = 1_200

func pick[E any](r *rand.Rand, from ...E) E { return from[r.IntN(len(from))] }

// elsewhere is a condition of somebody else.
var elsewhere = metav1.Condition{Type: "Elsewhere", Status: "True", Reason: "Elsewhere"}

// anyStages are up to five stages that mostly depend on earlier ones.
func anyStages(r *rand.Rand) []workflowStage {
	var stages []workflowStage
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		if r.IntN(4) == 0 {
			continue
		}
		s := stage(name)
		for _, earlier := range []string{"a", "b", "c", "d"}[:min(i, 4)] {
			if r.IntN(3) == 0 {
				s.DependsOn = append(s.DependsOn, earlier)
			}
		}
		s.Replicas = pick(r, nil, new(int32(0)), new(int32(1)), new(int32(2)))
		stages = append(stages, s)
	}
	known := func(name string) bool {
		return slices.ContainsFunc(stages, func(s workflowStage) bool { return s.Name == name })
	}
	for i := range stages {
		stages[i].DependsOn = slices.DeleteFunc(stages[i].DependsOn, func(name string) bool { return !known(name) && r.IntN(20) > 0 })
		if r.IntN(20) == 0 {
			stages[i].DependsOn = append(stages[i].DependsOn, pick(r, "a", "e", "nowhere"))
		}
	}
	if len(stages) > 0 && r.IntN(20) == 0 {
		stages = append(stages, stages[0])
	}
	r.Shuffle(len(stages), func(i, j int) { stages[i], stages[j] = stages[j], stages[i] })
	return stages
}

var anyReason = []polychromev1alpha1.Reason{
	polychromev1alpha1.ReasonRolloutInProgress, polychromev1alpha1.ReasonImagePullBackOff, polychromev1alpha1.ReasonStopped,
	polychromev1alpha1.ReasonNameConflict, polychromev1alpha1.ReasonPending,
}

// anyChild is in any state, or nil.
func anyChild(r *rand.Rand, wf *workflow, s workflowStage) *serviceDefinition {
	if r.IntN(4) == 0 {
		return nil
	}
	sd := wantedFor(wf, s)
	if r.IntN(4) == 0 {
		sd.Spec.Image = "example.com/other:1"
		sd.Generation = 2
	}
	if r.IntN(8) == 0 {
		sd.Labels["team"] = "theirs"
	}
	switch r.IntN(5) {
	case 0, 1:
		sd = up(sd)
	case 2:
		sd = down(sd, pick(r, anyReason...))
	case 3:
		sd = up(sd)
		sd.Generation++
	}
	switch r.IntN(8) {
	case 0:
		return foreign(sd)
	case 1:
		sd.OwnerReferences = nil
	case 2:
		return going(sd)
	case 3:
		sd.Finalizers = []string{"example.com/hold"}
	}
	return sd
}

func anySimulation(r *rand.Rand) (*simulation, *plane) {
	wf := flow(anyStages(r)...)
	wf.Generation = pick(r, int64(1), 2)
	if r.IntN(20) == 0 {
		wf.DeletionTimestamp = &metav1.Time{Time: now}
	}
	wf.Status = polychromev1alpha1.WorkflowStatus{
		ObservedGeneration: pick(r, int64(0), 1, 2), ReadyStages: pick(r, int32(0), 1),
		Phase: pick(r, "", polychromev1alpha1.WorkflowPending, polychromev1alpha1.WorkflowProgressing, polychromev1alpha1.WorkflowReady,
			polychromev1alpha1.WorkflowDegraded, polychromev1alpha1.WorkflowInvalid),
		Conditions: []metav1.Condition{
			{Type: "Ready", Status: pick[metav1.ConditionStatus](r, "True", "False"), Reason: pick(r, "Pending", "StagesReady", "NameConflict")},
			elsewhere,
		},
	}
	if r.IntN(4) == 0 {
		wf.Status.Conditions = append(wf.Status.Conditions, metav1.Condition{Type: "Stalled", Status: "True", Reason: "NameConflict"})
	}
	p := newPlane()
	for _, name := range []string{"a", "b", "c", "d", "e", "x", "y", "z"} {
		if r.IntN(2) == 0 {
			wf.Status.Stages = append(wf.Status.Stages, stageStatus{
				Name: name, Ready: r.IntN(2) == 0, Message: pick(r, "", "StageDegraded: ImagePullBackOff: before", "ImagePullBackOff: before"),
			})
		}
		s := stage(name, pick(r, nil, []string{"x"}, []string{"x", "y"}, []string{"z"})...)
		if i := slices.IndexFunc(wf.Spec.Stages, func(s workflowStage) bool { return s.Name == name }); i >= 0 {
			s = wf.Spec.Stages[i]
		}
		if sd := anyChild(r, wf, s); sd != nil {
			p.objects[sd.Name] = sd
		}
	}
	return p.simulate(wf), p
}

func TestEveryWorldSettlesAndNoActionRepeats(t *testing.T) {
	frameworktest.PlanTwiceFrom(t, worlds/4, func(r *rand.Rand) *simulation {
		s, _ := anySimulation(r)
		return s
	})
}

// eachWorld settles many random worlds.
func eachWorld(t *testing.T, check func(t *testing.T, seed uint64, before map[string]*serviceDefinition, s *simulation, p *plane)) {
	t.Helper()
	for seed := range uint64(worlds) {
		s, p := anySimulation(rand.New(rand.NewPCG(seed, 7)))
		before := map[string]*serviceDefinition{}
		for name, sd := range p.objects {
			before[name] = sd.DeepCopy()
		}
		if _, err := s.Settle(frameworktest.Rounds); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		check(t, seed, before, s, p)
		if t.Failed() {
			return
		}
	}
}

func TestWhatIsNotOursOrNotUnderstoodStaysAsItIs(t *testing.T) {
	eachWorld(t, func(t *testing.T, seed uint64, before map[string]*serviceDefinition, s *simulation, p *plane) {
		_, broken := invalid(s.Object)
		for name, sd := range before {
			theirs := len(sd.OwnerReferences) == 0 || sd.OwnerReferences[0].UID != s.Object.UID
			if !theirs && !broken && s.Object.DeletionTimestamp == nil {
				continue
			}
			if diff := cmp.Diff(sd, p.objects[name]); diff != "" {
				t.Errorf("seed %d: %s was touched (-before +after):\n%s", seed, name, diff)
			}
		}
	})
}

func TestAWorldThatSettledTellsTheTruth(t *testing.T) {
	met := map[polychromev1alpha1.Reason]int{}
	eachWorld(t, func(t *testing.T, seed uint64, _ map[string]*serviceDefinition, s *simulation, p *plane) {
		if s.Object.DeletionTimestamp != nil {
			return
		}
		checkStatus(t, s.Object, p)
		met[reasonOf(s.Object)]++
		if t.Failed() {
			t.Errorf("seed %d", seed)
		}
	})
	for _, facts := range polychromev1alpha1.Conditions() {
		if facts.Kind != kind || facts.Type != polychromev1alpha1.ConditionReady {
			continue
		}
		for _, reason := range slices.Concat(facts.True, facts.False) {
			unmet := reason == polychromev1alpha1.ReasonInvalidName || reason == polychromev1alpha1.ReasonInvalidStageName
			if met[reason] == 0 && !unmet {
				t.Errorf("no world came to %s: %v", reason, met)
			}
		}
	}
}

// checkStatus compares a status with the plane that it tells of, by rules of
// its own.
func checkStatus(t *testing.T, wf *workflow, p *plane) {
	t.Helper()
	_, broken := invalid(wf)
	st, count := wf.Status, int32(0)
	var names []string
	for _, s := range wf.Spec.Stages {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	for i, entry := range st.Stages {
		if i >= len(names) || entry.Name != names[i] {
			t.Fatalf("want the stages in the order of the spec %v, got %+v", names, st.Stages)
		}
		s := wf.Spec.Stages[slices.IndexFunc(wf.Spec.Stages, func(s workflowStage) bool { return s.Name == entry.Name })]
		sd := p.objects["wf-"+entry.Name]
		isReady := sd != nil && len(sd.OwnerReferences) == 1 && sd.OwnerReferences[0].UID == wf.UID && sd.DeletionTimestamp == nil &&
			(broken || shows(sd, wantedFor(wf, s))) && isUp(sd)
		if entry.Ready != isReady || (entry.Phase == polychromev1alpha1.StageReady) != isReady {
			t.Errorf("stage %s: want ready %t, got %+v of %+v", entry.Name, isReady, entry, sd)
		}
		if isReady {
			count++
		} else if entry.Message == "" && !broken {
			t.Errorf("stage %s is not ready and does not say why", entry.Name)
		}
	}
	if int(st.TotalStages) != len(wf.Spec.Stages) || len(st.Stages) != len(names) || st.ReadyStages != count || st.ObservedGeneration != wf.Generation {
		t.Errorf("want %d of %d stages ready in generation %d, got %+v", count, len(wf.Spec.Stages), wf.Generation, st)
	}
	all := !broken && int(count) == len(names)
	if (st.Phase == polychromev1alpha1.WorkflowReady) != all || (st.Phase == polychromev1alpha1.WorkflowInvalid) != broken ||
		isTrue(wf, "Ready") != all || reasonOf(wf) == polychromev1alpha1.ReasonStagesReady != all {
		t.Errorf("want all ready %t and invalid %t, got %s, %+v", all, broken, st.Phase, st.Conditions)
	}
	if (st.Phase == polychromev1alpha1.WorkflowDegraded) != (count < int32(len(names)) && !broken && degraded(wf)) {
		t.Errorf("want phase and stages to agree on what is degraded, got %s and %+v", st.Phase, st.Stages)
	}
	checkConditions(t, wf)
}

func degraded(wf *workflow) bool {
	return slices.ContainsFunc(wf.Status.Stages, func(s stageStatus) bool { return len(s.Message) > 15 && s.Message[:15] == "StageDegraded: " })
}

func isUp(sd *serviceDefinition) bool {
	for _, c := range sd.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True" && c.ObservedGeneration == sd.Generation && sd.Status.ObservedGeneration == sd.Generation
		}
	}
	return false
}

func isTrue(wf *workflow, kind string) bool {
	return slices.ContainsFunc(wf.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind && c.Status == "True" })
}

func reasonOf(wf *workflow) polychromev1alpha1.Reason {
	for _, c := range wf.Status.Conditions {
		if c.Type == "Ready" {
			return polychromev1alpha1.Reason(c.Reason)
		}
	}
	return ""
}

// checkConditions asks the table of reasons.
func checkConditions(t *testing.T, wf *workflow) {
	t.Helper()
	var allowed, stalling []polychromev1alpha1.Reason
	for _, facts := range polychromev1alpha1.Conditions() {
		switch {
		case facts.Kind != "" && facts.Kind != kind:
		case facts.Type == polychromev1alpha1.ConditionReady && isTrue(wf, "Ready"):
			allowed = append(allowed, facts.True...)
		case facts.Type == polychromev1alpha1.ConditionReady:
			allowed = append(allowed, facts.False...)
		case facts.Type == polychromev1alpha1.ConditionStalled:
			stalling = append(stalling, facts.True...)
		}
	}
	reason := reasonOf(wf)
	if !slices.Contains(allowed, reason) {
		t.Errorf("the reason %s may not be set", reason)
	}
	stalls := slices.Contains(stalling, reason) && reason != polychromev1alpha1.ReasonUndecodable
	if isTrue(wf, "Stalled") != stalls {
		t.Errorf("want Stalled %t for %s, got %+v", stalls, reason, wf.Status.Conditions)
	}
	if !isTrue(wf, "Elsewhere") {
		t.Errorf("somebody else's condition was touched: %+v", wf.Status.Conditions)
	}
}
