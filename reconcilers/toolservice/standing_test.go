package toolservice

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// reasons are those that a ToolService may show, by what the API says of them.
func reasons(t *testing.T, kind polychromev1alpha1.ConditionType, status metav1.ConditionStatus) []polychromev1alpha1.Reason {
	t.Helper()
	for _, facts := range polychromev1alpha1.Conditions() {
		if facts.Kind == "ToolService" && facts.Type == kind {
			return map[metav1.ConditionStatus][]polychromev1alpha1.Reason{
				metav1.ConditionTrue: facts.True, metav1.ConditionFalse: facts.False, metav1.ConditionUnknown: facts.Unknown,
			}[status]
		}
	}
	t.Fatalf("nothing is known of %s", kind)
	return nil
}

func TestEveryReasonStandsAsTheAPISays(t *testing.T) {
	all := slices.Concat(reasons(t, polychromev1alpha1.ConditionReady, metav1.ConditionTrue),
		reasons(t, polychromev1alpha1.ConditionReady, metav1.ConditionFalse))
	for _, reason := range all {
		var s polychromev1alpha1.ToolServiceStatus
		tell(&s, 1, now, verdict{reason, "why"})
		for _, c := range s.Conditions {
			allowed := reasons(t, polychromev1alpha1.ConditionType(c.Type), c.Status)
			if !slices.Contains(allowed, polychromev1alpha1.Reason(c.Reason)) {
				t.Errorf("%s=%s may not have the reason %s", c.Type, c.Status, c.Reason)
			}
		}
		stalled := slices.Contains(reasons(t, polychromev1alpha1.ConditionStalled, metav1.ConditionTrue), reason)
		if got := standingOf(reason).invalid; got != stalled || got != (s.Phase == polychromev1alpha1.ToolServiceInvalid) {
			t.Errorf("%s: want invalid %t, got %t and the phase %s", reason, stalled, got, s.Phase)
		}
	}
}

func TestPhases(t *testing.T) {
	for reason, want := range map[polychromev1alpha1.Reason]polychromev1alpha1.ToolServicePhase{
		polychromev1alpha1.ReasonCatalogListed:     polychromev1alpha1.ToolServiceReady,
		polychromev1alpha1.ReasonAuthRequired:      polychromev1alpha1.ToolServiceDegraded,
		polychromev1alpha1.ReasonServerError:       polychromev1alpha1.ToolServiceDegraded,
		polychromev1alpha1.ReasonSecretNotFound:    polychromev1alpha1.ToolServiceDegraded,
		polychromev1alpha1.ReasonConnectionRefused: polychromev1alpha1.ToolServiceUnreachable,
		polychromev1alpha1.ReasonDNSFailed:         polychromev1alpha1.ToolServiceUnreachable,
		polychromev1alpha1.ReasonNoRemote:          polychromev1alpha1.ToolServiceInvalid,
	} {
		if got := standingOf(reason).phase; got != want {
			t.Errorf("%s: want %s, got %s", reason, want, got)
		}
	}
}
