package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
)

func TestTheLifeOfAWebsite(t *testing.T) {
	t.Parallel()
	j := start(t)
	j.applies(1, 1, func() {
		j.create("<h1>Hello</h1>")
		if site := j.says("True", webv1alpha1.ReasonServing); site.Status.ReadyReplicas != 1 {
			j.Errorf("want 1 ready replica, got %+v", site.Status)
		}
	})
	pods := j.deployment().Spec.Template.Annotations[webv1alpha1.PageHashAnnotation]

	j.applies(1, 1, func() {
		first := j.firstWord(func() {
			j.kubectl("patch", "website", "hello", "--type=merge", "--patch", `{"spec":{"html":"<h1>Bye</h1>"}}`)
		})
		if first != webv1alpha1.ReasonRollingOut {
			j.Errorf("want the new page to be rolling out at first, got %q", first)
		}
		j.says("True", webv1alpha1.ReasonServing)
	})
	if got := j.page().Data["index.html"]; got != "<h1>Bye</h1>" {
		j.Errorf("want the new page, got %s", got)
	}
	if got := j.deployment().Spec.Template.Annotations[webv1alpha1.PageHashAnnotation]; got == pods {
		j.Errorf("want other pods for the new page, got the same hash %s", got)
	}

	j.applies(0, 1, func() {
		j.kubectl("patch", "website", "hello", "--type=merge", "--patch", `{"spec":{"replicas":3}}`)
		if site := j.says("True", webv1alpha1.ReasonServing); site.Status.ReadyReplicas != 3 {
			j.Errorf("want 3 ready replicas, got %+v", site.Status)
		}
	})
}

func TestDriftIsHealed(t *testing.T) {
	t.Parallel()
	j := start(t)
	j.create("<h1>Hello</h1>")
	j.says("True", webv1alpha1.ReasonServing)
	j.settled()
	j.applies(0, 1, func() {
		j.kubectl("set", "image", "deployment/hello", "server=example.com/other:1")
		j.eventually(func() error {
			if got := j.deployment().Spec.Template.Spec.Containers[0].Image; got != defaultImage {
				return fmt.Errorf("want the image %s back, got %s", defaultImage, got)
			}
			return nil
		})
	})
	j.applies(1, 0, func() {
		j.kubectl("delete", "configmap", "hello")
		j.eventually(func() error {
			_, err := j.kube.CoreV1().ConfigMaps(j.namespace).Get(j.Context(), "hello", metav1.GetOptions{})
			return err
		})
	})
	j.says("True", webv1alpha1.ReasonServing)
}

func TestAWebsiteAtRestCostsNoRequest(t *testing.T) {
	t.Parallel()
	j := start(t)
	j.create("<h1>Hello</h1>")
	j.says("True", webv1alpha1.ReasonServing)
	j.settled()
	j.requests.Forget()
	// Each is news that starts a pass, and none of the controller's business.
	j.kubectl("label", "website", "hello", "their=label")
	j.kubectl("label", "configmap", "hello", "their=label")
	j.kubectl("label", "deployment", "hello", "their=label")
	j.settled()
	for _, r := range j.requests.Requests(frameworktest.Unary) {
		j.Errorf("want no request, got %s %s", r.Verb, r.Path)
	}
	if got := j.deployment().Labels["their"]; got != "label" {
		j.Errorf("want somebody else's label left alone, got %q", got)
	}
}

func TestAnObjectOfSomebodyElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	j := start(t)
	theirs, err := j.kube.CoreV1().ConfigMaps(j.namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "hello"}, Data: map[string]string{"index.html": "theirs"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating the ConfigMap of somebody else: %v", err)
	}
	j.settled()
	j.applies(0, 0, func() {
		j.create("<h1>Hello</h1>")
		j.says("False", webv1alpha1.ReasonNameConflict)
	})
	if diff := cmp.Diff(theirs, j.page()); diff != "" {
		t.Errorf("the ConfigMap of somebody else (-want +got):\n%s", diff)
	}
	j.applies(1, 1, func() {
		j.kubectl("delete", "configmap", "hello")
		j.says("True", webv1alpha1.ReasonServing)
	})
}

