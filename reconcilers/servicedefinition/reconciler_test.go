package servicedefinition

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/owners"
)

// What the framework provides must fit what is asked for here.
var (
	_ Deployments               = (*framework.Resource[*appsv1.Deployment])(nil)
	_ Children[*corev1.Service] = (*framework.Resource[*corev1.Service])(nil)
	_ Pods                      = (*framework.Resource[*corev1.Pod])(nil)
)

// cluster is a fake of both kinds of children and of the pods.
type cluster struct {
	world World
	all   []*corev1.Pod
	lists int
	calls []string
	err   error
}

type fakeDeployments struct{ *cluster }

func (f fakeDeployments) Look(owner owners.Owner, config any) (framework.Child[*appsv1.Deployment], error) {
	f.calls = append(f.calls, "look at Deployment "+*config.(*applyappsv1.DeploymentApplyConfiguration).Name+" of "+owner.Kind+" "+string(owner.UID))
	return f.world.Deployment, f.err
}

func (f fakeDeployments) Apply(_ context.Context, owner owners.Owner, config any) (*appsv1.Deployment, bool, error) {
	f.calls = append(f.calls, "apply Deployment "+*config.(*applyappsv1.DeploymentApplyConfiguration).Name+" of "+owner.Kind+" "+string(owner.UID))
	return deployment(unseen), true, f.err
}

func (f fakeDeployments) Share(_ context.Context, child *appsv1.Deployment, manager string, config any) error {
	d := config.(*applyappsv1.DeploymentApplyConfiguration)
	f.calls = append(f.calls, "share Deployment "+string(child.UID)+" with "+manager)
	if *d.Spec.Replicas != *child.Spec.Replicas || d.Spec.Template != nil || d.Spec.Selector != nil {
		f.calls = append(f.calls, "more than the replicas")
	}
	return f.err
}

type fakeServices struct{ *cluster }

func (f fakeServices) Look(owner owners.Owner, config any) (framework.Child[*corev1.Service], error) {
	f.calls = append(f.calls, "look at Service "+*config.(*applycorev1.ServiceApplyConfiguration).Name+" of "+owner.Kind+" "+string(owner.UID))
	return f.world.Service, f.err
}

func (f fakeServices) Apply(_ context.Context, owner owners.Owner, config any) (*corev1.Service, bool, error) {
	f.calls = append(f.calls, "apply Service "+*config.(*applycorev1.ServiceApplyConfiguration).Name+" of "+owner.Kind+" "+string(owner.UID))
	return &corev1.Service{}, true, f.err
}

func (f *cluster) List() []*corev1.Pod {
	f.lists++
	return f.all
}

func (f *cluster) reconciler() *Reconciler {
	return New(Options{Deployments: fakeDeployments{f}, Services: fakeServices{f}, Pods: f})
}

func TestObserve(t *testing.T) {
	foreign := pod("web-0", func(p *corev1.Pod) { p.OwnerReferences = nil })
	f := &cluster{world: settled(deployed(starting)), all: []*corev1.Pod{pod("web-2"), foreign, pod("web-1")}}
	got, err := f.reconciler().Observe(t.Context(), service())
	if err != nil {
		t.Fatal(err)
	}
	want := settled(deployed(starting), pods(pod("web-1"), pod("web-2")))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("world (-want +got):\n%s", diff)
	}
	calls := []string{"look at Deployment web of ServiceDefinition uid-1", "look at Service web of ServiceDefinition uid-1"}
	if diff := cmp.Diff(calls, f.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestAPodIsOnlyLookedForWhereItMaySayWhy(t *testing.T) {
	for name, w := range map[string]World{
		"rolled out": settled(), "no Deployment": settled(withoutDeployment), "somebody else's": settled(deployed(starting), foreignDeployment),
	} {
		f := &cluster{world: w, all: []*corev1.Pod{pod("web-1")}}
		if got, err := f.reconciler().Observe(t.Context(), service()); err != nil || f.lists > 0 || got.Pods != nil {
			t.Errorf("%s: want no pods looked at, got %v, %v", name, got.Pods, err)
		}
	}
}

func TestWhatCannotBeReadEndsThePass(t *testing.T) {
	f := &cluster{err: errTest}
	if _, err := f.reconciler().Observe(t.Context(), service()); !errors.Is(err, errTest) {
		t.Errorf("want the error, got %v", err)
	}
}

func TestAct(t *testing.T) {
	handed := deployment()
	tests := map[string]struct {
		action  Action
		call    string
		learned any
	}{
		"the Deployment is applied, and its answer learnt": {
			Action{Kind: ApplyDeployment}, "apply Deployment web of ServiceDefinition uid-1", deployment(unseen)},
		"the Service is applied": {Action{Kind: ApplyService}, "apply Service web of ServiceDefinition uid-1", nil},
		"the replicas are handed over, and nothing else": {
			Action{Kind: HandOverReplicas, Deployment: handed}, "share Deployment uid-d with polychrome.dev/replicas", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := &cluster{}
			got, err := f.reconciler().Act(t.Context(), service(), tt.action)
			if diff := cmp.Diff(tt.learned, got.Learned); diff != "" || err != nil {
				t.Errorf("learned, %v (-want +got):\n%s", err, diff)
			}
			if diff := cmp.Diff([]string{tt.call}, f.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			f.err = errTest
			if got, err := f.reconciler().Act(t.Context(), service(), tt.action); !errors.Is(err, errTest) || got.Learned != nil {
				t.Errorf("want the error and nothing learnt, got %v, %v", err, got.Learned)
			}
		})
	}
	if _, err := (&cluster{}).reconciler().Act(t.Context(), service(), Action{Kind: "Dance"}); err == nil {
		t.Error("want an error for an unknown action, got none")
	}
}

func TestMappers(t *testing.T) {
	want := []framework.Key{{Namespace: "apps", Name: "web"}}
	foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web"}}
	if diff := cmp.Diff(want, MapChild(foreign)); diff != "" {
		t.Errorf("a child of somebody else (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, MapPod(pod("web-abc-1"))); diff != "" {
		t.Errorf("a pod (-want +got):\n%s", diff)
	}
	if got := MapPod(&corev1.Pod{}); got != nil {
		t.Errorf("want no key for a pod without a label, got %v", got)
	}
}
