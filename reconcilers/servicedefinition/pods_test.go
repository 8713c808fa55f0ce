package servicedefinition

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestWhatKubeletSaysIsPassedOn(t *testing.T) {
	pull := polychromev1alpha1.ReasonImagePullBackOff
	config := polychromev1alpha1.ReasonCreateContainerConfigError
	crash := polychromev1alpha1.ReasonCrashLoopBackOff
	tests := map[string]struct {
		container func(*corev1.ContainerStatus)
		reason    polychromev1alpha1.Reason
		words     string
	}{
		"a failing pull":            {waiting("ErrImagePull", "rpc error"), pull, "ErrImagePull: rpc error"},
		"a pull that is waited for": {waiting("ImagePullBackOff", `Back-off pulling image "x:1": ErrImagePull: rpc error`), pull, "ErrImagePull: rpc error"},
		"one that an older kubelet waits for": {
			waiting("ImagePullBackOff", `Back-off pulling image "x:1"`), pull, `ImagePullBackOff: Back-off pulling image "x:1"`},
		"an image's name":                 {waiting("InvalidImageName", "X"), pull, "InvalidImageName: X"},
		"an image that must be there":     {waiting("ErrImageNeverPull", "absent"), pull, "ErrImageNeverPull: absent"},
		"a registry":                      {waiting("RegistryUnavailable", ""), pull, "RegistryUnavailable"},
		"a configuration":                 {waiting("CreateContainerConfigError", "no user"), config, "CreateContainerConfigError: no user"},
		"a container":                     {waiting("CreateContainerError", "no"), config, "CreateContainerError: no"},
		"a start":                         {waiting("RunContainerError", "no such file"), config, "RunContainerError: no such file"},
		"a crash loop, which counts time": {both(restarted(1, 3), waiting("CrashLoopBackOff", "back-off 10s")), crash, "CrashLoopBackOff: it ended with exit code 3 (Error)"},
		"a crash loop of unknown cause":   {waiting("CrashLoopBackOff", "back-off 10s"), crash, "CrashLoopBackOff: back-off 10s"},
		"a signal": {func(c *corev1.ContainerStatus) {
			c.RestartCount = 2
			c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Signal: 9, Message: " gone\n"}
		}, crash, "CrashLoopBackOff: it ended by signal 9: gone"},
		"nothing while a container is made": {waiting("ContainerCreating", ""), "", ""},
		"nothing of one that boots":         {both(restarted(1, 3), running), "", ""},
		"nothing of one that is ready":      {both(restarted(9, 3), running, func(c *corev1.ContainerStatus) { c.Ready = true }), "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, troubled := podTrouble(pod("web-1", app(tt.container)))
			want := trouble{}
			if tt.reason != "" {
				want = trouble{tt.reason, "pod web-1, container app: " + tt.words}
			}
			if troubled != (tt.reason != "") || got != want {
				t.Errorf("want %v, got %v", want, got)
			}
		})
	}
}

func running(c *corev1.ContainerStatus) {
	c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func ended(exit int32) func(*corev1.ContainerStatus) {
	return func(c *corev1.ContainerStatus) {
		c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Reason: "Error"}}
	}
}

// TestACrashLoopReadsTheSameAtEachOfItsTurns fails if the status would change
// with each turn of the loop.
func TestACrashLoopReadsTheSameAtEachOfItsTurns(t *testing.T) {
	turns := map[string]func(*corev1.ContainerStatus){
		"waiting":        both(restarted(2, 3), waiting("CrashLoopBackOff", "back-off 20s")),
		"waiting longer": both(restarted(5, 3), waiting("CrashLoopBackOff", "back-off 5m0s")),
		"about to start": both(restarted(3, 3), waiting("ContainerCreating", "")),
		"not startable":  both(restarted(3, 3), waiting("RunContainerError", "no such file")),
		"running":        both(restarted(3, 3), running),
		"ended":          both(restarted(3, 3), ended(3)),
	}
	want := trouble{polychromev1alpha1.ReasonCrashLoopBackOff, "pod web-1, container app: CrashLoopBackOff: it ended with exit code 3 (Error)"}
	for name, turn := range turns {
		if got, _ := podTrouble(pod("web-1", app(turn))); got != want {
			t.Errorf("%s: want %v, got %v", name, want, got)
		}
	}
	latest, _ := podTrouble(pod("web-1", app(both(restarted(3, 3), ended(7)))))
	if want := "pod web-1, container app: CrashLoopBackOff: it ended with exit code 7 (Error)"; latest.message != want {
		t.Errorf("want the latest end, %q, got %q", want, latest.message)
	}
	broken, _ := podTrouble(pod("web-1", app(both(restarted(3, 3), waiting("ErrImagePull", "gone")))))
	if broken.reason != polychromev1alpha1.ReasonImagePullBackOff {
		t.Errorf("want a new image's trouble before the former crashes, got %v", broken)
	}
}

