package apps

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
)

// settledFor is longer than three periodic looks of what is not ready, and
// than many events of leases and nodes.
const settledFor = time.Minute

func TestSettledAppsGetNoRequest(t *testing.T) {
	const services, workflows = 200, 50
	w := newWorld(t)
	p := w.start()
	for i := range services {
		w.service(fmt.Sprintf("service-%d", i), polychromev1alpha1.ServiceDefinitionSpec{Image: "example.test/app:1"})
	}
	for i := range workflows {
		w.workflow(fmt.Sprintf("wf-%d", i), stage("load", "example.test/load:1"), stage("serve", "example.test/serve:1", "load"))
	}
	w.allReady(services+2*workflows, workflows)
	w.rests(p)

	p.requests.Forget()
	timer := time.NewTimer(settledFor)
	defer timer.Stop()
	<-timer.C
	if diff := cmp.Diff([]string(nil), p.asked()); diff != "" {
		t.Errorf("requests but watches in %s (-want +got):\n%s", settledFor, diff)
	}

	// Nor does a new process have anything to write.
	p.stop()
	p = w.start()
	w.rests(p)
	if diff := cmp.Diff([]string(nil), p.asked(frameworktest.Writes)); diff != "" {
		t.Errorf("writes after a restart (-want +got):\n%s", diff)
	}
}

// allReady waits until so many services and workflows are there, all ready.
func (w *world) allReady(services, workflows int) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		found, err := w.apps.ServiceDefinitions(w.namespace).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		up := 0
		for _, svc := range found.Items {
			if ready(svc.Status.Conditions) {
				up++
			}
		}
		if up != services {
			return fmt.Errorf("%d of %d services are ready", up, services)
		}
		pipelines, err := w.apps.Workflows(w.namespace).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		up = 0
		for _, wf := range pipelines.Items {
			if ready(wf.Status.Conditions) {
				up++
			}
		}
		if up != workflows {
			return fmt.Errorf("%d of %d workflows are ready", up, workflows)
		}
		return nil
	})
}
