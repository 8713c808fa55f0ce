package routine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

func TestOnlyTheRoutinesOwnLeftoversAreRemoved(t *testing.T) {
	routine := bare()
	ours := ownerOf(routine)
	with := func(change func(*metav1.OwnerReference)) metav1.OwnerReference {
		r := ours
		change(&r)
		return r
	}
	tests := map[string]struct {
		references []metav1.OwnerReference
		want       bool
	}{
		"ours":                      {[]metav1.OwnerReference{ours}, true},
		"ours, as controller":       {[]metav1.OwnerReference{with(func(r *metav1.OwnerReference) { r.Controller = new(true) })}, true},
		"ours, of another version":  {[]metav1.OwnerReference{with(func(r *metav1.OwnerReference) { r.APIVersion = "polychrome.dev/v1" })}, true},
		"nobody's":                  {nil, false},
		"an earlier namesake's":     {[]metav1.OwnerReference{with(func(r *metav1.OwnerReference) { r.UID = "uid-earlier" })}, false},
		"another kind's":            {[]metav1.OwnerReference{with(func(r *metav1.OwnerReference) { r.Kind = "Workflow" })}, false},
		"another group's":           {[]metav1.OwnerReference{with(func(r *metav1.OwnerReference) { r.APIVersion = "example.com/v1" })}, false},
		"of a group that is none":   {[]metav1.OwnerReference{with(func(r *metav1.OwnerReference) { r.APIVersion = "a/b/c" })}, false},
		"ours and somebody else's":  {[]metav1.OwnerReference{ours, {APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "uid-theirs"}}, false},
		"somebody else's, and ours": {[]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "uid-theirs"}, ours}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, kind := range leftovers {
				plan := newReconciler().Plan(now, routine, World{Leftovers: []Found{{kind, leftover(tt.references...)}}})
				var want []Action
				if tt.want {
					want = []Action{{Kind: kind, Name: "routine-news", UID: "uid-leftover", Version: "7"}}
				}
				if diff := cmp.Diff(want, plan.Actions); diff != "" {
					t.Errorf("%s: actions (-want +got):\n%s", kind, diff)
				}
			}
		})
	}
	nameless := bare(named(""))
	if ownedBy(nameless, leftover(ownerOf(nameless))) {
		t.Error("a routine without a UID owns something")
	}
}

func TestPlan(t *testing.T) {
	going := leftover(ownerOf(bare()))
	going.DeletionTimestamp = new(metav1.NewTime(now))
	both := []Found{{CronJob, leftover(ownerOf(bare()))}, {ServiceAccount, leftover(ownerOf(bare()))}}
	tests := map[string]struct {
		routine   *polychromev1alpha1.Routine
		leftovers []Found
		want      string
		actions   []string
	}{
		"nothing is left":            {bare(), nil, apply, nil},
		"the trigger goes first":     {bare(), both, apply, []string{"Remove CronJob routine-news", "Remove ServiceAccount routine-news"}},
		"also while suspended":       {bare(suspended), both, apply, []string{"Remove CronJob routine-news", "Remove ServiceAccount routine-news"}},
		"also when past":             {bare(on(onceAt("2020-01-01T00:00:00Z", ""))), both, apply, []string{"Remove CronJob routine-news", "Remove ServiceAccount routine-news"}},
		"not while invalid":          {bare(prompting("")), both, reportInvalid, nil},
		"a deletion takes all along": {bare(deleting), both, noop, nil},
		"a deletion, though invalid": {bare(deleting, prompting("")), both, noop, nil},
		"what is going goes by itself": {bare(), []Found{{CronJob, going}, both[1]}, apply,
			[]string{"Remove ServiceAccount routine-news"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan := newReconciler().Plan(now, tt.routine, World{Leftovers: tt.leftovers})
			var actions []string
			for _, a := range plan.Actions {
				actions = append(actions, a.String())
			}
			if plan.Decision != tt.want {
				t.Errorf("want %s, got %s", tt.want, plan.Decision)
			}
			if diff := cmp.Diff(tt.actions, actions); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADeletedRoutineIsLeftAlone(t *testing.T) {
	routine := bare(deleting)
	if got := newReconciler().Status(now, routine, World{}, nil); got != routine {
		t.Errorf("want no status, got %+v", got.Status)
	}
	if plan := newReconciler().Plan(now, routine, World{}); plan.Wait != 0 {
		t.Errorf("want no wait, got %s", plan.Wait)
	}
}

func TestMapLeftover(t *testing.T) {
	for name, want := range map[string][]framework.Key{
		"routine-news": {{Namespace: "control", Name: "news"}}, "routine-routine-a": {{Namespace: "control", Name: "routine-a"}},
		"routine-": nil, "news": nil, "my-routine-news": nil, "": nil, "default": nil,
	} {
		obj := leftover()
		obj.Name = name
		if diff := cmp.Diff(want, MapLeftover(obj)); diff != "" {
			t.Errorf("%q concerns (-want +got):\n%s", name, diff)
		}
	}
}

func FuzzMapLeftover(f *testing.F) {
	f.Add("routine-news", "control")
	f.Fuzz(func(t *testing.T, name, namespace string) {
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		for _, key := range MapLeftover(obj) {
			if leftoverName(key.Name) != name || key.Namespace != namespace {
				t.Fatalf("%q concerns %v", name, key)
			}
		}
	})
}

func FuzzJudge(f *testing.F) {
	f.Add("0 9 * * *", "UTC", "2026-05-05T12:00:00Z", "p", "o", int64(1_777_000_000), true)
	f.Fuzz(func(t *testing.T, expression, zone, at, prompt, owner string, unix int64, once bool) {
		routine := bare(on(every(expression, zone)), prompting(prompt), named(owner))
		if once {
			on(onceAt(at, zone))(routine)
		}
		routine.Spec.Owner = owner
		clock := now.AddDate(0, 0, int(unix%100_000))
		got := newReconciler().Status(clock, routine, World{}, nil)
		if len(got.Status.Message) > 4096 || len(got.Status.Cadence) > 4096 || len(got.Status.NextFireTimes) > 3 {
			t.Fatalf("more than a status holds: %+v", got.Status)
		}
		if again := newReconciler().Status(clock, got, World{}, nil); again != got {
			t.Fatal("a second pass changes the status")
		}
		checkWait(t, clock, routine)
	})
}
