package workflow

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
	applyv1alpha1 "polychrome.dev/controller/generated/applyconfiguration/polychrome/v1alpha1"
)

// What the framework provides must fit what is asked for here.
var (
	_ Workflows          = (*framework.Resource[*workflow])(nil)
	_ ServiceDefinitions = (*framework.Resource[*serviceDefinition])(nil)
)

type ownersOfWorkflows struct{}

func (ownersOfWorkflows) Owner(wf *workflow) owners.Owner { return ownerOf(wf) }

// definitions are a namespace's ServiceDefinitions, and what is asked of them.
type definitions struct {
	*plane
	wf *workflow
	// err is the answer to every write, unheld that nothing is written.
	err    error
	unheld bool
	asked  []string
}

func (d *definitions) Look(_ owners.Owner, config any) (framework.Child[*serviceDefinition], error) {
	name := *config.(*applyv1alpha1.ServiceDefinitionApplyConfiguration).Name
	for _, s := range d.wf.Spec.Stages {
		if childName(d.wf.Name, s.Name) == name {
			return d.look(d.wf, s).Child, d.err
		}
	}
	return framework.Child[*serviceDefinition]{}, errors.New("no such child: " + name)
}

func (d *definitions) Get(_, name string) (*serviceDefinition, bool) {
	sd, found := d.objects[name]
	return sd, found
}

func (d *definitions) List() []*serviceDefinition {
	var all []*serviceDefinition
	for _, sd := range d.objects {
		all = append(all, sd)
	}
	return all
}

func (d *definitions) Apply(_ context.Context, owner owners.Owner, config any) (*serviceDefinition, bool, error) {
	want := config.(*applyv1alpha1.ServiceDefinitionApplyConfiguration)
	d.asked = append(d.asked, "apply "+*want.Name+" "+*want.Spec.Image+" for "+string(owner.UID))
	return wantedFor(d.wf, d.wf.Spec.Stages[0]), d.err == nil && !d.unheld, d.err
}

func (d *definitions) Delete(_ context.Context, sd *serviceDefinition) error {
	d.asked = append(d.asked, "delete "+sd.Namespace+"/"+sd.Name+" "+string(sd.UID)+" "+sd.ResourceVersion)
	return d.err
}

func (d *definitions) reconciler() *Reconciler {
	return New(Options{Workflows: ownersOfWorkflows{}, ServiceDefinitions: d, Log: slog.New(slog.DiscardHandler)})
}