// The Website is still there while its children go, and makes no new ones.
func TestDeletionCollectsTheChildren(t *testing.T) {
	t.Parallel()
	j := start(t)
	j.create("<h1>Hello</h1>")
	j.says("True", webv1alpha1.ReasonServing)
	j.settled()
	j.applies(0, 0, func() {
		j.kubectl("delete", "website", "hello", "--cascade=foreground", "--wait=false")
		j.eventually(func() error {
			left := j.kubectl("get", "websites,configmaps,deployments,pods", "--output=name", "--field-selector=metadata.name!=kube-root-ca.crt")
			if left != "" {
				return fmt.Errorf("want nothing left, got %s", strings.Fields(left))
			}
			return nil
		})
	})
}

func TestTheProgramServesTheSample(t *testing.T) {
	u := newUser(t)
	t.Setenv(clientcmd.RecommendedConfigPathEnvVar, os.Getenv(cluster.KubeconfigEnv))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error)
	go func() { ended <- run(ctx, u.namespace, slog.New(slog.NewTextHandler(t.Output(), nil))) }()
	u.kubectl("apply", "-f", "website.yaml")
	u.says("True", webv1alpha1.ReasonServing)
	u.eventually(func() error {
		if told := u.kubectl("get", "events", "--field-selector=involvedObject.kind=Website"); !strings.Contains(told, webv1alpha1.ReasonServing) {
			return fmt.Errorf("want an event Serving, got %s", told)
		}
		return nil
	})
	stop()
	if err := <-ended; err != nil {
		t.Errorf("want an end in order, got: %v", err)
	}
}

func TestTheDefinitionRefusesWhatCannotBeServed(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	tests := map[string]struct {
		name string
		spec webv1alpha1.WebsiteSpec
		want string
	}{
		"no page":         {"hello", webv1alpha1.WebsiteSpec{}, "spec.html"},
		"too long a page": {"hello", webv1alpha1.WebsiteSpec{HTML: strings.Repeat("x", 65537)}, "spec.html"},
		"too many pods":   {"hello", webv1alpha1.WebsiteSpec{HTML: "x", Replicas: 11}, "spec.replicas"},
		"fewer than none": {"hello", webv1alpha1.WebsiteSpec{HTML: "x", Replicas: -1}, "spec.replicas"},
		"too long a name": {strings.Repeat("x", 64), webv1alpha1.WebsiteSpec{HTML: "x"}, "use at most 63 characters"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			made := &webv1alpha1.Website{ObjectMeta: metav1.ObjectMeta{Name: tt.name}, Spec: tt.spec}
			_, err := u.websites.Create(t.Context(), made, metav1.CreateOptions{})
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want it refused for %s, got: %v", tt.want, err)
			}
		})
	}
}

func TestANewWebsiteIsPending(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.create("<h1>Hello</h1>")
	site, err := u.websites.Get(t.Context(), "hello", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading the Website: %v", err)
	}
	ready := site.Status.Conditions[0]
	if site.Spec.Replicas != 1 || ready.Type != "Ready" || ready.Status != "False" || ready.Reason != webv1alpha1.ReasonPending {
		t.Errorf("want one replica and Ready=False for Pending, got %+v", site)
	}
}

// firstWord is the first reason that the Website hello shows for a change.
func (u *user) firstWord(change func()) string {
	u.Helper()
	before := u.says("True", webv1alpha1.ReasonServing)
	watch, err := u.websites.Watch(u.Context(), metav1.ListOptions{
		ResourceVersion: before.ResourceVersion, TimeoutSeconds: new(int64(patience.Seconds())),
	})
	if err != nil {
		u.Fatalf("watching the Website: %v", err)
	}
	defer watch.Stop()
	change()
	for event := range watch.ResultChan() {
		site, ok := event.Object.(*webv1alpha1.Website)
		if ok && site.Status.ObservedGeneration > before.Status.ObservedGeneration {
			return site.Status.Conditions[0].Reason
		}
	}
	return ""
}

func (u *user) eventually(check func() error) {
	u.Helper()
	cluster.Eventually(u.T, patience, check)
}

func (u *user) deployment() *appsv1.Deployment {
	u.Helper()
	found, err := u.kube.AppsV1().Deployments(u.namespace).Get(u.Context(), "hello", metav1.GetOptions{})
	if err != nil {
		u.Fatalf("reading the Deployment: %v", err)
	}
	return found
}

func (u *user) page() *corev1.ConfigMap {
	u.Helper()
	found, err := u.kube.CoreV1().ConfigMaps(u.namespace).Get(u.Context(), "hello", metav1.GetOptions{})
	if err != nil {
		u.Fatalf("reading the ConfigMap: %v", err)
	}
	return found
}
