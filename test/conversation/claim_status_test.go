package conversation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/reconcilers/conversation"
)

// shown is what people see of a conversation.
type shown struct {
	Reason                       polychromev1alpha1.Reason
	Ready, Progressing, Degraded metav1.ConditionStatus
	Message                      string
	Phase                        polychromev1alpha1.ConversationPhase
	PodIP                        string
	HarnessReady                 bool
}

const (
	yes = metav1.ConditionTrue
	no  = metav1.ConditionFalse
)

var (
	dialable = shown{
		Reason: polychromev1alpha1.ReasonHarnessReady, Ready: yes, Progressing: no, Degraded: no,
		Message: "the harness can be dialled", Phase: polychromev1alpha1.ConversationReady, PodIP: "10.0.0.1", HarnessReady: true,
	}
	awaited = shown{
		Reason: polychromev1alpha1.ReasonWaitingForHarness, Ready: no, Progressing: yes, Degraded: no,
		Message: "the execution unit exists; its harness cannot be dialled yet", Phase: polychromev1alpha1.ConversationPending,
	}
	// unheard is a boot of which nothing was heard yet.
	unheard = shown{
		Reason: polychromev1alpha1.ReasonCreatingExecutionUnit, Ready: no, Progressing: yes, Degraded: no,
		Message: "the execution unit is being made", Phase: polychromev1alpha1.ConversationPending,
	}
)

// claimStatuses are what an operator may say of a claim. The claim has
// generation 1, was ready on 10.0.0.1 unless young, and gets the conditions
// and the addresses.
var claimStatuses = map[string]func(*scene){
	"ready": says(dialable, claimSays{conditions: conditions{"Ready": yes}, addresses: addresses("10.0.0.1")}),
	"ready on another address": says(with(dialable, func(s *shown) { s.PodIP = "10.0.0.7" }),
		claimSays{conditions: conditions{"Ready": yes}, addresses: addresses("10.0.0.7", "fd00::7")}),
	"ready beside a left-over Suspended": says(dialable,
		claimSays{conditions: conditions{"Suspended": yes, "Ready": yes}, addresses: addresses("10.0.0.1")}),
	"ready, of the generation of another object": says(dialable,
		claimSays{conditions: conditions{"Ready": yes}, observed: 7, addresses: addresses("10.0.0.1")}),
	"ready without an address, after it had one": says(awaited, claimSays{conditions: conditions{"Ready": yes}}),
	"ready before it has an address":             says(unheard, claimSays{young: true, conditions: conditions{"Ready": yes}}),
	"an address before it is ready": says(with(unheard, func(s *shown) { s.PodIP, s.Reason, s.Message = "10.0.0.1", awaited.Reason, awaited.Message }),
		claimSays{young: true, conditions: conditions{"Ready": no}, addresses: addresses("10.0.0.1")}),
	"not known whether it is ready, after it was": says(with(awaited, func(s *shown) { s.PodIP = "10.0.0.1" }),
		claimSays{conditions: conditions{"Ready": metav1.ConditionUnknown}, addresses: addresses("10.0.0.1")}),
	"suspended, and not ready after it was": says(awaited, claimSays{conditions: conditions{"Suspended": yes, "Ready": no}}),
	"ready while it goes": says(shown{
		Reason: polychromev1alpha1.ReasonExecutionUnitTerminating, Ready: no, Progressing: yes, Degraded: no,
		Message: "waiting for the old execution unit to go; held by example.test/a, example.test/b",
		Phase:   polychromev1alpha1.ConversationPending, PodIP: "10.0.0.1",
	}, claimSays{going: true, conditions: conditions{"Ready": yes}, addresses: addresses("10.0.0.1")}),
}

type conditions = map[string]metav1.ConditionStatus

func addresses(ips ...any) []any { return ips }

// claimSays is a claim's status. A claim that is going is held by somebody.
type claimSays struct {
	young, going bool
	conditions   conditions
	observed     int64
	addresses    []any
}

func with(base shown, change func(*shown)) shown {
	change(&base)
	return base
}

// says plays an operator that says something, and compares what is shown.
func says(want shown, c claimSays) func(*scene) {
	return func(s *scene) {
		l := s.start(conversation.Options{})
		l.plays(s.makes("one"))
		if !c.young {
			l.plays(s.boots("one", "10.0.0.1"))
		}
		if c.going {
			l.plays(s.holds("one", "example.test/a", "example.test/b"), s.deletes(claims, "one"))
		}
		l.plays(s.patches("said", claims, "one", "status", map[string]any{"status": c.status()}))
		if diff := cmp.Diff(want, s.shown("one")); diff != "" {
			s.t.Errorf("shown (-want +got):\n%s", diff)
		}
		// Our conditions are of the conversation's generation, not the claim's.
		for _, condition := range s.conv("one").Status.Conditions {
			if condition.ObservedGeneration != 1 {
				s.t.Errorf("want condition %s of generation 1, got %d", condition.Type, condition.ObservedGeneration)
			}
		}
		l.rests(4, 2*time.Minute)
	}
}

func (c claimSays) status() map[string]any {
	var list []any
	for kind, status := range c.conditions {
		list = append(list, map[string]any{
			"type": kind, "status": status, "reason": "Said", "message": "", "observedGeneration": c.observed, "lastTransitionTime": "2026-01-01T00:00:00Z",
		})
	}
	return map[string]any{"conditions": list, "sandbox": map[string]any{"name": "one", "podIPs": c.addresses}}
}

// holds is somebody with finalizers on a claim.
func (s *scene) holds(name string, finalizers ...string) frameworktest.Step {
	return s.patches("held", claims, name, "", map[string]any{"metadata": map[string]any{"finalizers": finalizers}})
}

func (s *scene) shown(name string) shown {
	s.t.Helper()
	conv := s.conv(name)
	got := shown{Reason: reasonOf(conv), Phase: conv.Status.Phase, PodIP: conv.Status.PodIP, HarnessReady: conv.Status.HarnessReady}
	for _, c := range conv.Status.Conditions {
		switch polychromev1alpha1.ConditionType(c.Type) {
		case polychromev1alpha1.ConditionReady:
			got.Ready, got.Message = c.Status, c.Message
		case polychromev1alpha1.ConditionProgressing:
			got.Progressing = c.Status
		case polychromev1alpha1.ConditionDegraded:
			got.Degraded = c.Status
		}
	}
	return got
}
