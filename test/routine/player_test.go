package routine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
)

var (
	routines = polychromev1alpha1.SchemeGroupVersion.WithResource("routines")
	cronJobs = batchv1.SchemeGroupVersion.WithResource("cronjobs")
	accounts = corev1.SchemeGroupVersion.WithResource("serviceaccounts")
)

// player is a user, the scheduler and an older release in the namespace of
// one run. None of them does anything that no step says.
type player struct {
	frameworktest.Run
	client versioned.Interface
	kube   kubernetes.Interface
}

func (p player) step(name string, do func(context.Context) error) frameworktest.Step {
	return frameworktest.Step{Name: name, Do: do}
}

// does is several things at once.
func (p player) does(steps ...frameworktest.Step) frameworktest.Step {
	return p.step("together "+steps[0].Name, func(ctx context.Context) error {
		for _, step := range steps {
			if err := step.Do(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// spec is one that the API server accepts.
func spec(schedule polychromev1alpha1.RoutineSchedule) polychromev1alpha1.RoutineSpec {
	return polychromev1alpha1.RoutineSpec{
		Schedule: schedule, Prompt: polychromev1alpha1.RoutinePrompt{Text: "summarise the news"}, Owner: "user:slack/U1",
	}
}

func every(expression, zone string) polychromev1alpha1.RoutineSchedule {
	return polychromev1alpha1.RoutineSchedule{Cron: &polychromev1alpha1.CronSchedule{Expression: expression, TimeZone: zone}}
}

func onceAt(at time.Time) polychromev1alpha1.RoutineSchedule {
	return polychromev1alpha1.RoutineSchedule{Once: &polychromev1alpha1.OnceSchedule{At: at.UTC().Format(time.RFC3339)}}
}

func (p player) makes(name string, s polychromev1alpha1.RoutineSchedule) frameworktest.Step {
	return p.step("made", func(ctx context.Context) error {
		_, err := p.client.PolychromeV1alpha1().Routines(p.Namespace).Create(ctx, &polychromev1alpha1.Routine{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec(s),
		}, metav1.CreateOptions{})
		return err
	})
}

func (p player) reschedules(name, expression, zone string) frameworktest.Step {
	return p.edits(name, map[string]any{"spec": map[string]any{"schedule": map[string]any{
		"cron": map[string]any{"expression": expression, "timeZone": zone},
	}}})
}

func (p player) suspends(name string, suspend bool) frameworktest.Step {
	return p.edits(name, map[string]any{"spec": map[string]any{"suspend": suspend}})
}

func (p player) pauses(name string, value any) frameworktest.Step {
	return p.edits(name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{polychromev1alpha1.PausedAnnotation: value}}})
}

func (p player) edits(name string, change map[string]any) frameworktest.Step {
	return p.patches("edited", routines, name, "", change)
}

func (p player) patches(what string, resource schema.GroupVersionResource, name, sub string, change map[string]any) frameworktest.Step {
	return p.step(what, func(ctx context.Context) error {
		body, err := json.Marshal(change)
		if err != nil {
			return err
		}
		var subs []string
		if sub != "" {
			subs = append(subs, sub)
		}
		_, err = p.Live.Resource(resource).Namespace(p.Namespace).Patch(ctx, name, types.MergePatchType, body,
			metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}, subs...)
		return err
	})
}

func (p player) deletes(resource schema.GroupVersionResource, name string) frameworktest.Step {
	return p.step("deleted "+resource.Resource, func(ctx context.Context) error {
		return p.Live.Resource(resource).Namespace(p.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
	})
}

// misses is the scheduler: it writes its condition beside the others, on the
// version that it has read.
func (p player) misses(name, message string) frameworktest.Step {
	return p.step("missed a fire", func(ctx context.Context) error {
		routine, err := p.get(ctx, name)
		if err != nil {
			return err
		}
		meta.SetStatusCondition(&routine.Status.Conditions, metav1.Condition{
			Type: string(polychromev1alpha1.ConditionMissedFire), Status: metav1.ConditionTrue, Reason: "TooLate", Message: message,
		})
		_, err = p.client.PolychromeV1alpha1().Routines(p.Namespace).UpdateStatus(ctx, routine, metav1.UpdateOptions{})
		return err
	})
}

func (p player) get(ctx context.Context, name string) (*polychromev1alpha1.Routine, error) {
	return p.client.PolychromeV1alpha1().Routines(p.Namespace).Get(ctx, name, metav1.GetOptions{})
}

// leftBehind is an older release: it made the trigger of a routine.
func (p player) leftBehind(routine string) frameworktest.Step {
	return p.does(p.made(cronJobs, routine, true), p.made(accounts, routine, true))
}

// takes is somebody else: objects of theirs have the names of a trigger.
func (p player) takes(routine string) frameworktest.Step {
	return p.does(p.made(cronJobs, routine, false), p.made(accounts, routine, false))
}

// made is one object with the name of a routine's trigger, owned by the
// routine or by nobody.
func (p player) made(resource schema.GroupVersionResource, routine string, owned bool) frameworktest.Step {
	return p.step("made "+resource.Resource, func(ctx context.Context) error {
		named := metav1.ObjectMeta{Name: "routine-" + routine, Labels: map[string]string{"team": "any"}}
		if owned {
			owner, err := p.get(ctx, routine)
			if err != nil {
				return err
			}
			named.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: "polychrome.dev/v1alpha1", Kind: "Routine", Name: owner.Name, UID: owner.UID, Controller: new(true),
			}}
		}
		var err error
		if resource == accounts {
			_, err = p.kube.CoreV1().ServiceAccounts(p.Namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: named}, metav1.CreateOptions{})
		} else {
			_, err = p.kube.BatchV1().CronJobs(p.Namespace).Create(ctx, cronJob(named), metav1.CreateOptions{})
		}
		return err
	})
}

