package workflow

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// traveller plays a long random life of one workflow, in which users, the
// ServiceDefinition controller and strangers do what they like, and compares
// what the reconciler does with rules of its own.
type traveller struct {
	*rand.Rand
	p *plane
	s *simulation
	// wrong are breaches of the rules, told are what happened before.
	wrong []string
	told  []string
	// seen is the generation in which a child was last seen ready.
	seen map[string]generation
}

type generation struct {
	uid types.UID
	of  int64
}

func newTraveller(seed uint64) *traveller {
	tr := &traveller{Rand: rand.New(rand.NewPCG(seed, 3)), p: newPlane(), seen: map[string]generation{}}
	tr.s = tr.p.simulate(flow(validStages(tr.Rand)...))
	tr.s.Do = func(s *simulation, a Action) (framework.Result, error) {
		if fault := tr.breach(s.Object, a); fault != "" {
			tr.wrong = append(tr.wrong, fault)
		}
		result := tr.p.carryOut(s.Object, a)
		s.World = tr.p.world(s.Object)
		return result, nil
	}
	return tr
}

func validStages(r *rand.Rand) []workflowStage {
	for {
		stages := anyStages(r)
		if _, broken := invalid(flow(stages...)); !broken {
			return stages
		}
	}
}

// breach says what is wrong with an action, at the moment of its write.
func (tr *traveller) breach(wf *workflow, a Action) string {
	sd := tr.p.objects[a.Child]
	switch {
	case sd != nil && (len(sd.OwnerReferences) != 1 || sd.OwnerReferences[0].UID != wf.UID):
		return fmt.Sprintf("%s writes to somebody else's object", a)
	case a.Kind == RemoveStage:
		return tr.removalBreach(wf, a)
	case sd != nil:
		return ""
	}
	s := wf.Spec.Stages[slices.IndexFunc(wf.Spec.Stages, func(s workflowStage) bool { return s.Name == a.Stage })]
	for _, name := range s.DependsOn {
		upstream := wf.Spec.Stages[slices.IndexFunc(wf.Spec.Stages, func(s workflowStage) bool { return s.Name == name })]
		if on := tr.p.objects["wf-"+name]; on == nil || on.DeletionTimestamp != nil || !isUp(on) || !shows(on, wantedFor(wf, upstream)) {
			return fmt.Sprintf("%s is made before %s is ready: %+v", a.Stage, name, on)
		}
	}
	return ""
}

func (tr *traveller) removalBreach(wf *workflow, a Action) string {
	if slices.ContainsFunc(wf.Spec.Stages, func(s workflowStage) bool { return s.Name == a.Stage }) {
		return fmt.Sprintf("%s deletes the child of a stage that is there", a)
	}
	if sd := tr.p.objects[a.Child]; sd == nil || sd.UID != a.UID || sd.ResourceVersion != a.Version {
		return fmt.Sprintf("%s deletes another version than was judged", a)
	}
	for _, other := range tr.p.world(wf).Leftovers {
		if slices.Contains(strings.Split(other.Annotations[polychromev1alpha1.DependsOnAnnotation], ","), a.Stage) && !tr.circular() {
			return fmt.Sprintf("%s goes before %s, which depended on it", a, other.Name)
		}
	}
	return ""
}

// circular reports whether the leftovers wait for each other.
func (tr *traveller) circular() bool {
	var stages []workflowStage
	for _, sd := range tr.p.world(tr.s.Object).Leftovers {
		stages = append(stages, stage(sd.Labels[polychromev1alpha1.StageLabel],
			strings.Split(sd.Annotations[polychromev1alpha1.DependsOnAnnotation], ",")...))
	}
	return len(graphOf(stages).circles()) > 0
}

// does is one thing that happens.
func (tr *traveller) does() {
	names := []string{"wf-a", "wf-b", "wf-c", "wf-d", "wf-e"}
	name := pick(tr.Rand, names...)
	sd := tr.p.objects[name]
	what := tr.IntN(14)
	tr.told = append(tr.told, fmt.Sprintf("%d %s", what, name))
	switch {
	case what == 0:
		tr.edits(func(wf *workflow) { wf.Spec.Stages = anyStages(tr.Rand) })
	case what <= 2:
		tr.edits(func(wf *workflow) { wf.Spec.Stages = validStages(tr.Rand) })
	case what == 3:
		tr.edits(func(wf *workflow) {
			if n := len(wf.Spec.Stages); n > 0 {
				wf.Spec.Stages[tr.IntN(n)].Image = fmt.Sprintf("example.com/edited:%d", tr.IntN(3))
			}
		})
	case sd == nil && what == 4:
		tr.p.objects[name] = foreign(wantedFor(flow(), stage(strings.TrimPrefix(name, "wf-"))))
	case sd == nil:
	case what <= 8:
		tr.p.put(up(sd))
	case what <= 10:
		tr.p.put(down(sd, pick(tr.Rand, anyReason...)))
	case what == 11:
		sd = sd.DeepCopy()
		sd.Finalizers = pick(tr.Rand, nil, []string{"example.com/hold"})
		tr.p.put(sd)
		if sd.DeletionTimestamp != nil && len(sd.Finalizers) == 0 {
			delete(tr.p.objects, name)
		}
	case what == 12:
		tr.p.remove(name)
	case what == 13:
		sd = sd.DeepCopy()
		sd.Spec.Description = fmt.Sprint(tr.IntN(1000))
		sd.Labels["team"] = "theirs"
		sd.Generation++
		tr.p.put(sd)
	}
	tr.s.World = tr.p.world(tr.s.Object)
}

