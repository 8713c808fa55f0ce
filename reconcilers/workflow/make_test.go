package workflow

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/framework/owners"
)

type (
	workflow          = polychromev1alpha1.Workflow
	workflowStage     = polychromev1alpha1.WorkflowStage
	stageStatus       = polychromev1alpha1.WorkflowStageStatus
	serviceDefinition = polychromev1alpha1.ServiceDefinition
	simulation        = frameworktest.Simulation[*workflow, World, Action]
)

// now is the time of every pass that does not need another one.
var now = time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC)

// flow is a workflow named wf.
func flow(stages ...workflowStage) *workflow {
	return frameworktest.Make(&workflow{Spec: polychromev1alpha1.WorkflowSpec{Owner: "user:slack/U1", Stages: stages}},
		frameworktest.Name("wf"), frameworktest.InNamespace("apps"))
}

// stage is one that depends on others.
func stage(name string, dependsOn ...string) workflowStage {
	return workflowStage{
		Name: name, DependsOn: dependsOn, Image: "example.com/" + name + ":1", Port: 8080, Replicas: new(int32(1)),
		Env: map[string]string{"STAGE": name},
	}
}

func with(s workflowStage, change func(*workflowStage)) workflowStage {
	s = *s.DeepCopy()
	change(&s)
	return s
}

func ownerOf(wf *workflow) owners.Owner {
	return owners.Owner{APIVersion: polychromev1alpha1.SchemeGroupVersion.String(), Kind: kind, Name: wf.Name, UID: wf.UID}
}

// plane is the ServiceDefinitions of a namespace, by name. Objects in it are
// never changed, only replaced.
type plane struct {
	objects map[string]*serviceDefinition
	made    int
}

func newPlane(objects ...*serviceDefinition) *plane {
	p := &plane{objects: map[string]*serviceDefinition{}}
	for _, sd := range objects {
		p.objects[sd.Name] = sd
	}
	return p
}

// world is what Observe would see.
func (p *plane) world(wf *workflow) World {
	if wf == nil || wf.DeletionTimestamp != nil {
		return World{}
	}
	w := World{Children: map[string]Child{}}
	kept := map[string]bool{}
	for _, s := range distinct(wf.Spec.Stages) {
		w.Children[s.Name] = p.look(wf, s)
		kept[childName(wf.Name, s.Name)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(p.objects)) {
		if !kept[name] && owners.Judge(ownerOf(wf), p.objects[name]) == owners.Ours {
			w.Leftovers = append(w.Leftovers, p.objects[name])
		}
	}
	return w
}

func (p *plane) look(wf *workflow, s workflowStage) Child {
	var child Child
	child.Object, child.Present = p.objects[childName(wf.Name, s.Name)]
	if !child.Present {
		child.Drift = []string{""}
		return child
	}
	if child.Ownership = owners.Judge(ownerOf(wf), child.Object); child.Ownership == owners.Ours && !shows(child.Object, wantedFor(wf, s)) {
		child.Drift = []string{"spec"}
	}
	return child
}

// wantedFor is the child that a stage should have, new as an API server would
// make it.
func wantedFor(wf *workflow, s workflowStage) *serviceDefinition {
	raw, err := json.Marshal(serviceDefinitionFor(wf, s))
	sd := &serviceDefinition{}
	if err = errors.Join(err, json.Unmarshal(raw, sd)); err != nil {
		panic(err)
	}
	sd.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: polychromev1alpha1.SchemeGroupVersion.String(), Kind: kind, Name: wf.Name, UID: wf.UID, Controller: new(true),
	}}
	sd.Generation, sd.UID, sd.ResourceVersion = 1, types.UID("uid-"+sd.Name), "1"
	sd.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Pending"}}
	return sd
}

// shows reports whether an object has all that is wanted.
func shows(have, want *serviceDefinition) bool {
	return sameSpec(have, want) && maps.Equal(have.Labels, want.Labels) &&
		have.Annotations[polychromev1alpha1.DependsOnAnnotation] == want.Annotations[polychromev1alpha1.DependsOnAnnotation]
}

