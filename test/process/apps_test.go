package process

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

const (
	// appsNamespace is the one of manifests/apps-namespace.
	appsNamespace = "polychrome-apps"
	// soon is what people call soon who have just applied a manifest, on a
	// machine that is busy.
	soon = 30 * time.Second
)

// TestAppsComeAndGoAndTheOthersNeverNotice takes away, one after the other,
// all that the reconcilers of apps stand on.
func TestAppsComeAndGoAndTheOthersNeverNotice(t *testing.T) {
	w := newWorld(t, "base")
	p := w.start()
	w.create("before-there-are-apps")
	w.eventuallyAllReady()
	w.eventuallyLogged(p, `hint="kubectl apply -k manifests/apps-namespace"`)

	give := func() { w.server.Kubectl("apply", "-k", manifest("apps-namespace")) }
	give()
	w.appsServed("first")
	if strings.Contains(p.log.String(), "Unable to write event") {
		t.Error("want the events of apps to be written too")
	}
	for i, loss := range []struct {
		what       string
		take, give func()
		// unnoticed is a loss that no watch tells of.
		unnoticed bool
	}{
		{
			what: "the Role",
			take: func() { w.server.Kubectl("delete", "-n", appsNamespace, "role", "polychrome-controller") },
			give: give,
		}, {
			what: "the CustomResourceDefinitions",
			take: func() {
				w.server.Kubectl("delete", "crd", "servicedefinitions.polychrome.dev", "workflows.polychrome.dev")
			},
			give: func() {
				w.server.Kubectl("apply", "--server-side", "-k", manifest("crds"))
				w.server.Kubectl("wait", "--for=condition=Established", "crd/servicedefinitions.polychrome.dev", "crd/workflows.polychrome.dev")
			},
		}, {
			what: "the namespace",
			take: func() { w.server.Kubectl("delete", "namespace", appsNamespace) },
			give: give, unnoticed: true,
		},
	} {
		loss.take()
		// Nothing tells of a right that was taken away but a refusal.
		w.tryApp(fmt.Sprintf("without-%d", i))
		if !loss.unnoticed {
			w.eventuallyDormant(p, i+1, loss.what)
		}
		w.create(fmt.Sprintf("without-%d", i))
		w.eventuallyAllReady()
		loss.give()
		w.appsServed(fmt.Sprintf("with-%d", i))
	}
	if log := p.log.String(); strings.Contains(log, "asleep until what it needs is back\" controller=conversation") {
		t.Error("want the conversations not to notice, but their controller fell asleep")
	}
	if got := strings.Count(p.log.String(), "level=WARN") + strings.Count(p.log.String(), "level=ERROR"); got > 60 {
		t.Errorf("want few warnings, got %d", got)
	}
}

func app(name string) *polychromev1alpha1.ServiceDefinition {
	return &polychromev1alpha1.ServiceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       polychromev1alpha1.ServiceDefinitionSpec{Image: "example.test/app:1"},
	}
}

// tryApp makes a ServiceDefinition if there is such a kind.
func (w *world) tryApp(name string) {
	w.t.Helper()
	_, err := w.client.PolychromeV1alpha1().ServiceDefinitions(appsNamespace).Create(w.t.Context(), app(name), metav1.CreateOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
}

// appsServed fails unless a new Workflow gets its stage, and the stage its
// Deployment, within seconds. There are no nodes: nothing becomes ready.
func (w *world) appsServed(name string) {
	w.t.Helper()
	apps := w.client.PolychromeV1alpha1()
	began := time.Now()
	workflow := &polychromev1alpha1.Workflow{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       polychromev1alpha1.WorkflowSpec{Stages: []polychromev1alpha1.WorkflowStage{{Name: "only", Image: "example.test/app:1"}}},
	}
	cluster.Eventually(w.t, settle, func() error {
		_, err := apps.Workflows(appsNamespace).Create(w.t.Context(), workflow, metav1.CreateOptions{})
		return err
	})
	cluster.Eventually(w.t, settle, func() error {
		stage, err := apps.ServiceDefinitions(appsNamespace).Get(w.t.Context(), name+"-only", metav1.GetOptions{})
		switch {
		case err != nil:
			return err
		case stage.Status.ObservedGeneration != stage.Generation:
			return fmt.Errorf("the stage was not looked at: %+v", stage.Status)
		}
		return nil
	})
	if took := time.Since(began); took > soon {
		w.t.Errorf("%s: want apps served within seconds, took %s", name, took)
	}
}

// eventuallyDormant waits until the reconcilers of apps have fallen asleep so
// many times.
func (w *world) eventuallyDormant(p *process, times int, why string) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		for _, controller := range []string{"servicedefinition", "workflow"} {
			if got := strings.Count(p.log.String(), `asleep until what it needs is back" controller=`+controller); got < times {
				return fmt.Errorf("%s are gone, and controller %s has not fallen asleep: %d of %d times", why, controller, got, times)
			}
		}
		return nil
	})
}
