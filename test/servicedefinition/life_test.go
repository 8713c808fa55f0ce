package servicedefinition

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

func TestAServiceBootsAndItsChildrenGoWithIt(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	w.create(sample("web"))
	svc := w.eventuallyReady("web")
	if svc.Status.AvailableReplicas != 2 {
		t.Errorf("want 2 available replicas, got %d", svc.Status.AvailableReplicas)
	}
	if err := w.client.PolychromeV1alpha1().ServiceDefinitions(w.ns).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// A child may be seen to go before its definition is, and be made once
	// more; it is collected, too.
	for range 2 {
		w.eventuallyGone("the Deployment", func(ctx context.Context) error {
			_, err := w.kube.AppsV1().Deployments(w.ns).Get(ctx, "web", metav1.GetOptions{})
			return err
		})
		w.eventuallyGone("the Service", func(ctx context.Context) error {
			_, err := w.kube.CoreV1().Services(w.ns).Get(ctx, "web", metav1.GetOptions{})
			return err
		})
		w.eventuallyIdle(p)
	}
}

// TestAnEditEndsReadyAtOnce watches every version of the status: none that is
// of the new generation says ready before the new image serves.
func TestAnEditEndsReadyAtOnce(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(sample("web"))
	ready := w.eventuallyReady("web")
	watcher, err := w.client.PolychromeV1alpha1().ServiceDefinitions(w.ns).Watch(t.Context(),
		metav1.ListOptions{ResourceVersion: ready.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	edited := w.edit("web", `{"spec":{"image":"registry.k8s.io/pause:3.11"}}`)
	dropped := false
	for {
		svc := next(t, watcher)
		if svc.Status.ObservedGeneration < edited.Generation {
			continue
		}
		if !dropped {
			dropped = true
			if svc.Status.Ready || readyOf(svc).Status != metav1.ConditionFalse {
				t.Fatalf("want the first word on the edit not to be ready, got %+v", svc.Status)
			}
		}
		if svc.Status.Ready {
			break
		}
	}
	d := w.deployment("web")
	if got := d.Spec.Template.Spec.Containers[0].Image; got != "registry.k8s.io/pause:3.11" ||
		d.Status.UpdatedReplicas != 2 || d.Status.Replicas != 2 {
		t.Errorf("ready before the new image serves: %s, %+v", got, d.Status)
	}
}

func next(t *testing.T, watcher watch.Interface) *polychromev1alpha1.ServiceDefinition {
	t.Helper()
	select {
	case event := <-watcher.ResultChan():
		svc, ok := event.Object.(*polychromev1alpha1.ServiceDefinition)
		if !ok {
			t.Fatalf("the watch ended: %v", event.Object)
		}
		return svc
	case <-time.After(settle):
		t.Fatal("nothing more is said")
	}
	return nil
}

func TestAPortMovesEverythingThatIsAboutIt(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(sample("web"))
	w.eventuallyReady("web")
	w.edit("web", `{"spec":{"port":9090}}`)
	w.eventuallyReady("web")
	c := w.deployment("web").Spec.Template.Spec.Containers[0]
	if len(c.Ports) != 1 || c.Ports[0].ContainerPort != 9090 || c.Ports[0].Name != "http" {
		t.Errorf("want the one port 9090, got %v", c.Ports)
	}
	want := []corev1.EnvVar{{Name: "LEVEL", Value: "info"}, {Name: "ZONE", Value: "a"}, {Name: "PORT", Value: "9090"}}
	if diff := cmp.Diff(want, c.Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	w.eventuallyServes("web", 9090, 2)
}

// TestOnlyItsOwnPodsGetTraffic has somebody's pod bear the name label.
func TestOnlyItsOwnPodsGetTraffic(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.stray()
	cluster.Eventually(t, settle, func() error {
		pod, err := w.kube.CoreV1().Pods(w.ns).Get(t.Context(), "stray", metav1.GetOptions{})
		if err == nil && pod.Status.PodIP == "" {
			err = fmt.Errorf("the stray pod does not run")
		}
		return err
	})
	w.create(sample("web"))
	w.eventuallyReady("web")
	w.eventuallyServes("web", 8080, 2)
}

// stray makes a pod of somebody else that bears the name label.
func (w *world) stray() {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "stray", Labels: map[string]string{"app.kubernetes.io/name": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app", Image: "registry.k8s.io/pause:3.9", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		}}},
	}
	if _, err := w.kube.CoreV1().Pods(w.ns).Create(w.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// eventuallyServes waits until the Service sends its traffic to so many pods,
// all of them the definition's own, on a port.
func (w *world) eventuallyServes(name string, port int32, count int) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		slices, err := w.kube.DiscoveryV1().EndpointSlices(w.ns).List(w.t.Context(),
			metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + name})
		if err != nil {
			return err
		}
		serving := 0
		for _, slice := range slices.Items {
			if len(slice.Endpoints) > 0 && (len(slice.Ports) != 1 || *slice.Ports[0].Port != port) {
				return fmt.Errorf("traffic goes to %v", slice.Ports)
			}
			for _, endpoint := range slice.Endpoints {
				pod, err := w.kube.CoreV1().Pods(w.ns).Get(w.t.Context(), endpoint.TargetRef.Name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				if pod.Labels[polychromev1alpha1.ServiceDefinitionLabel] != name {
					w.t.Fatalf("somebody else's pod %s gets traffic", pod.Name)
				}
				serving++
			}
		}
		if serving != count {
			return fmt.Errorf("%d pods get traffic, want %d", serving, count)
		}
		return nil
	})
}

// TestWhatOthersAddSurvives has others restart the rollout and add a sidecar, a
// label and a deadline.
func TestWhatOthersAddSurvives(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	w.create(sample("web"))
	w.eventuallyReady("web")
	w.patchDeployment("web", `{"metadata":{"labels":{"team":"x"}},"spec":{"progressDeadlineSeconds":77,"template":{"metadata":{
		"annotations":{"kubectl.kubernetes.io/restartedAt":"2030-01-01T00:00:00Z"},"labels":{"mesh":"on"}},
		"spec":{"containers":[{"name":"mesh","image":"registry.k8s.io/pause:3.9"}]}}}}`)
	w.edit("web", `{"spec":{"env":{"LEVEL":"debug"}}}`)
	w.eventuallyReady("web")
	w.eventuallyIdle(p)
	d := w.deployment("web")
	template := d.Spec.Template
	var containers []string
	for _, c := range template.Spec.Containers {
		containers = append(containers, c.Name)
	}
	if diff := cmp.Diff([]string{"mesh", "app"}, containers); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
	if d.Labels["team"] != "x" || *d.Spec.ProgressDeadlineSeconds != 77 || template.Labels["mesh"] != "on" ||
		template.Annotations["kubectl.kubernetes.io/restartedAt"] == "" {
		t.Errorf("what others added is gone: %v, %v", d.Labels, template.ObjectMeta)
	}
}

func TestZeroReplicasStopTheWorkload(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.create(sample("web"))
	w.eventuallyReady("web")
	w.edit("web", `{"spec":{"replicas":0}}`)
	svc := w.eventuallySays("web", polychromev1alpha1.ReasonStopped)
	if svc.Status.Ready || svc.Status.Phase != polychromev1alpha1.ServiceDefinitionStopped || stalled(svc) {
		t.Errorf("want it stopped and not stalled, got %+v", svc.Status)
	}
	w.edit("web", `{"spec":{"replicas":1}}`)
	w.eventuallyReady("web")
}

// TestAnAutoscalerKeepsItsReplicas hands the number over, lets somebody else
// move it, and takes it back.
func TestAnAutoscalerKeepsItsReplicas(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	svc := sample("web")
	svc.Spec.Replicas = new(int32(3))
	w.create(svc)
	w.eventuallyReady("web")
	count := func(when string, want int32) {
		t.Helper()
		w.eventuallyReady("web")
		w.eventuallyIdle(p)
		if d := w.deployment("web"); *d.Spec.Replicas != want {
			t.Errorf("%s: want %d replicas, got %d", when, want, *d.Spec.Replicas)
		}
	}
	w.edit("web", `{"spec":{"autoscaled":true}}`)
	count("handed over", 3)
	if got := w.deployment("web").Status.Replicas; got != 3 {
		t.Errorf("want no pod lost on the way, got %d", got)
	}
	w.scale("web", 4)
	w.eventually("web", "ready with 4", func(svc *polychromev1alpha1.ServiceDefinition) bool {
		return isReady(svc) && svc.Status.AvailableReplicas == 4
	})
	w.edit("web", `{"spec":{"image":"registry.k8s.io/pause:3.11","replicas":1}}`)
	count("edited meanwhile", 4)
	w.scale("web", 0)
	w.eventuallySays("web", polychromev1alpha1.ReasonStopped)
	w.edit("web", `{"spec":{"autoscaled":false}}`)
	count("taken back", 1)
}

// scale is an autoscaler.
func (w *world) scale(name string, replicas int32) {
	w.t.Helper()
	_, err := w.kube.AppsV1().Deployments(w.ns).Patch(w.t.Context(), name, types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{FieldManager: "autoscaler"}, "scale")
	if err != nil {
		w.t.Fatalf("scaling %s: %v", name, err)
	}
}
