package servicedefinition

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
)

// seen is the part of a status that a case is about.
type seen struct {
	Phase     polychromev1alpha1.ServiceDefinitionPhase
	Reason    string
	Message   string
	Available int32
	Stalled   bool
}

var errTest = errors.New("connection reset by peer, port 49152")

func done(kind ActionKind) framework.Done[Action] {
	return framework.Done[Action]{Action: Action{Kind: kind}}
}

func failed(kind ActionKind, err error) framework.Done[Action] {
	return framework.Done[Action]{Action: Action{Kind: kind}, Err: err}
}

func applied(d *appsv1.Deployment) framework.Done[Action] {
	return framework.Done[Action]{Action: Action{Kind: ApplyDeployment}, Result: framework.Result{Learned: d}}
}

type statusCase struct {
	service *polychromev1alpha1.ServiceDefinition
	world   World
	done    []framework.Done[Action]
	want    seen
}

func TestStatusOfARollout(t *testing.T) {
	present := "the present spec is rolled out; available replicas: 2"
	unbegun := "the Deployment has not begun with the present spec yet"
	runStatusCases(t, map[string]statusCase{
		"a Deployment that is rolled out is ready": {
			service(), settled(), nil, seen{"Ready", "RolloutComplete", present, 2, false},
		},
		"without a Service it is not": {
			service(), settled(withoutService), nil, seen{"Pending", "RolloutInProgress", "the Service is not there yet", 2, false},
		},
		"a Service that was just made is there": {
			service(), settled(withoutService), []framework.Done[Action]{done(ApplyService)}, seen{"Ready", "RolloutComplete", present, 2, false},
		},
		"without a Deployment nothing is ready": {
			service(), settled(withoutDeployment), nil, seen{"Pending", "RolloutInProgress", "the Deployment is not there yet", 0, false},
		},
		"a Deployment whose controller has not seen its spec says nothing": {
			service(), settled(deployed(unseen)), nil, seen{"Pending", "RolloutInProgress", unbegun, 2, false},
		},
		"the Deployment as just applied counts, not the older one of the world": {
			service(), settled(), []framework.Done[Action]{applied(deployment(unseen))}, seen{"Pending", "RolloutInProgress", unbegun, 2, false},
		},
		"an apply that did not change the pods leaves it ready": {
			service(), settled(deployed(starting)), []framework.Done[Action]{applied(deployment())}, seen{"Ready", "RolloutComplete", present, 2, false},
		},
		"replicas that are not updated are waited for": {
			service(), settled(deployed(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas, d.Status.Replicas = 1, 1 })), nil,
			seen{"Pending", "RolloutInProgress", "1 of 2 replicas updated, 2 available", 2, false},
		},
		"replicas that are not available are waited for": {
			service(), settled(deployed(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 })), nil,
			seen{"Pending", "RolloutInProgress", "2 of 2 replicas updated, 1 available", 1, false},
		},
		"surge replicas of the last template are waited for": {
			service(), settled(deployed(func(d *appsv1.Deployment) { d.Status.Replicas = 3 })), nil,
			seen{"Pending", "RolloutInProgress", "2 of 2 replicas updated, 2 available, 1 of the last template left", 2, false},
		},
		"a paused rollout says so": {
			service(), settled(deployed(starting, func(d *appsv1.Deployment) { d.Spec.Paused = true })), nil,
			seen{"Pending", "RolloutInProgress", "1 of 2 replicas updated, 1 available, 1 of the last template left; the Deployment is paused", 1, false},
		},
		"zero replicas are never ready": {
			service(replicas(0)), settled(deployed(func(d *appsv1.Deployment) { d.Status = appsv1.DeploymentStatus{ObservedGeneration: 3} })), nil,
			seen{"Stopped", "Stopped", "zero replicas are asked for", 0, false},
		},
		"zero replicas of an autoscaler are never ready either": {
			service(autoscaled), settled(deployed(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) })), nil,
			seen{"Stopped", "Stopped", "zero replicas are asked for", 2, false},
		},
		"an autoscaled service is judged by what stands there": {
			service(autoscaled, replicas(7)), settled(), nil, seen{"Ready", "RolloutComplete", present, 2, false},
		},
		"replicas that nobody named are one": {
			service(func(svc *polychromev1alpha1.ServiceDefinition) { svc.Spec.Replicas = nil }), settled(), nil,
			seen{"Ready", "RolloutComplete", "the present spec is rolled out; available replicas: 2", 2, false},
		},
	})
}

