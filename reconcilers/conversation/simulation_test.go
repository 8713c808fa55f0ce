package conversation

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/execution"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

// simulation is a cluster of one conversation and one unit, in which actions
// and status writes have their effect at once. The operator does only what a
// test makes it do, except that a deleted unit goes at once if nobody holds
// it.
type simulation struct {
	*Reconciler
	now  int64
	conv *polychromev1alpha1.Conversation
	unit execution.Unit
	// holders keep a deleted unit from going.
	holders []string
	// full says that no slot for rolling is free, rolls how all rolls stand.
	full  bool
	rolls slots.Standing
	gone  bool
	// done are the actions carried out so far, with their targets.
	done []string
	// writes counts requests: an action or a status write each.
	writes int
	uids   int
}

func (s *simulation) world() World { return World{Unit: s.unit, Rolls: s.rolls} }

// round is one pass; it reports whether anything happened.
func (s *simulation) round() (busy bool, err error) {
	w := s.world()
	at := time.Unix(s.now, 0)
	plan := s.Plan(at, s.conv, w)
	var done []framework.Done[Action]
	before := s.conv
	for _, a := range plan.Actions {
		if s.unit.Standing == execution.Foreign && slices.Contains([]ActionKind{EnsureUnit, RollUnit, TeardownUnit}, a.Kind) {
			return false, fmt.Errorf("%s on a foreign unit", a)
		}
		result := s.carryOut(a)
		done = append(done, framework.Done[Action]{Action: a, Result: result})
	}
	if s.gone {
		return true, nil
	}
	next := s.Status(at, before, w, done)
	if next != before {
		s.writes++
		s.conv = s.conv.DeepCopy()
		s.conv.Status = next.Status
	}
	return len(plan.Actions) > 0 || next != before, nil
}

func (s *simulation) carryOut(a Action) framework.Result {
	s.done = append(s.done, string(a.Kind)+" "+string(a.Unit.UID))
	if !(a.Kind == RollUnit && s.full) {
		s.writes++
	}
	s.conv = s.conv.DeepCopy()
	switch a.Kind {
	case AddFinalizer:
		s.conv.Finalizers = append(s.conv.Finalizers, polychromev1alpha1.ConversationFinalizer)
	case RemoveFinalizer:
		s.conv.Finalizers = slices.DeleteFunc(s.conv.Finalizers, func(f string) bool { return f == polychromev1alpha1.ConversationFinalizer })
		s.gone = len(s.conv.Finalizers) == 0
	case DeleteConversation:
		s.conv.DeletionTimestamp = &metav1.Time{Time: time.Unix(s.now, 0)}
	case TeardownUnit:
		s.deleteUnit()
	case RollUnit:
		if s.full {
			s.unit.Drift = nil
			return framework.Result{Learned: Learned{Deferred: true}}
		}
		s.deleteUnit()
	case EnsureUnit:
		return framework.Result{Learned: s.ensure()}
	}
	return framework.Result{}
}

func (s *simulation) deleteUnit() {
	if len(s.holders) > 0 {
		s.unit.Terminating, s.unit.HeldBy = true, s.holders
		return
	}
	s.unit = execution.Unit{Name: s.unit.Name}
}

func (s *simulation) ensure() Learned {
	created := !s.unit.Present()
	if created {
		s.uids++
		s.unit = execution.Unit{
			Name: s.unit.Name, Standing: execution.Own, UID: types.UID("uid-made-" + strconv.Itoa(s.uids)),
			Version: "1", CreatedAt: s.now, Generation: s.generation,
		}
	}
	s.unit.Drift = nil
	return Learned{Made: execution.Made{Created: created, Generation: s.unit.Generation}}
}

// boot lets the operator bring the unit up.
func (s *simulation) boot(address string) {
	s.unit.Ready, s.unit.Address = true, address
}

// settle runs rounds until nothing happens.
func (s *simulation) settle(rounds int) error {
	for range rounds {
		busy, err := s.round()
		if err != nil || !busy || s.gone {
			return err
		}
	}
	return fmt.Errorf("not settled after %d rounds; done so far: %v", rounds, s.done)
}
