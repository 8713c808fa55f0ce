package toolservice

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// standing is what follows from a reason.
type standing struct {
	phase     polychromev1alpha1.ToolServicePhase
	reachable metav1.ConditionStatus
	// invalid says that the verdict is one on the input: it needs no second
	// look, and shows in Stalled.
	invalid bool
	// lasts says that people have to do something: it is looked at again at the
	// pace of a healthy server.
	lasts bool
}

// standingOf is the one table of reasons. What it does not list is an answer
// of a server that cannot be used.
func standingOf(reason polychromev1alpha1.Reason) standing {
	switch reason {
	case polychromev1alpha1.ReasonCatalogListed:
		return standing{phase: polychromev1alpha1.ToolServiceReady, reachable: metav1.ConditionTrue}
	case polychromev1alpha1.ReasonInvalidSpec, polychromev1alpha1.ReasonNoRemote, polychromev1alpha1.ReasonInvalidURL,
		polychromev1alpha1.ReasonURLBlocked, polychromev1alpha1.ReasonReservedSecret:
		return standing{phase: polychromev1alpha1.ToolServiceInvalid, reachable: metav1.ConditionFalse, invalid: true, lasts: true}
	case polychromev1alpha1.ReasonDNSFailed, polychromev1alpha1.ReasonConnectionRefused, polychromev1alpha1.ReasonConnectionFailed,
		polychromev1alpha1.ReasonTimeout, polychromev1alpha1.ReasonTLSFailed:
		return standing{phase: polychromev1alpha1.ToolServiceUnreachable, reachable: metav1.ConditionFalse}
	case polychromev1alpha1.ReasonSecretNotFound, polychromev1alpha1.ReasonSecretForbidden:
		return standing{phase: polychromev1alpha1.ToolServiceDegraded, reachable: metav1.ConditionUnknown}
	case polychromev1alpha1.ReasonAuthRequired, polychromev1alpha1.ReasonForbidden:
		return standing{phase: polychromev1alpha1.ToolServiceDegraded, reachable: metav1.ConditionTrue, lasts: true}
	}
	return standing{phase: polychromev1alpha1.ToolServiceDegraded, reachable: metav1.ConditionTrue}
}
