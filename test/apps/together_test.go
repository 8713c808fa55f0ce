package apps

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

// unpullable is an image that no registry has.
const unpullable = "registry.example.com/broken/unpullable:1"

func allStagesReady(wf *polychromev1alpha1.Workflow) bool {
	return ready(wf.Status.Conditions) && wf.Status.ReadyStages == wf.Status.TotalStages
}

func TestStagesComeUpInOrder(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.workflow("report", stage("load", "example.test/load:1"),
		stage("compute", "example.test/compute:1", "load"), stage("serve", "example.test/serve:1", "compute"))
	w.finds("report", "ready", allStagesReady)
	var last metav1.Time
	for _, name := range []string{"report-load", "report-compute", "report-serve"} {
		svc, err := w.apps.ServiceDefinitions(w.namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if svc.CreationTimestamp.Before(&last) {
			t.Errorf("%s was made before the stage it waits for was ready", name)
		}
		for _, c := range svc.Status.Conditions {
			if c.Type == "Ready" {
				last = c.LastTransitionTime
			}
		}
	}
}

// TestABrokenStageSaysWhyAndHoldsUpItsOwnOnly walks through the life of a
// pipeline whose first image is wrong, is corrected, and turns wrong again.
func TestABrokenStageSaysWhyAndHoldsUpItsOwnOnly(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.workflow("report", stage("load", unpullable), stage("serve", "example.test/serve:1", "load"), stage("beside", "example.test/beside:1"))
	wf := w.finds("report", "held up", func(wf *polychromev1alpha1.Workflow) bool {
		return wf.Status.ReadyStages == 1 && strings.Contains(wf.Status.Stages[1].Message, "ImagePullBackOff")
	})
	if got := wf.Status.Stages[1]; got.Phase != polychromev1alpha1.StageWaiting || got.Message != "UpstreamNotReady: load (ImagePullBackOff)" {
		t.Errorf("want the stage to wait for the one that is broken, and to say so, got %+v", got)
	}
	if _, err := w.apps.ServiceDefinitions(w.namespace).Get(t.Context(), "report-serve", metav1.GetOptions{}); err == nil {
		t.Error("a stage was made before the one it waits for was ready")
	}

	stages := func(load string) string {
		return `{"spec":{"stages":[{"name":"load","image":"` + load + `"},{"name":"serve","image":"example.test/serve:1","dependsOn":["load"]},` +
			`{"name":"beside","image":"example.test/beside:1"}]}}`
	}
	w.patches("report", stages("example.test/load:1"))
	w.finds("report", "ready", allStagesReady)
	before := w.generations()

	// The old pods go on serving; nothing downstream is touched.
	w.patches("report", stages(unpullable))
	wf = w.finds("report", "not ready", func(wf *polychromev1alpha1.Workflow) bool {
		return !ready(wf.Status.Conditions) && strings.Contains(wf.Status.Stages[0].Message, "ImagePullBackOff")
	})
	if got := wf.Status.Stages[1]; !got.Ready {
		t.Errorf("want what depends on the broken stage to be left alone, got %+v", got)
	}
	after := w.generations()
	for _, name := range []string{"report-serve", "report-beside"} {
		if before[name] != after[name] {
			t.Errorf("Deployment %s was changed by an edit of another stage", name)
		}
	}
	w.patches("report", stages("example.test/load:1"))
	w.finds("report", "ready again", allStagesReady)
}

// generations are those of the Deployments.
func (w *world) generations() map[string]int64 {
	w.t.Helper()
	list, err := w.kube.AppsV1().Deployments(w.namespace).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	found := map[string]int64{}
	for _, d := range list.Items {
		found[d.Name] = d.Generation
	}
	return found
}

func TestADeletedWorkflowTakesEverythingWithIt(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.workflow("report", stage("load", "example.test/load:1"), stage("serve", "example.test/serve:1", "load"))
	w.finds("report", "ready", allStagesReady)
	if err := w.apps.Workflows(w.namespace).Delete(t.Context(), "report", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventuallyEmpty()
}

// eventuallyEmpty waits until nothing is left of any app.
func (w *world) eventuallyEmpty() {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		services, err := w.apps.ServiceDefinitions(w.namespace).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		deployments, err := w.kube.AppsV1().Deployments(w.namespace).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		fronts, err := w.kube.CoreV1().Services(w.namespace).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		pods, err := w.kube.CoreV1().Pods(w.namespace).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		if left := len(services.Items) + len(deployments.Items) + len(fronts.Items) + len(pods.Items); left > 0 {
			return fmt.Errorf("%d objects are left", left)
		}
		return nil
	})
}
