package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// conversation makes one that is a minute old and says status and reason.
func conversation(name string, ready metav1.ConditionStatus, reason polychromev1alpha1.Reason) *polychromev1alpha1.Conversation {
	return &polychromev1alpha1.Conversation{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1, CreationTimestamp: metav1.NewTime(noon.Add(-time.Minute))},
		Status: polychromev1alpha1.ConversationStatus{
			ObservedGeneration:     1,
			HarnessImageGeneration: "g1",
			Conditions: []metav1.Condition{{
				Type: string(polychromev1alpha1.ConditionReady), Status: ready, Reason: string(reason),
			}},
		},
	}
}

func TestSettled(t *testing.T) {
	unread := conversation("hello", metav1.ConditionTrue, polychromev1alpha1.ReasonHarnessReady)
	unread.Generation = 2
	deleting := conversation("hello", metav1.ConditionTrue, polychromev1alpha1.ReasonHarnessReady)
	deleting.DeletionTimestamp = &metav1.Time{Time: noon}
	for _, c := range []struct {
		name       string
		conv       *polychromev1alpha1.Conversation
		generation string
		want       bool
	}{
		{"ready", conversation("hello", metav1.ConditionTrue, polychromev1alpha1.ReasonHarnessReady), "", true},
		{"ready in the desired generation", conversation("hello", metav1.ConditionTrue, polychromev1alpha1.ReasonHarnessReady), "g1", true},
		{"ready, but still to be rolled", conversation("hello", metav1.ConditionTrue, polychromev1alpha1.ReasonHarnessReady), "g2", false},
		{"ready, but a change was not looked at yet", unread, "", false},
		{"ready, but going away", deleting, "", false},
		{"on its way", conversation("hello", metav1.ConditionFalse, polychromev1alpha1.ReasonWaitingForHarness), "", false},
		{"closed in an earlier run", conversation("hello", metav1.ConditionFalse, polychromev1alpha1.ReasonClosed), "g2", true},
		{"broken on purpose", conversation("taken", metav1.ConditionFalse, polychromev1alpha1.ReasonNameConflict), "g2", true},
		{"broken on purpose, in another way", conversation("taken", metav1.ConditionFalse, polychromev1alpha1.ReasonPending), "", false},
		{"broken, and not on purpose", conversation("hello", metav1.ConditionFalse, polychromev1alpha1.ReasonNameConflict), "", false},
		{"nothing known", &polychromev1alpha1.Conversation{}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rowOf(c.conv, c.generation, noon).settled; got != c.want {
				t.Errorf("settled: %t, want %t", got, c.want)
			}
		})
	}
}

func TestRowsFollowTheNames(t *testing.T) {
	found := []polychromev1alpha1.Conversation{
		*conversation("of-somebody-else", metav1.ConditionFalse, polychromev1alpha1.ReasonPending),
		*conversation("hello", metav1.ConditionTrue, polychromev1alpha1.ReasonHarnessReady),
	}
	found[1].Status.Phase, found[1].Status.PodIP = polychromev1alpha1.ConversationReady, "10.0.0.1"
	var got [][]string
	for _, r := range rowsOf(found, []string{"taken", "hello"}, "", noon) {
		got = append(got, r.cells())
	}
	want := [][]string{
		{"taken", "-", "-", "Absent", "-", "-"},
		{"hello", "Ready", "True", "HarnessReady", "10.0.0.1", "60s"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