func (tr *traveller) edits(change func(*workflow)) {
	wf := tr.s.Object.DeepCopy()
	change(wf)
	wf.Generation++
	tr.s.Object = wf
}

// settles plays passes until nothing happens.
func (tr *traveller) settles() {
	if _, err := tr.s.Settle(10); err != nil {
		tr.wrong = append(tr.wrong, err.Error())
	}
}

// lost are the stages that were ready in what they are now and are not.
func (tr *traveller) lost() []string {
	var lost []string
	wf := tr.s.Object
	_, broken := invalid(wf)
	now := map[string]generation{}
	for _, s := range distinct(wf.Spec.Stages) {
		sd := tr.p.objects["wf-"+s.Name]
		if sd == nil || sd.OwnerReferences[0].UID != wf.UID || sd.DeletionTimestamp != nil {
			continue
		}
		is := generation{sd.UID, sd.Generation}
		switch {
		case isUp(sd) && (broken || shows(sd, wantedFor(wf, s))):
			now[s.Name] = is
		case sd.Status.ObservedGeneration == sd.Generation && tr.seen[s.Name] == is:
			now[s.Name] = is
			lost = append(lost, s.Name)
		}
	}
	tr.seen = now
	return lost
}

func TestNoJourneyBreaksTheRules(t *testing.T) {
	journeys, phases := 80, map[polychromev1alpha1.WorkflowPhase]int{}
	for seed := range uint64(journeys) {
		tr := newTraveller(seed)
		tr.settles()
		for range 60 {
			tr.does()
			tr.settles()
			if len(tr.wrong) > 0 {
				break
			}
			tr.compares(t)
			phases[tr.s.Object.Status.Phase]++
		}
		tr.mends(t)
		if len(tr.wrong) > 0 || t.Failed() {
			t.Fatalf("seed %d: %s\nafter %s\nstatus %+v", seed, strings.Join(tr.wrong, "; "), strings.Join(tr.told, ", "), tr.s.Object.Status)
		}
	}
	if len(phases) < 5 {
		t.Errorf("want every phase met, got %v", phases)
	}
}

// compares judges the status by what happened so far.
func (tr *traveller) compares(t *testing.T) {
	t.Helper()
	wf := tr.s.Object.DeepCopy()
	wf.Status.Conditions = append(wf.Status.Conditions, elsewhere)
	checkStatus(t, wf, tr.p)
	lost := tr.lost()
	for _, entry := range wf.Status.Stages {
		says := strings.HasPrefix(entry.Message, "StageDegraded: ")
		if says != slices.Contains(lost, entry.Name) {
			t.Errorf("want exactly %v degraded, got %+v", lost, entry)
		}
	}
	if _, broken := invalid(wf); !broken && (wf.Status.Phase == polychromev1alpha1.WorkflowDegraded) != (len(lost) > 0) {
		t.Errorf("want degraded for %v, got %s", lost, wf.Status.Phase)
	}
}

// mends takes everything out of the way; then all must come up.
func (tr *traveller) mends(t *testing.T) {
	t.Helper()
	tr.edits(func(wf *workflow) {
		wf.Spec.Stages = []workflowStage{stage("b"), stage("d", "b"), stage("a", "d", "b")}
	})
	for range 30 {
		for name, sd := range tr.p.objects {
			if sd.DeletionTimestamp != nil || sd.OwnerReferences[0].UID != tr.s.Object.UID {
				delete(tr.p.objects, name)
				continue
			}
			sd = up(sd)
			sd.Finalizers = nil
			tr.p.put(sd)
		}
		tr.s.World = tr.p.world(tr.s.Object)
		tr.settles()
	}
	if tr.s.Object.Status.Phase != polychromev1alpha1.WorkflowReady || len(tr.p.objects) != 3 {
		t.Errorf("want all ready in the end, got %d children", len(tr.p.objects))
	}
}

// A journey whose writes fail now and then must keep the rules too.
func TestNoJourneyOfFailuresBreaksTheRules(t *testing.T) {
	for seed := range uint64(80) {
		tr := newTraveller(seed)
		tr.s.Fail = func(Action) error {
			if tr.IntN(3) == 0 {
				return errors.New("the API server is busy")
			}
			return nil
		}
		for range 60 {
			tr.does()
			tr.s.Pass()
		}
		tr.s.Fail = nil
		tr.mends(t)
		if len(tr.wrong) > 0 || t.Failed() {
			t.Fatalf("seed %d: %s\nafter %s", seed, strings.Join(tr.wrong, "; "), strings.Join(tr.told, ", "))
		}
	}
}
