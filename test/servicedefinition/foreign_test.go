package servicedefinition

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

var cmpEmpty = cmpopts.EquateEmpty()

// foreignDeployment is somebody's, of our labels even, without replicas, so
// that its own controller soon leaves it alone.
func (w *world) foreignDeployment(name string) {
	w.t.Helper()
	labels := map[string]string{"app.kubernetes.io/name": name, "polychrome.dev/service-definition": name, "app.kubernetes.io/managed-by": "polychrome"}
	_, err := w.kube.AppsV1().Deployments(w.ns).Create(w.t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Paused: true,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "app", Image: "theirs:1"}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// eventuallyObserved waits until a Deployment's own controller has seen it.
func (w *world) eventuallyObserved(name string) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		if d := w.deployment(name); d.Status.ObservedGeneration != d.Generation {
			return fmt.Errorf("the deployment %s is not observed", name)
		}
		return nil
	})
}

func (w *world) foreignService(name string) {
	w.t.Helper()
	_, err := w.kube.CoreV1().Services(w.ns).Create(w.t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 4000}}},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// text is an object to the last byte, managed fields included.
func text(t *testing.T, object any) string {
	t.Helper()
	raw, err := json.MarshalIndent(object, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestSomebodyElsesChildIsLeftAloneUntilItGoes(t *testing.T) {
	type child struct {
		make func(*world)
		read func(*world) string
		free func(*world) error
		// other is absent while the child is in the way.
		other func(*world) error
	}
	deployment := func(w *world) error {
		_, err := w.kube.AppsV1().Deployments(w.ns).Get(w.t.Context(), "web", metav1.GetOptions{})
		return err
	}
	service := func(w *world) error {
		_, err := w.kube.CoreV1().Services(w.ns).Get(w.t.Context(), "web", metav1.GetOptions{})
		return err
	}
	for name, c := range map[string]child{
		"a Deployment": {
			make: func(w *world) {
				w.foreignDeployment("web")
				w.eventuallyObserved("web")
			},
			read: func(w *world) string { return text(w.t, w.deployment("web")) },
			free: func(w *world) error {
				return w.kube.AppsV1().Deployments(w.ns).Delete(w.t.Context(), "web", metav1.DeleteOptions{})
			},
			other: service,
		},
		"a Service": {
			make: func(w *world) { w.foreignService("web") },
			read: func(w *world) string {
				found, err := w.kube.CoreV1().Services(w.ns).Get(w.t.Context(), "web", metav1.GetOptions{})
				if err != nil {
					w.t.Fatal(err)
				}
				return text(w.t, found)
			},
			free: func(w *world) error {
				return w.kube.CoreV1().Services(w.ns).Delete(w.t.Context(), "web", metav1.DeleteOptions{})
			},
			other: deployment,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.make(w)
			before := c.read(w)
			p := w.start()
			w.create(sample("web"))
			svc := w.eventuallySays("web", polychromev1alpha1.ReasonNameConflict, "web exists and is not this service's own")
			if !stalled(svc) || svc.Status.Ready {
				t.Errorf("want it stalled, got %+v", svc.Status)
			}
			w.edit("web", `{"spec":{"port":9090}}`)
			w.eventuallySays("web", polychromev1alpha1.ReasonNameConflict)
			w.eventuallyIdle(p)
			if diff := cmp.Diff(before, c.read(w)); diff != "" {
				t.Errorf("somebody else's object was touched (-want +got):\n%s", diff)
			}
			if c.other(w) == nil {
				t.Error("the other child was made although one is in the way")
			}
			if err := c.free(w); err != nil {
				t.Fatal(err)
			}
			if svc := w.eventuallyReady("web"); stalled(svc) {
				t.Errorf("want it stalled no more, got %+v", svc.Status)
			}
		})
	}
}
