package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// object makes one that is a minute old and says status and reason.
func object(id string, ready metav1.ConditionStatus, reason polychromev1alpha1.Reason) item {
	return item{
		id: id, meta: metav1.ObjectMeta{Generation: 1, CreationTimestamp: metav1.NewTime(noon.Add(-time.Minute))}, observed: 1,
		conditions: []metav1.Condition{{
			Type: string(polychromev1alpha1.ConditionReady), Status: ready, Reason: string(reason),
		}},
	}
}

// conversation is an object with a harness image generation.
func conversation(name string, ready metav1.ConditionStatus, reason polychromev1alpha1.Reason) item {
	i := object("conversation/"+name, ready, reason)
	i.rollsTo = "g1"
	return i
}

func TestSettled(t *testing.T) {
	unread := conversation("hello", metav1.ConditionTrue, polychromev1alpha1.ReasonHarnessReady)
	unread.meta.Generation = 2
	deleting := conversation("hello", metav1.ConditionTrue, polychromev1alpha1.ReasonHarnessReady)
	deleting.meta.DeletionTimestamp = &metav1.Time{Time: noon}
	for _, c := range []struct {
		name       string
		item       item
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
		{"nothing known", item{}, "", false},
		{"of a kind that is not rolled", object("routine/daily", metav1.ConditionTrue, polychromev1alpha1.ReasonScheduled), "g2", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rowOf(c.item, c.generation, noon).settled; got != c.want {
				t.Errorf("settled: %t, want %t", got, c.want)
			}
		})
	}
}

func TestRowsFollowTheIDs(t *testing.T) {
	hello := conversation("hello", metav1.ConditionTrue, polychromev1alpha1.ReasonHarnessReady)
	hello.phase, hello.detail = "Ready", "10.0.0.1"
	found := map[string]item{
		"conversation/of-somebody-else": conversation("of-somebody-else", metav1.ConditionFalse, polychromev1alpha1.ReasonPending),
		"conversation/hello":            hello,
	}
	var got [][]string
	for _, r := range rowsOf(found, []string{"conversation/taken", "conversation/hello"}, "", noon) {
		got = append(got, r.cells())
	}
	want := [][]string{
		{"conversation/taken", "-", "-", "Absent", "-", "-"},
		{"conversation/hello", "Ready", "True", "HarnessReady", "10.0.0.1", "60s"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
