package routine

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"polychrome.dev/controller/framework"
)

func rig() (*Reconciler, *store, *store) {
	jobs, accounts := &store{}, &store{}
	return New(Options{CronJobs: jobs, ServiceAccounts: accounts, Log: slog.New(slog.DiscardHandler)}), jobs, accounts
}

func TestActDeletesTheVersionThatWasJudged(t *testing.T) {
	r, jobs, accounts := rig()
	routine := bare()
	for _, kind := range leftovers {
		result, err := r.Act(t.Context(), routine, removal(kind, leftover(ownerOf(routine))))
		if err != nil || len(result.Events) != 1 || result.Events[0].Warning {
			t.Errorf("%s: want one piece of news, got %+v, %v", kind, result, err)
		}
	}
	want := []metav1.ObjectMeta{{Namespace: "control", Name: "routine-news", UID: "uid-leftover", ResourceVersion: "7"}}
	for kind, got := range map[Leftover][]metav1.ObjectMeta{CronJob: jobs.deleted, ServiceAccount: accounts.deleted} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s deleted (-want +got):\n%s", kind, diff)
		}
	}
}

func TestActThatFails(t *testing.T) {
	cronjobs := schema.GroupResource{Group: "batch", Resource: "cronjobs"}
	for name, tt := range map[string]struct {
		err  error
		fine bool
	}{
		"forbidden is said and tried again": {apierrors.NewForbidden(cronjobs, "routine-news", errors.New("no right")), true},
		"unavailable is an error":           {apierrors.NewServiceUnavailable("down"), false},
		"too many requests are an error":    {apierrors.NewTooManyRequests("slow down", 1), false},
		"another version is an error":       {apierrors.NewConflict(cronjobs, "routine-news", errors.New("changed")), false},
	} {
		t.Run(name, func(t *testing.T) {
			r, jobs, _ := rig()
			jobs.err = tt.err
			result, err := r.Act(t.Context(), bare(), removal(CronJob, leftover()))
			if !tt.fine {
				if !errors.Is(err, tt.err) || len(result.Events) > 0 {
					t.Errorf("want the error, got %v, %+v", err, result)
				}
				return
			}
			if err != nil || result.Wait != longestWait || len(result.Events) != 1 || !result.Events[0].Warning ||
				!strings.Contains(result.Events[0].Message, "grant it that right") {
				t.Errorf("want a warning that says what to do, got %+v, %v", result, err)
			}
		})
	}
	r, _, _ := rig()
	if _, err := r.Act(t.Context(), bare(), Action{Kind: "Secret", Name: "routine-news"}); err == nil {
		t.Error("want an error for a kind that is no leftover")
	}
}

func TestObserve(t *testing.T) {
	routine := bare()
	theirs := leftover()
	r := New(Options{
		CronJobs:        &store{objects: map[string]*metav1.PartialObjectMetadata{"control/routine-news": theirs, "control/news": leftover()}},
		ServiceAccounts: &store{},
	})
	w, err := r.Observe(t.Context(), routine)
	if err != nil || len(w.Leftovers) != 1 || w.Leftovers[0] != (Found{CronJob, theirs}) {
		t.Errorf("want the CronJob alone, since ServiceAccounts cannot be seen; got %+v, %v", w, err)
	}
}

var _ Leftovers = (*framework.Resource[*metav1.PartialObjectMetadata])(nil)