func TestAct(t *testing.T) {
	wf := flow(stage("a"))
	child := wantedFor(wf, stage("a"))
	resource := schema.GroupResource{Group: polychromev1alpha1.GroupName, Resource: "servicedefinitions"}
	var (
		quota     = apierrors.NewForbidden(resource, "wf-a", errors.New("exceeded quota"))
		malformed = apierrors.NewInvalid(schema.GroupKind{}, "wf-a", field.ErrorList{field.Required(field.NewPath("spec", "image"), "")})
		broken    = apierrors.NewInternalError(errors.New("broken"))
	)
	apply := "apply wf-a example.com/a:1 for " + string(wf.UID)
	for name, c := range map[string]struct {
		action    Action
		objects   []*serviceDefinition
		err       error
		unheld    bool
		wantAsked []string
		want      framework.Result
		wantErr   error
	}{
		"makes": {
			action: Action{Kind: ApplyStage, Stage: "a", Child: "wf-a"}, wantAsked: []string{apply},
			want: framework.Result{Learned: Learned{Applied: child}},
		},
		"mends": {
			action: Action{Kind: ApplyStage, Stage: "a", Child: "wf-a", UID: child.UID}, objects: []*serviceDefinition{child},
			wantAsked: []string{apply}, want: framework.Result{Learned: Learned{Applied: child}},
		},
		"does not make what was to be mended and has gone": {action: Action{Kind: ApplyStage, Stage: "a", Child: "wf-a", UID: child.UID}},
		"nor writes to what has come in its place":         {action: Action{Kind: ApplyStage, Stage: "a", Child: "wf-a", UID: "another"}, objects: []*serviceDefinition{child}},
		"learns nothing of what was not written":           {action: Action{Kind: ApplyStage, Stage: "a", Child: "wf-a"}, unheld: true, wantAsked: []string{apply}},
		"learns that it is refused, and goes on":           {action: Action{Kind: ApplyStage, Stage: "a", Child: "wf-a"}, err: quota, wantAsked: []string{apply}, want: framework.Result{Learned: Learned{Refused: quota}}},
		"learns that it is malformed, and goes on":         {action: Action{Kind: ApplyStage, Stage: "a", Child: "wf-a"}, err: malformed, wantAsked: []string{apply}, want: framework.Result{Learned: Learned{Refused: malformed}}},
		"returns any other failure":                        {action: Action{Kind: ApplyStage, Stage: "a", Child: "wf-a"}, err: broken, wantAsked: []string{apply}, wantErr: broken},
		"deletes the very version that was judged":         {action: Action{Kind: RemoveStage, Stage: "b", Child: "wf-b", UID: "uid", Version: "7"}, wantAsked: []string{"delete apps/wf-b uid 7"}},
		"learns that a delete is refused, and goes on":     {action: Action{Kind: RemoveStage, Stage: "b", Child: "wf-b", UID: "uid", Version: "7"}, err: quota, wantAsked: []string{"delete apps/wf-b uid 7"}, want: framework.Result{Learned: Learned{Refused: quota}}},
		"returns any other failure of a delete":            {action: Action{Kind: RemoveStage, Stage: "b", Child: "wf-b", UID: "uid", Version: "7"}, err: broken, wantAsked: []string{"delete apps/wf-b uid 7"}, wantErr: broken},
	} {
		t.Run(name, func(t *testing.T) {
			d := &definitions{plane: newPlane(c.objects...), wf: wf, err: c.err, unheld: c.unheld}
			got, err := d.reconciler().Act(t.Context(), wf, c.action)
			if !errors.Is(err, c.wantErr) || (err == nil) != (c.wantErr == nil) {
				t.Errorf("want error %v, got %v", c.wantErr, err)
			}
			if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.wantAsked, d.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestActRefusesWhatItDoesNotKnow(t *testing.T) {
	wf := flow(stage("a"))
	d := &definitions{plane: newPlane(), wf: wf}
	for _, action := range []Action{{Kind: "Dance"}, {Kind: ApplyStage, Stage: "nobody"}} {
		if _, err := d.reconciler().Act(t.Context(), wf, action); err == nil {
			t.Errorf("want an error for %v", action)
		}
	}
}

func TestObserve(t *testing.T) {
	wf := flow(stage("b", "a"), stage("a"))
	mine := func(name string) *serviceDefinition { return wantedFor(wf, stage(name)) }
	stray := mine("stray")
	stray.OwnerReferences = nil
	d := &definitions{wf: wf, plane: newPlane(mine("a"), foreign(mine("b")), mine("z"), mine("y"), foreign(mine("x")), stray)}
	got, err := d.reconciler().Observe(t.Context(), wf)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.world(wf), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Leftovers) != 2 || got.Leftovers[0].Name != "wf-y" || !got.Children["b"].Foreign() || !got.Children["a"].live() {
		t.Errorf("want wf-y and wf-z left over, and b taken, got %+v", got)
	}
	d.err = errors.New("unreadable")
	if got, err := d.reconciler().Observe(t.Context(), wf); err != nil || got.Children["a"].Unread == nil {
		t.Errorf("want what cannot be read to be told of its stage alone, got %+v, %v", got, err)
	}
}

func TestObserveLeavesADeletedWorkflowToTheGarbageCollector(t *testing.T) {
	wf := going(wantedFor(flow(), stage("a")))
	deleted := flow(stage("a"))
	deleted.DeletionTimestamp = wf.DeletionTimestamp
	d := &definitions{wf: deleted, plane: newPlane(wf)}
	got, err := d.reconciler().Observe(t.Context(), deleted)
	if diff := cmp.Diff(World{}, got); err != nil || diff != "" {
		t.Errorf("want nothing looked at (-want +got):\n%s%v", diff, err)
	}
}

func TestMapServiceDefinition(t *testing.T) {
	of := func(name, owner string) *serviceDefinition {
		sd := wantedFor(flow(), stage("a"))
		sd.Name, sd.OwnerReferences[0].Name = name, owner
		return sd
	}
	free := of("a-b", "")
	free.OwnerReferences = nil
	other := of("a-b", "deployment")
	other.OwnerReferences[0].Kind = "Deployment"
	for name, c := range map[string]struct {
		sd   *serviceDefinition
		want []string
	}{
		"its owner, and whoever may have a child of its name": {of("a-b-c", "a-b"), []string{"a", "a-b"}},
		"the owner of a name that was cut":                    {of("long-1234", "longer-than-that"), []string{"long", "longer-than-that"}},
		"nobody's":                                            {free, []string{"a"}},
		"somebody else's":                                     {other, []string{"a"}},
	} {
		var got []string
		for _, key := range MapServiceDefinition(c.sd) {
			if key.Namespace != "apps" {
				t.Errorf("%s: want the namespace apps, got %s", name, key)
			}
			got = append(got, key.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestActionsRenderForPeople(t *testing.T) {
	for want, action := range map[string]Action{
		"ApplyStage wf-a":              {Kind: ApplyStage, Stage: "a", Child: "wf-a", Drift: []string{""}},
		"ApplyStage wf-a (spec.image)": {Kind: ApplyStage, Stage: "a", Child: "wf-a", Drift: []string{"spec.image"}, UID: "uid"},
		"RemoveStage wf-a":             {Kind: RemoveStage, Stage: "a", Child: "wf-a", UID: "uid", Version: "1"},
	} {
		if got := action.String(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}
