package framework

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAMissingRightToObserveShowsUnlessReady(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no list for you"))
	pending := []metav1.Condition{{Type: ConditionReady, Status: metav1.ConditionFalse, Reason: "Pending"}}
	good := []metav1.Condition{{Type: ConditionReady, Status: metav1.ConditionTrue, Reason: "Good"}}
	cases := map[string]struct {
		err  error
		have []metav1.Condition
		want []string
	}{
		"an object that nobody has looked at": {forbidden, pending, []string{"Warning APIRefused observing: " + forbidden.Error()}},
		"an object that was ready":            {forbidden, good, nil},
		"an outage":                           {errNoRoute, pending, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newPassWorld(t, &scripted{observe: func() error { return c.err }})
			w.svc.Status.Conditions = c.have
			if out := w.run(t); Classify(out.err) != Classify(c.err) {
				t.Errorf("want the class kept, got %v", out.err)
			}
			if diff := cmp.Diff(c.want, w.events()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if wrote := len(w.client.requests) > 0; wrote != (c.want != nil) {
				t.Errorf("status written: want %t, got %v", c.want != nil, w.client.requests)
			}
		})
	}
}
