package routine

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
)

// now is the time at which most tests look: a Tuesday.
var now = time.Date(2026, 5, 5, 12, 30, 0, 0, time.UTC)

type option func(*polychromev1alpha1.Routine)

// bare is a routine that nobody has looked at.
func bare(options ...option) *polychromev1alpha1.Routine {
	routine := frameworktest.Make(&polychromev1alpha1.Routine{
		Spec: polychromev1alpha1.RoutineSpec{
			Schedule: every("0 9 * * 1-5", "Europe/London"),
			Prompt:   polychromev1alpha1.RoutinePrompt{Text: "summarise the news"},
			Scope:    polychromev1alpha1.RoutinePrivate,
			Owner:    "user:slack/U1",
		},
	}, frameworktest.InNamespace("control"), frameworktest.Name("news"), frameworktest.CreatedAt(now.Add(-240*time.Hour)))
	for _, change := range options {
		change(routine)
	}
	return routine
}

func every(expression, zone string) polychromev1alpha1.RoutineSchedule {
	return polychromev1alpha1.RoutineSchedule{Cron: &polychromev1alpha1.CronSchedule{Expression: expression, TimeZone: zone}}
}

func onceAt(at, zone string) polychromev1alpha1.RoutineSchedule {
	return polychromev1alpha1.RoutineSchedule{Once: &polychromev1alpha1.OnceSchedule{At: at, TimeZone: zone}}
}

func on(s polychromev1alpha1.RoutineSchedule) option {
	return func(r *polychromev1alpha1.Routine) { r.Spec.Schedule = s }
}

func suspended(r *polychromev1alpha1.Routine) { r.Spec.Suspend = true }

func deleting(r *polychromev1alpha1.Routine) { frameworktest.Deleting(now)(r) }

func prompting(text string) option {
	return func(r *polychromev1alpha1.Routine) { r.Spec.Prompt.Text = text }
}

func named(uid string) option { return func(r *polychromev1alpha1.Routine) { r.UID = types.UID(uid) } }

// missed is a routine of which the scheduler has said something.
func missed(r *polychromev1alpha1.Routine) {
	r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{
		Type: string(polychromev1alpha1.ConditionMissedFire), Status: metav1.ConditionTrue, Reason: "TooLate",
		Message: "the scheduler was away", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)), ObservedGeneration: 7,
	})
}

// leftover is an object of an older release with those owners.
func leftover(references ...metav1.OwnerReference) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "control", Name: "routine-news", UID: "uid-leftover", ResourceVersion: "7", OwnerReferences: references,
	}}
}

// ownerOf is the reference of an older release.
func ownerOf(r *polychromev1alpha1.Routine) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "polychrome.dev/v1alpha1", Kind: "Routine", Name: r.Name, UID: r.UID}
}

// settled is a routine as a pass leaves it.
func settled(r *polychromev1alpha1.Routine) *polychromev1alpha1.Routine {
	return newReconciler().Status(now, r, World{}, nil)
}

func conditionOf(r *polychromev1alpha1.Routine, kind polychromev1alpha1.ConditionType) *metav1.Condition {
	return meta.FindStatusCondition(r.Status.Conditions, string(kind))
}

// store plays a resource of leftovers.
type store struct {
	objects map[string]*metav1.PartialObjectMetadata
	deleted []metav1.ObjectMeta
	err     error
}

func (s *store) Find(namespace, name string) (*metav1.PartialObjectMetadata, bool, framework.State) {
	if s.objects == nil {
		return nil, false, framework.Unknown
	}
	obj, found := s.objects[namespace+"/"+name]
	return obj, found, framework.Served
}

func (s *store) Delete(_ context.Context, obj *metav1.PartialObjectMetadata) error {
	s.deleted = append(s.deleted, obj.ObjectMeta)
	return s.err
}

func newReconciler() *Reconciler {
	return New(Options{CronJobs: &store{}, ServiceAccounts: &store{}, Log: slog.New(slog.DiscardHandler)})
}