func sameSpec(have, want *serviceDefinition) bool {
	a, errA := json.Marshal(have.Spec)
	b, errB := json.Marshal(want.Spec)
	return errors.Join(errA, errB) == nil && string(a) == string(b)
}

// put replaces an object, as a new version.
func (p *plane) put(sd *serviceDefinition) {
	version, _ := strconv.Atoi(sd.ResourceVersion)
	sd.ResourceVersion = strconv.Itoa(version + 1)
	p.objects[sd.Name] = sd
}

// apply is the API server's answer to an apply.
func (p *plane) apply(wf *workflow, s workflowStage) *serviceDefinition {
	want := wantedFor(wf, s)
	have := p.objects[want.Name]
	if have == nil {
		p.made++
		want.UID = types.UID("uid-" + want.Name + "-" + strconv.Itoa(p.made))
		p.objects[want.Name] = want
		return want
	}
	mended := have.DeepCopy()
	if !sameSpec(have, want) {
		mended.Generation++
	}
	mended.Spec, mended.Labels = want.Spec, want.Labels
	if mended.Annotations = want.Annotations; mended.Annotations == nil {
		mended.Annotations = map[string]string{}
	}
	p.put(mended)
	return mended
}

// remove deletes an object, which stays while it has finalizers.
func (p *plane) remove(name string) {
	sd := p.objects[name].DeepCopy()
	if len(sd.Finalizers) == 0 {
		delete(p.objects, name)
		return
	}
	if sd.DeletionTimestamp == nil {
		at := metav1.NewTime(now)
		sd.DeletionTimestamp = &at
		sd.Generation++
		p.put(sd)
	}
}

// simulate has actions take effect on a plane.
func (p *plane) simulate(wf *workflow) *simulation {
	r := &Reconciler{}
	return &simulation{
		Now: now, Object: wf, World: p.world(wf), Plan: r.Plan, Status: r.Status,
		Do: func(s *simulation, a Action) (framework.Result, error) {
			result := p.carryOut(s.Object, a)
			s.World = p.world(s.Object)
			return result, nil
		},
	}
}

func (p *plane) carryOut(wf *workflow, a Action) framework.Result {
	if a.Kind == RemoveStage {
		p.remove(a.Child)
		return framework.Result{}
	}
	g := graphOf(wf.Spec.Stages)
	return framework.Result{Learned: Learned{Applied: p.apply(wf, g.stages[g.at[a.Stage]])}}
}

// says is a ServiceDefinition whose controller has looked at it.
func says(sd *serviceDefinition, status metav1.ConditionStatus, reason polychromev1alpha1.Reason, message string) *serviceDefinition {
	sd = sd.DeepCopy()
	sd.Status.ObservedGeneration = sd.Generation
	sd.Status.Ready = status == metav1.ConditionTrue
	sd.Status.Conditions = []metav1.Condition{{
		Type: "Ready", Status: status, Reason: string(reason), Message: message, ObservedGeneration: sd.Generation,
		LastTransitionTime: metav1.NewTime(now),
	}}
	return sd
}

func up(sd *serviceDefinition) *serviceDefinition {
	return says(sd, metav1.ConditionTrue, polychromev1alpha1.ReasonRolloutComplete, "")
}

func down(sd *serviceDefinition, reason polychromev1alpha1.Reason) *serviceDefinition {
	return says(sd, metav1.ConditionFalse, reason, "because")
}

// foreign is an object of somebody else under the name of a child.
func foreign(sd *serviceDefinition) *serviceDefinition {
	sd = sd.DeepCopy()
	sd.OwnerReferences[0].UID = "uid-of-somebody-else"
	return sd
}

func going(sd *serviceDefinition) *serviceDefinition {
	sd = sd.DeepCopy()
	at := metav1.NewTime(now)
	sd.DeletionTimestamp, sd.Finalizers = &at, []string{"example.com/hold"}
	return sd
}
