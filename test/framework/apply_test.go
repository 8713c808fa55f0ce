package framework_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// deployer is a rig whose widgets each have a Deployment, applied in every
// pass, as want says.
type deployer struct {
	*rig
	passes atomic.Int64
	mu     sync.Mutex
	want   func(w *widget.Widget) *appsapply.DeploymentApplyConfiguration
	// first, if any, comes before the next apply.
	first func(context.Context) error
}

func newDeployer(t *testing.T) *deployer {
	t.Helper()
	d := &deployer{want: workload}
	d.rig = newRig(t, rigOptions{deployments: true, script: func(r *rig) *script {
		s := standard(r)
		s.observe = func(_ context.Context, w *widget.Widget) (world, error) {
			deployment, _ := r.deploys.Get(w.Namespace, w.Name)
			return world{deployment: deployment}, nil
		}
		s.plan = func(time.Time, *widget.Widget, world) framework.Plan[action] {
			return framework.Plan[action]{Actions: []action{apply}}
		}
		s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			defer d.passes.Add(1)
			if first := d.first; first != nil {
				d.first = nil
				if err := first(ctx); err != nil {
					return framework.Result{}, err
				}
			}
			_, _, err := r.deploys.Apply(ctx, ownerFor(w), d.want(w))
			return framework.Result{}, err
		}
		s.status = func(_ time.Time, w *widget.Widget, _ world, _ []framework.Done[action]) *widget.Widget { return w }
		return s
	}})
	d.run()
	d.create("red", "w")
	d.eventually(func() error {
		_, err := d.kube.AppsV1().Deployments(d.namespace).Get(t.Context(), "w", metav1.GetOptions{})
		return err
	})
	d.settled()
	return d
}

// workload is full of what a server spells in its own way.
func workload(w *widget.Widget) *appsapply.DeploymentApplyConfiguration {
	labels := map[string]string{"widget": w.Name}
	quantities := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1000m"), corev1.ResourceMemory: resource.MustParse("0.5Gi"),
	}
	return appsapply.Deployment(w.Name, w.Namespace).WithLabels(labels).
		WithSpec(appsapply.DeploymentSpec().WithReplicas(0).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).
				WithSpec(coreapply.PodSpec().WithContainers(coreapply.Container().
					WithName("app").WithImage("example.test/app:1").
					WithPorts(coreapply.ContainerPort().WithContainerPort(80)).
					WithEnv(coreapply.EnvVar().WithName("EMPTY").WithValue(""), coreapply.EnvVar().WithName("FULL").WithValue("x")).
					WithResources(coreapply.ResourceRequirements().WithRequests(quantities))))))
}

// wants changes what is wanted, and has it looked at.
func (d *deployer) wants(want func(*widget.Widget) *appsapply.DeploymentApplyConfiguration) {
	d.mu.Lock()
	d.want = want
	d.mu.Unlock()
	d.wake("w")
}

// before has something done once, before the next apply.
func (d *deployer) before(first func(context.Context) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.first = first
}

// edit changes the Deployment as somebody else.
func (d *deployer) edit(patch string) {
	d.t.Helper()
	_, err := d.kube.AppsV1().Deployments(d.namespace).Patch(d.t.Context(), "w", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		d.t.Fatalf("editing the Deployment: %v", err)
	}
}

func (d *deployer) deployment() *appsv1.Deployment {
	d.t.Helper()
	return must(d.kube.AppsV1().Deployments(d.namespace).Get(d.t.Context(), "w", metav1.GetOptions{}))
}

// settled waits until nobody, the Deployment's own controller included, has
// anything left to do.
func (d *deployer) settled() {
	d.t.Helper()
	d.eventually(func() error {
		live := d.deployment()
		cached, found := d.deploys.Get(d.namespace, "w")
		if !found || cached.ResourceVersion != live.ResourceVersion || live.Status.ObservedGeneration != live.Generation || !d.controller.Idle() {
			return fmt.Errorf("not settled: %+v", live.Status)
		}
		return nil
	})
}

// applies counts the applies that something leads to.
func (d *deployer) applies(want int, what string, do func()) {
	d.t.Helper()
	before := d.faults.Count(frameworktest.By("apply"))
	passes := d.passes.Load()
	do()
	d.eventually(func() error {
		if d.passes.Load() == passes || d.faults.Count(frameworktest.By("apply"))-before < want {
			return fmt.Errorf("%s: no pass has followed", what)
		}
		return nil
	})
	d.settled()
	if got := d.faults.Count(frameworktest.By("apply")) - before; got != want {
		d.t.Errorf("%s: want %d applies, got %d", what, want, got)
	}
}