func TestStatusOfTrouble(t *testing.T) {
	pull := pod("web-1", app(waiting("ErrImagePull", "no such image")))
	timedOut := `ReplicaSet "web-1" has timed out progressing.`
	runStatusCases(t, map[string]statusCase{
		"what the pods say is passed on": {
			service(), settled(deployed(starting), pods(pull)), nil,
			seen{"Pending", "ImagePullBackOff", "pod web-1, container app: ErrImagePull: no such image", 1, false},
		},
		"it does not count once the rollout is complete": {
			service(), settled(pods(pull)), nil,
			seen{"Ready", "RolloutComplete", "the present spec is rolled out; available replicas: 2", 2, false},
		},
		"nor while the Deployment's own controller is behind": {
			service(), settled(deployed(unseen), pods(pull)), nil,
			seen{"Pending", "RolloutInProgress", "the Deployment has not begun with the present spec yet", 2, false},
		},
		"a refusal of pods is passed on": {
			service(), settled(deployed(starting, refused)), nil, seen{"Pending", "ReplicaFailure", "exceeded quota: pods", 1, false},
		},
		"it counts for more than what other pods say": {
			service(), settled(deployed(starting, refused), pods(pull)), nil, seen{"Pending", "ReplicaFailure", "exceeded quota: pods", 1, false},
		},
		"so is one of the ReplicaSet, with which no spec counts as seen": {
			service(), settled(deployed(unseen, says(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ReplicaSetCreateError", "exceeded quota: sets"))), nil,
			seen{"Pending", "ReplicaFailure", "exceeded quota: sets", 2, false},
		},
		"it is over when the spec is seen": {
			service(), settled(deployed(says(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ReplicaSetCreateError", "exceeded quota: sets"))), nil,
			seen{"Ready", "RolloutComplete", "the present spec is rolled out; available replicas: 2", 2, false},
		},
		"a deadline that was exceeded stalls": {
			service(), settled(deployed(starting, late)), nil, seen{"Pending", "ProgressDeadlineExceeded", timedOut, 1, true},
		},
		"it is said with what the pods say": {
			service(), settled(deployed(starting, late), pods(pull)), nil,
			seen{"Pending", "ProgressDeadlineExceeded", timedOut + " pod web-1, container app: ErrImagePull: no such image", 1, true},
		},
		"and with what keeps pods from being made": {
			service(), settled(deployed(starting, late, refused)), nil,
			seen{"Pending", "ProgressDeadlineExceeded", timedOut + " exceeded quota: pods", 1, true},
		},
		"it is over when the rollout is complete": {
			service(), settled(deployed(late, refused)), nil,
			seen{"Ready", "RolloutComplete", "the present spec is rolled out; available replicas: 2", 2, false},
		},
		"a rollout that goes on says nothing of a deadline": {
			service(), settled(deployed(starting,
				says(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", "progresses"),
				says(appsv1.DeploymentReplicaFailure, corev1.ConditionFalse, "", ""))), nil,
			seen{"Pending", "RolloutInProgress", "1 of 2 replicas updated, 1 available, 1 of the last template left", 1, false},
		},
		"nor does one that has found its way again": {
			service(), settled(deployed(starting, says(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ProgressDeadlineExceeded", "late"))), nil,
			seen{"Pending", "RolloutInProgress", "1 of 2 replicas updated, 1 available, 1 of the last template left", 1, false},
		},
		"nor does one that failed otherwise": {
			service(), settled(deployed(starting, says(appsv1.DeploymentProgressing, corev1.ConditionFalse, "Elsewise", "no"))), nil,
			seen{"Pending", "RolloutInProgress", "1 of 2 replicas updated, 1 available, 1 of the last template left", 1, false},
		},
		"an invalid name comes first": {
			service(named("9web"), image("x y")), settled(foreignDeployment), nil,
			seen{"Invalid", "InvalidName", "the name cannot be that of a Service: make the service anew under another name; ", 0, true},
		},
		"an invalid image stalls": {
			service(image("x y")), settled(withoutDeployment, withoutService), nil,
			seen{"Invalid", "InvalidImage", `spec.image is no image reference: "x y"; write [registry/]name[:tag][@digest]`, 0, true},
		},
		"somebody else's Deployment is named, and its pods do not count": {
			service(), settled(foreignDeployment), nil,
			seen{"Pending", "NameConflict", "the Deployment web exists and is not this service's own; remove it, or name the service otherwise", 0, true},
		},
		"somebody else's Service is named": {
			service(), settled(foreignService), nil,
			seen{"Pending", "NameConflict", "the Service web exists and is not this service's own; remove it, or name the service otherwise", 2, true},
		},
		"a Deployment that is going is waited for": {
			service(), settled(goingDeployment), nil,
			seen{"Pending", "ChildTerminating", "the Deployment web is being deleted; it is made anew when it is gone", 2, false},
		},
		"a Service that is going is waited for": {
			service(), settled(goingService), nil,
			seen{"Pending", "ChildTerminating", "the Service web is being deleted; it is made anew when it is gone", 2, false},
		},
	})
}

func TestStatusAfterAFailure(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "web", errors.New("no right"))
	runStatusCases(t, map[string]statusCase{
		"a failed apply is never ready, whatever the world was": {
			service(), settled(), []framework.Done[Action]{failed(ApplyDeployment, errTest)},
			seen{"Pending", "RolloutInProgress", "ApplyDeployment has not succeeded; it is tried again", 2, false},
		},
		"nor is one of the Service": {
			service(), settled(), []framework.Done[Action]{applied(deployment()), failed(ApplyService, errTest)},
			seen{"Pending", "RolloutInProgress", "ApplyService has not succeeded; it is tried again", 2, false},
		},
		"nor a failed hand-over": {
			service(autoscaled), settled(), []framework.Done[Action]{failed(HandOverReplicas, errTest)},
			seen{"Pending", "RolloutInProgress", "HandOverReplicas has not succeeded; it is tried again", 2, false},
		},
		"a refusal is the server's own word": {
			service(), settled(), []framework.Done[Action]{failed(ApplyService, forbidden)},
			seen{"Pending", "APIRefused", forbidden.Error(), 2, false},
		},
	})
}

func TestANameFoundTakenWhileActingStalls(t *testing.T) {
	got := judge(service(), settled(withoutDeployment), outcome{failed: ApplyDeployment, err: errTest, taken: true})
	if got.reason != polychromev1alpha1.ReasonNameConflict || !got.stalled || got.message != errTest.Error() {
		t.Errorf("want NameConflict, stalled, with the error's text, got %+v", got)
	}
}

func runStatusCases(t *testing.T, cases map[string]statusCase) {
	t.Helper()
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			before := tt.service.DeepCopy()
			got := (&Reconciler{}).Status(now, tt.service, tt.world, tt.done).Status
			ready := meta.FindStatusCondition(got.Conditions, "Ready")
			stalled := meta.FindStatusCondition(got.Conditions, "Stalled")
			shown := seen{got.Phase, ready.Reason, ready.Message, got.AvailableReplicas, stalled != nil}
			if tt.want.Reason == "InvalidName" {
				shown.Message = shown.Message[:len(tt.want.Message)]
			}
			if diff := cmp.Diff(tt.want, shown); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			checkReady(t, got, *ready)
			if stalled != nil && (stalled.Status != "True" || stalled.Reason != ready.Reason || stalled.Message != ready.Message) {
				t.Errorf("want Stalled to say what Ready says, got %+v", stalled)
			}
			if got.ObservedGeneration != 5 || ready.ObservedGeneration != 5 {
				t.Errorf("want generation 5 observed, got %d and %d", got.ObservedGeneration, ready.ObservedGeneration)
			}
			if diff := cmp.Diff(before, tt.service); diff != "" {
				t.Errorf("the cached object was changed (-want +got):\n%s", diff)
			}
		})
	}
}

// checkReady fails unless the fields beside the condition say the same.
func checkReady(t *testing.T, s polychromev1alpha1.ServiceDefinitionStatus, ready metav1.Condition) {
	t.Helper()
	want := ready.Reason == "RolloutComplete"
	if s.Ready != want || (ready.Status == "True") != want || (s.Phase == "Ready") != want {
		t.Errorf("want ready %t, got %+v", want, s)
	}
	switch {
	case want && s.Message != nil:
		t.Errorf("want no message of a ready service, got %q", *s.Message)
	case !want && (s.Message == nil || *s.Message != ready.Message):
		t.Errorf("want the message of the condition, got %v", s.Message)
	}
}

// TestKstatus reads what kubectl wait, Flux and others would.
func TestKstatus(t *testing.T) {
	failed := map[string]bool{
		"InvalidName": true, "InvalidImage": true, "InvalidSpec": true, "NameConflict": true, "ProgressDeadlineExceeded": true,
	}
	for seed := range uint64(worlds) {
		s := anySimulation(newRand(seed))
		if s.Object.DeletionTimestamp != nil {
			continue
		}
		got := (&Reconciler{}).Status(now, s.Object, s.World, nil)
		want, reason := "InProgress", meta.FindStatusCondition(got.Status.Conditions, "Ready").Reason
		switch {
		case reason == "RolloutComplete":
			want = "Current"
		case failed[reason]:
			want = "Failed"
		}
		if read := kstatus(got); read != want {
			t.Fatalf("seed %d: want %s with reason %s, got %s", seed, want, reason, read)
		}
	}
}

// kstatus is its rules for kinds that it does not know.
func kstatus(svc *polychromev1alpha1.ServiceDefinition) string {
	switch list := svc.Status.Conditions; {
	case svc.Status.ObservedGeneration != svc.Generation:
		return "InProgress"
	case meta.IsStatusConditionTrue(list, "Stalled"):
		return "Failed"
	case meta.IsStatusConditionTrue(list, "Ready"):
		return "Current"
	}
	return "InProgress"
}

func TestStatusIsLeftAloneWhileDeleting(t *testing.T) {
	going := service(deleting)
	if got := (&Reconciler{}).Status(now, going, settled(), nil); got != going {
		t.Errorf("want the very object, got %+v", got)
	}
}

func TestStatusIsTheSameAnHourLater(t *testing.T) {
	r := &Reconciler{}
	for name, w := range map[string]World{"ready": settled(), "late": settled(deployed(starting, late))} {
		first := r.Status(now, service(), w, nil)
		if diff := cmp.Diff(first, r.Status(now.Add(time.Hour), first, w, nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestStalledGoesWithItsCauseAndOtherConditionsStay(t *testing.T) {
	r := &Reconciler{}
	stalled := r.Status(now, service(), settled(foreignService), nil)
	stalled.Status.Conditions = append(stalled.Status.Conditions, metav1.Condition{Type: "MissedFire", Status: "True", Reason: "Elsewhere"})
	got := r.Status(now, stalled, settled(), nil).Status.Conditions
	if meta.FindStatusCondition(got, "Stalled") != nil || meta.FindStatusCondition(got, "MissedFire") == nil {
		t.Errorf("want Stalled gone and MissedFire kept, got %+v", got)
	}
}

func TestWhatIsGoneIsNotAvailable(t *testing.T) {
	before := (&Reconciler{}).Status(now, service(), settled(), nil)
	if got := (&Reconciler{}).Status(now, before, settled(withoutDeployment), nil).Status; got.AvailableReplicas != 0 || got.Ready {
		t.Errorf("want nothing available without a Deployment, got %+v", got)
	}
}

func TestMessagesAreCutToSize(t *testing.T) {
	long := pod("web-1", app(waiting("ErrImagePull", strings.Repeat("ü", 4000)+"\xff")))
	got := (&Reconciler{}).Status(now, service(), settled(deployed(starting, late), pods(long)), nil).Status
	for _, message := range []string{got.Conditions[0].Message, got.Conditions[1].Message, *got.Message} {
		if len(message) > 1024 || len(message) < 1000 || !utf8.ValidString(message) {
			t.Errorf("want at most 1024 bytes of valid text, got %d", len(message))
		}
	}
}

// TestReasonsAreListed fails when a reason is set that the conditions do not
// list.
func TestReasonsAreListed(t *testing.T) {
	allowed := map[string]bool{}
	for _, facts := range polychromev1alpha1.Conditions() {
		if facts.Kind == "" || facts.Kind == "ServiceDefinition" {
			for _, reason := range facts.True {
				allowed[string(facts.Type)+" True "+string(reason)] = true
			}
			for _, reason := range facts.False {
				allowed[string(facts.Type)+" False "+string(reason)] = true
			}
		}
	}
	for seed := range uint64(worlds) {
		s := anySimulation(newRand(seed))
		for _, c := range (&Reconciler{}).Status(now, s.Object, s.World, nil).Status.Conditions {
			if c.Type != "MissedFire" && !allowed[c.Type+" "+string(c.Status)+" "+c.Reason] {
				t.Fatalf("seed %d: %s=%s with reason %s is not listed", seed, c.Type, c.Status, c.Reason)
			}
		}
	}
}
