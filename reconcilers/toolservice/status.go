package toolservice

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/conditions"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

const (
	// failuresToTell is how many bad probes in a row it takes for a ToolService
	// that was ready not to be.
	failuresToTell = 3
	// maxMessage is how long a message may get, in bytes.
	maxMessage = 1024
)

// Status is the ToolService as it should be seen after this pass. While a
// probe is due or under way it tells what the last one found.
func (r *Reconciler) Status(
	now time.Time, ts *polychromev1alpha1.ToolService, w World, _ []framework.Done[Action],
) *polychromev1alpha1.ToolService {
	chosen := r.decide(now, ts, w.Memory)
	want := ts.Status
	if chosen == rowReportInvalid {
		_, wrong := r.target(&ts.Spec)
		tell(&want, ts.Generation, now, wrong)
	} else if last, fresh := r.news(ts, w.Memory, chosen); fresh {
		if last.ok() {
			list(&want, last)
		}
		tell(&want, ts.Generation, now, verdict{last.Reason, last.Message})
	}
	if equality.Semantic.DeepEqual(want, ts.Status) {
		return ts
	}
	changed := ts.DeepCopy()
	want.DeepCopyInto(&changed.Status)
	return changed
}

// news is the last probe, if it is to be told: it was one of this very spec,
// and if it is a bad one after good ones, it is not the only one.
func (p rules) news(ts *polychromev1alpha1.ToolService, m Memory, chosen row) (*Outcome, bool) {
	last := m.Last
	if chosen < rowProbe || last == nil || last.Generation != ts.Generation || last.Reason == "" {
		return nil, false
	}
	passing := !last.ok() && !standingOf(last.Reason).invalid && last.Failures < failuresToTell
	return last, !passing || !ready(ts)
}

// list shows the tools. A list that shows the same stays as it is stored.
func list(s *polychromev1alpha1.ToolServiceStatus, last *Outcome) {
	s.ToolCount, s.CatalogHash, s.Truncated = int32(min(len(last.Catalog.Names), 1<<20)), last.Catalog.Hash, last.Catalog.Truncated
	if !sameTools(s.Tools, last.Catalog.Listed) {
		s.Tools = last.Catalog.Listed
	}
	s.ServerInfo = nil
	if last.Server != (probe.ServerInfo{}) {
		s.ServerInfo = &polychromev1alpha1.ServerInfo{
			Name:            conditions.Truncate(last.Server.Name, maxName),
			Version:         conditions.Truncate(last.Server.Version, maxName),
			ProtocolVersion: conditions.Truncate(last.Server.ProtocolVersion, maxName),
		}
	}
}

// tell puts a verdict into the status. Conditions of other types stay as they
// are.
func tell(s *polychromev1alpha1.ToolServiceStatus, generation int64, now time.Time, says verdict) {
	follows := standingOf(says.reason)
	says.message = conditions.Truncate(says.message, maxMessage)
	s.ObservedGeneration, s.Phase = generation, follows.phase
	s.Ready, s.Message = follows.phase == polychromev1alpha1.ToolServiceReady, says.message
	answers := says
	if s.Ready {
		s.Message = ""
		answers = verdict{polychromev1alpha1.ReasonServerResponds, "the server answers"}
	}
	set := func(kind polychromev1alpha1.ConditionType, holds metav1.ConditionStatus, v verdict) {
		s.Conditions = conditions.Set(s.Conditions, now, generation, metav1.Condition{
			Type: string(kind), Status: holds, Reason: string(v.reason), Message: v.message,
		})
	}
	set(polychromev1alpha1.ConditionReady, conditions.Status(s.Ready), says)
	set(polychromev1alpha1.ConditionReachable, follows.reachable, answers)
	if follows.invalid {
		set(polychromev1alpha1.ConditionStalled, metav1.ConditionTrue, says)
	} else {
		s.Conditions = conditions.Remove(s.Conditions, string(polychromev1alpha1.ConditionStalled))
	}
}