func TestAChildIsAppliedOnlyOnDrift(t *testing.T) {
	t.Parallel()
	d := newDeployer(t)
	d.applies(0, "100 passes over a settled child", func() {
		for range 100 {
			passes := d.passes.Load()
			d.wake("w")
			d.eventually(func() error {
				if d.passes.Load() == passes {
					return fmt.Errorf("no pass")
				}
				return nil
			})
		}
	})
	d.applies(0, "additions of somebody else", func() {
		d.edit(`{"metadata":{"labels":{"their":"label"},"annotations":{"their":"annotation"}},
			"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"example.test/side:1"},{"name":"app","env":[{"name":"THEIRS","value":"y"}]}]}}}}`)
	})
	d.applies(1, "drift of an image", func() {
		d.edit(`{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"example.test/wrong:1"}]}}}}`)
	})
	d.applies(1, "a variable that is no longer wanted", func() {
		d.wants(func(w *widget.Widget) *appsapply.DeploymentApplyConfiguration {
			config := workload(w)
			container := &config.Spec.Template.Spec.Containers[0]
			container.Env = container.Env[:1]
			return config
		})
	})
	live := d.deployment()
	app := live.Spec.Template.Spec.Containers[slices.IndexFunc(live.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == "app" })]
	var env []string
	for _, e := range app.Env {
		env = append(env, e.Name)
	}
	slices.Sort(env)
	d.same("the environment", []string{"EMPTY", "THEIRS"}, env)
	if live.Labels["their"] != "label" || live.Annotations["their"] != "annotation" || len(live.Spec.Template.Spec.Containers) != 2 {
		t.Errorf("the additions of somebody else were lost: %+v", live)
	}
	if app.Image != "example.test/app:1" {
		t.Errorf("drift was not healed: the image is %s", app.Image)
	}
}

// theirs makes a ConfigMap of somebody else.
func (r *rig) theirs(name string) *corev1.ConfigMap {
	r.t.Helper()
	created, err := r.kube.CoreV1().ConfigMaps(r.namespace).Create(r.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"color": "theirs"},
	}, metav1.CreateOptions{})
	if err != nil {
		r.t.Fatalf("creating the ConfigMap of somebody else: %v", err)
	}
	return created
}

func TestAForeignNamesakeIsNeverWritten(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		selector string
		script   func(*rig, func()) *script
	}{
		"the cache shows it": {script: func(r *rig, create func()) *script {
			create()
			return standard(r)
		}},
		"the cache does not show it yet": {script: func(r *rig, create func()) *script {
			create = once(create)
			return standard(r).before(apply, func(*widget.Widget) { create() })
		}},
		"the cache never shows it": {selector: "widget", script: func(r *rig, create func()) *script {
			create()
			return standard(r)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var foreign *corev1.ConfigMap
			r := newRig(t, rigOptions{selector: test.selector, script: func(r *rig) *script {
				return test.script(r, func() { foreign = r.theirs("w") })
			}})
			r.faults.LagWatches(300 * time.Millisecond)
			r.run()
			r.create("red", "w")
			r.condition("w", framework.ConditionReady, metav1.ConditionFalse, "NameConflict")
			r.same("the foreign object", foreign, r.configMap("w"))
		})
	}
}

// TestAnotherIncarnationIsNeverHit has somebody replace the child between
// the look at the cache and the apply.
func TestAnotherIncarnationIsNeverHit(t *testing.T) {
	t.Parallel()
	var foreign *corev1.ConfigMap
	r := newRig(t, rigOptions{script: func(r *rig) *script {
		replace := once(func() {
			r.unseen(func() {
				if err := r.kube.CoreV1().ConfigMaps(r.namespace).Delete(r.t.Context(), "w", metav1.DeleteOptions{}); err != nil {
					r.t.Error(err)
				}
				foreign = r.theirs("w")
			})
		})
		return standard(r).before(apply, func(w *widget.Widget) {
			if w.Spec.Color == "blue" {
				replace()
			}
		})
	}})
	r.run()
	r.create("red", "w")
	r.ready("w")
	r.recolor("blue", "w")
	r.seenAfter(frameworktest.By("apply"), func(request frameworktest.Request) bool { return request.Code >= 400 })
	r.condition("w", framework.ConditionReady, metav1.ConditionFalse, "NameConflict")
	r.same("the foreign object", foreign, r.configMap("w"))
	// One with the child that took the place, and one more if the cache showed the gap between the two.
	if got := r.failures(framework.ClassConflict); got < 1 || got > 2 {
		t.Errorf("want a conflict or two, got %v", got)
	}
}

// TestAChildThatLostItsLabelIsTakenBack has somebody take a child out of what
// the cache selects.
func TestAChildThatLostItsLabelIsTakenBack(t *testing.T) {
	t.Parallel()
	r := start(t, rigOptions{selector: "widget"})
	r.create("red", "w")
	r.ready("w")
	before := r.configMap("w")
	must(r.kube.CoreV1().ConfigMaps(r.namespace).Patch(t.Context(), "w", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"widget":null}}}`), metav1.PatchOptions{}))
	r.eventually(func() error {
		if got := r.configMap("w"); got.Labels["widget"] != "w" || got.UID != before.UID {
			return fmt.Errorf("want the label back on %s, got %v on %s", before.UID, got.Labels, got.UID)
		}
		return nil
	})
	r.idle()
	r.ready("w")
}
