package servicedefinition

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

const (
	oldImage = "registry.k8s.io/pause:3.10"
	newImage = "registry.k8s.io/pause:3.11"
)

// TestPods plays scenes on a control plane with one node, whose kubelet is the
// test: pods become what it says.
func TestPods(t *testing.T) {
	t.Parallel()
	server := cluster.Start(t, cluster.Options{CRDDirs: []string{cluster.ProjectCRDs(t)}})
	config := server.Config()
	startNode(t, config)
	for name, play := range map[string]func(*testing.T, *world){
		"an image that never starts":      neverStarts,
		"a new image that crashes":        crashes,
		"replicas of the last image left": surges,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, worldOf(t, config, cluster.Namespace(t, config)))
		})
	}
}

// startNode makes a node and keeps it alive.
func startNode(t *testing.T, config *rest.Config) {
	t.Helper()
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("99"),
	}
	if _, err := kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "only"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	status := corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
	}}}
	// Controllers write to a new node, too: an update might conflict.
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kube.CoreV1().Nodes().PatchStatus(t.Context(), "only", body); err != nil {
		t.Fatal(err)
	}
	leases := kube.CoordinationV1().Leases("kube-node-lease")
	lease, err := leases.Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "only"},
		Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NowMicro()), LeaseDurationSeconds: new(int32(40))},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		beat := time.NewTicker(10 * time.Second)
		defer beat.Stop()
		for {
			select {
			case <-t.Context().Done():
				return
			case <-beat.C:
				lease.Spec.RenewTime = new(metav1.NowMicro())
				if renewed, err := leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err == nil {
					lease = renewed
				}
			}
		}
	}()
}

// pods waits for so many scheduled pods of an image, and returns them.
func (w *world) pods(image string, count int) []corev1.Pod {
	w.t.Helper()
	var found []corev1.Pod
	cluster.Eventually(w.t, settle, func() error {
		list, err := w.kube.CoreV1().Pods(w.ns).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		found = nil
		for _, pod := range list.Items {
			if pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil && pod.Spec.Containers[0].Image == image {
				found = append(found, pod)
			}
		}
		if len(found) != count {
			return fmt.Errorf("%d pods of %s are scheduled, want %d", len(found), image, count)
		}
		return nil
	})
	return found
}

// says is kubelet: it tells how the container of a pod is.
func (w *world) says(pod string, container corev1.ContainerStatus) {
	w.t.Helper()
	container.Name, container.Image, container.ImageID = "app", "x", "x"
	ready := corev1.ConditionFalse
	if container.Ready {
		ready = corev1.ConditionTrue
	}
	body, err := json.Marshal(map[string]any{"status": map[string]any{
		"phase": corev1.PodRunning, "containerStatuses": []any{container},
		"conditions": []any{map[string]any{"type": corev1.PodReady, "status": ready, "lastTransitionTime": metav1.Now()}},
	}})
	if err == nil {
		_, err = w.kube.CoreV1().Pods(w.ns).Patch(w.t.Context(), pod, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// quietly fails unless nothing is written while pods say one thing after
// another.
func (p *process) quietly(t *testing.T, says ...func()) {
	t.Helper()
	p.settle()
	before := len(p.writes())
	for _, say := range says {
		say()
		p.settle()
	}
	if got := p.writes()[before:]; len(got) > 0 {
		t.Errorf("want nothing written while that goes on, got %v", got)
	}
}

func neverStarts(t *testing.T, w *world) {
	// No pod but our own is cached, or the controller would never settle.
	w.stray()
	p := w.startStill()
	w.create(sample("web"))
	pods := w.pods(oldImage, 2)
	svc := w.eventuallySays("web", polychromev1alpha1.ReasonRolloutInProgress, "2 of 2 replicas updated, 0 available")
	if svc.Status.Phase != polychromev1alpha1.ServiceDefinitionPending || *svc.Status.Message != readyOf(svc).Message || svc.Status.Ready {
		t.Errorf("want a full status, got %+v", svc.Status)
	}
	const cause = "rpc error: no such image"
	w.says(pods[0].Name, corev1.ContainerStatus{State: waiting("ErrImagePull", cause)})
	svc = w.eventuallySays("web", polychromev1alpha1.ReasonImagePullBackOff, pods[0].Name, "ErrImagePull: "+cause)
	if stalled(svc) || *svc.Status.Message != readyOf(svc).Message {
		t.Errorf("want it said in the status too, and not stalled, got %+v", svc.Status)
	}
	fails := func() { w.says(pods[0].Name, corev1.ContainerStatus{State: waiting("ErrImagePull", cause)}) }
	waits := func() {
		w.says(pods[0].Name, corev1.ContainerStatus{State: waiting("ImagePullBackOff", `Back-off pulling image "x": ErrImagePull: `+cause)})
	}
	p.quietly(t, waits, fails, waits)
	for _, pod := range pods {
		w.says(pod.Name, corev1.ContainerStatus{Ready: true, State: running()})
	}
	w.eventuallyReady("web")
}

func crashes(t *testing.T, w *world) {
	p := w.startStill()
	w.create(sample("web"))
	for _, pod := range w.pods(oldImage, 2) {
		w.says(pod.Name, corev1.ContainerStatus{Ready: true, State: running()})
	}
	w.eventuallyReady("web")
	w.edit("web", `{"spec":{"image":"`+newImage+`"}}`)
	fresh := w.pods(newImage, 1)[0].Name
	// An old pod that is in trouble, too, is on its way out.
	w.says(w.pods(oldImage, 2)[0].Name, corev1.ContainerStatus{RestartCount: 9, State: waiting("ErrImagePull", "gone")})
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}}
	turns := func(state corev1.ContainerState) func() {
		return func() {
			w.says(fresh, corev1.ContainerStatus{RestartCount: 4, State: state, LastTerminationState: ended})
		}
	}
	turns(waiting("CrashLoopBackOff", "back-off 40s"))()
	w.eventuallySays("web", polychromev1alpha1.ReasonCrashLoopBackOff, fresh, "exit code 3")
	p.quietly(t, turns(running()), turns(ended), turns(waiting("CrashLoopBackOff", "back-off 1m20s")), turns(running()))
}

func surges(t *testing.T, w *world) {
	w.start()
	w.create(sample("web"))
	for _, pod := range w.pods(oldImage, 2) {
		w.says(pod.Name, corev1.ContainerStatus{Ready: true, State: running()})
	}
	w.eventuallyReady("web")
	w.edit("web", `{"spec":{"image":"`+newImage+`"}}`)
	first := w.pods(newImage, 1)[0].Name
	w.says(first, corev1.ContainerStatus{Ready: true, State: running()})
	// Two are updated and two available, but one of these is of the old image.
	w.eventuallySays("web", polychromev1alpha1.ReasonRolloutInProgress, "2 of 2 replicas updated, 2 available, 1 of the last template left")
	for _, pod := range w.pods(newImage, 2) {
		if pod.Name != first {
			w.says(pod.Name, corev1.ContainerStatus{Ready: true, State: running()})
		}
	}
	w.eventuallyReady("web")
	w.pods(oldImage, 0)
}