func TestAPodThatNoNodeTakesIsUnschedulable(t *testing.T) {
	scheduled := func(status corev1.ConditionStatus, reason string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = nil
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: status, Reason: reason, Message: "0/3 nodes"}}
		}
	}
	got, _ := podTrouble(pod("web-1", scheduled(corev1.ConditionFalse, "Unschedulable")))
	if want := (trouble{polychromev1alpha1.ReasonUnschedulable, "pod web-1: Unschedulable: 0/3 nodes"}); got != want {
		t.Errorf("want %v, got %v", want, got)
	}
	for _, fine := range []func(*corev1.Pod){scheduled(corev1.ConditionTrue, "Unschedulable"), scheduled(corev1.ConditionFalse, "SchedulingGated")} {
		if got, troubled := podTrouble(pod("web-1", fine)); troubled {
			t.Errorf("want no trouble, got %v", got)
		}
	}
}

func TestAnInjectedInitContainerCounts(t *testing.T) {
	mesh := pod("web-1", func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "done", Ready: true}, {Name: "mesh"}}
		waiting("ErrImagePull", "no")(&p.Status.InitContainerStatuses[1])
		waiting("PodInitializing", "")(&p.Status.ContainerStatuses[0])
		p.Status.ContainerStatuses[0].Ready = false
	})
	got, _ := podTrouble(mesh)
	if want := (trouble{polychromev1alpha1.ReasonImagePullBackOff, "pod web-1, container mesh: ErrImagePull: no"}); got != want {
		t.Errorf("want %v, got %v", want, got)
	}
}

func TestTheFirstTroubleOfTheWantedTemplateIsSaid(t *testing.T) {
	crashes := app(both(restarted(4, 1), waiting("CrashLoopBackOff", "")))
	pulls := app(waiting("ErrImagePull", "no"))
	ofImage := func(image string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].Image = image }
	}
	ofLevel := func(level string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].Env[0].Value = level }
	}
	injected := func(p *corev1.Pod) {
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: "MESH", Value: "on"})
		p.Spec.Containers = append([]corev1.Container{{Name: "mesh"}}, p.Spec.Containers...)
	}
	tests := map[string]struct {
		pods []*corev1.Pod
		want string
	}{
		"the first in order":                             {[]*corev1.Pod{pod("a"), pod("b", pulls), pod("c", crashes)}, "pod b, container app: ErrImagePull: no"},
		"none of an old image while a new one starts":    {[]*corev1.Pod{pod("a", ofImage("example.com/web:1"), crashes), pod("b")}, ""},
		"the new image's before the old one's":           {[]*corev1.Pod{pod("a", ofImage("example.com/web:1"), crashes), pod("b", pulls)}, "pod b, container app: ErrImagePull: no"},
		"none of old variables":                          {[]*corev1.Pod{pod("a", ofLevel("debug"), crashes), pod("b")}, ""},
		"what others add makes no other template":        {[]*corev1.Pod{pod("a", ofLevel("debug"), crashes), pod("b", pulls, injected)}, "pod b, container app: ErrImagePull: no"},
		"all, where something rewrites what is admitted": {[]*corev1.Pod{pod("a", ofImage("mirror/web:2"), pulls)}, "pod a, container app: ErrImagePull: no"},
		"nothing without pods":                           {nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tt.pods)
			if got, _ := troubleOf(service(), tt.pods); got.message != tt.want {
				t.Errorf("want %q, got %q", tt.want, got.message)
			}
			if diff := cmp.Diff(before, tt.pods); diff != "" {
				t.Errorf("the pods were changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsOfOthersDoNotCount(t *testing.T) {
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"our own":                         {func(*corev1.Pod) {}, true},
		"of another namespace":            {func(p *corev1.Pod) { p.Namespace = "other" }, false},
		"of another service":              {func(p *corev1.Pod) { p.Labels["polychrome.dev/service-definition"] = "api" }, false},
		"made by hand":                    {func(p *corev1.Pod) { p.OwnerReferences = nil }, false},
		"of a Job":                        {func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Job" }, false},
		"of a ReplicaSet of another name": {func(p *corev1.Pod) { p.OwnerReferences[0].Name = "web-api-abc" }, false},
		"going":                           {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} }, false},
		"evicted":                         {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, false},
		"ended":                           {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := madeFor(service(), pod("web-1", tt.change)); got != tt.want {
				t.Errorf("want %t, got %t", tt.want, got)
			}
		})
	}
}