func cronJob(named metav1.ObjectMeta) *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: named,
		Spec: batchv1.CronJobSpec{
			Schedule: "0 9 * * *", Suspend: new(true),
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, ServiceAccountName: named.Name,
				Containers: []corev1.Container{{Name: "fire", Image: "registry.k8s.io/pause:3.10"}},
			}}}},
		},
	}
}

// disowned is somebody who takes an object of a trigger over.
func (p player) disowned(resource schema.GroupVersionResource, routine string) frameworktest.Step {
	return p.patches("disowned", resource, "routine-"+routine, "", map[string]any{"metadata": map[string]any{"ownerReferences": nil}})
}

func (p player) waits(d time.Duration) frameworktest.Step {
	return p.step(fmt.Sprint("after ", d), func(context.Context) error {
		p.Clock.Step(d)
		return nil
	})
}

// leaves fails unless that is what is left.
func (p player) leaves(want []string) frameworktest.Step {
	return p.step("the end", func(ctx context.Context) error {
		got, err := p.left(ctx)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err == nil && diff != "" {
			err = fmt.Errorf("something else is left (-want +got):\n%s", diff)
		}
		return err
	})
}

// left says in a line each what is left.
func (p player) left(ctx context.Context) ([]string, error) {
	var lines []string
	all, err := p.client.PolychromeV1alpha1().Routines(p.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range all.Items {
		routine := &all.Items[i]
		line := fmt.Sprintf("routine %s %s %d", routine.Name, reasonOf(routine), len(routine.Status.NextFireTimes))
		if missed := meta.FindStatusCondition(routine.Status.Conditions, string(polychromev1alpha1.ConditionMissedFire)); missed != nil {
			line += " missed: " + missed.Message
		}
		lines = append(lines, line)
	}
	for _, resource := range []schema.GroupVersionResource{cronJobs, accounts} {
		list, err := p.Live.Resource(resource).Namespace(p.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, obj := range list.Items {
			if strings.HasPrefix(obj.GetName(), "routine-") {
				lines = append(lines, resource.Resource+" "+obj.GetName())
			}
		}
	}
	return lines, nil
}

func reasonOf(routine *polychromev1alpha1.Routine) polychromev1alpha1.Reason {
	ready := meta.FindStatusCondition(routine.Status.Conditions, string(polychromev1alpha1.ConditionReady))
	if ready == nil {
		return ""
	}
	return polychromev1alpha1.Reason(ready.Reason)
}
