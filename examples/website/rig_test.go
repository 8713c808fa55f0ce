package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	webv1alpha1 "polychrome.dev/controller/examples/website/api/v1alpha1"
	"polychrome.dev/controller/examples/website/generated/clientset/versioned"
	webclient "polychrome.dev/controller/examples/website/generated/clientset/versioned/typed/api/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/cluster"
)

// patience bounds every wait of these tests.
const patience = 2 * time.Minute

// user is somebody with all rights in a namespace of a test's own.
type user struct {
	*testing.T
	config    *rest.Config
	namespace string
	kube      kubernetes.Interface
	objects   dynamic.Interface
	websites  webclient.WebsiteInterface
}

var define sync.Once

// newUser has the cluster know Websites, as README.md tells people to.
func newUser(t *testing.T) *user {
	t.Helper()
	config := cluster.Shared(t)
	define.Do(func() {
		cluster.Kubectl(t, "apply", "--server-side", "-f", "generated/crds")
		cluster.Kubectl(t, "wait", "--for=condition=Established", "crd/websites.web.example.com")
	})
	u := &user{T: t, config: config, namespace: cluster.Namespace(t, config)}
	u.kube = must(kubernetes.NewForConfig(config))
	u.objects = must(dynamic.NewForConfig(config))
	u.websites = must(versioned.NewForConfig(config)).WebV1alpha1().Websites(u.namespace)
	return u
}

// kubectl works in the user's namespace.
func (u *user) kubectl(args ...string) string {
	u.Helper()
	return cluster.Kubectl(u.T, append(args, "--namespace", u.namespace)...)
}

// create makes the Website hello.
func (u *user) create(html string) {
	u.Helper()
	made := &webv1alpha1.Website{ObjectMeta: metav1.ObjectMeta{Name: "hello"}, Spec: webv1alpha1.WebsiteSpec{HTML: html}}
	if _, err := u.websites.Create(u.Context(), made, metav1.CreateOptions{}); err != nil {
		u.Fatalf("creating the Website: %v", err)
	}
}

// says waits until the Website hello says something of its present spec.
func (u *user) says(status metav1.ConditionStatus, reason string) *webv1alpha1.Website {
	u.Helper()
	var site *webv1alpha1.Website
	cluster.Eventually(u.T, patience, func() (err error) {
		if site, err = u.websites.Get(u.Context(), "hello", metav1.GetOptions{}); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(site.Status.Conditions, framework.ConditionReady)
		if ready == nil || ready.ObservedGeneration != site.Generation || ready.Status != status || ready.Reason != reason {
			return fmt.Errorf("want Ready=%s for %s at generation %d, got %+v", status, reason, site.Generation, site.Status)
		}
		return nil
	})
	return site
}

// journey is a user and the controller beside, under the rights of rbac.yaml.
type journey struct {
	*user
	requests *frameworktest.Transport
	manager  *framework.Manager
}

func start(t *testing.T) *journey {
	t.Helper()
	j := &journey{user: newUser(t), requests: frameworktest.NewTransport()}
	config := rest.CopyConfig(j.config)
	config.Impersonate.UserName = j.serviceAccount()
	config.Wrap(j.requests.Wrap)
	j.manager = must(newManager(config, j.namespace, slog.New(slog.NewTextHandler(t.Output(), nil)), nil))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error)
	go func() { ended <- j.manager.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the controller ended with: %v", err)
		}
	})
	return j
}

// serviceAccount applies rbac.yaml to the namespace and names its account.
func (u *user) serviceAccount() string {
	u.Helper()
	rights := strings.ReplaceAll(string(must(os.ReadFile("rbac.yaml"))), "namespace: default", "namespace: "+u.namespace)
	file := filepath.Join(u.TempDir(), "rbac.yaml")
	if err := os.WriteFile(file, []byte(rights), 0o600); err != nil {
		u.Fatalf("writing the rights: %v", err)
	}
	u.kubectl("apply", "-f", file)
	return "system:serviceaccount:" + u.namespace + ":website-controller"
}

// settled waits until all news has reached the controller and it has nothing
// left to do.
func (j *journey) settled() {
	j.Helper()
	cluster.Eventually(j.T, patience, func() error {
		for _, cache := range j.manager.Caches() {
			list, err := j.objects.Resource(cache.Resource).Namespace(j.namespace).List(j.Context(), metav1.ListOptions{})
			if err != nil {
				return err
			}
			live := map[framework.Key]string{}
			for _, o := range list.Items {
				live[framework.Key{Namespace: o.GetNamespace(), Name: o.GetName()}] = o.GetResourceVersion()
			}
			if diff := cmp.Diff(live, cache.Versions); diff != "" {
				return fmt.Errorf("the cache of %s is behind (-live +cached):\n%s", cache.Resource.Resource, diff)
			}
		}
		if !j.manager.Idle() {
			return fmt.Errorf("the controller is at work")
		}
		return nil
	})
}

// applies does something and compares what the controller applied for it.
func (j *journey) applies(wantPages, wantDeployments int, do func()) {
	j.Helper()
	j.requests.Forget()
	do()
	j.settled()
	count := func(resource string) int {
		return j.requests.Count(frameworktest.By("apply"), frameworktest.On(resource))
	}
	if pages, deployments := count("configmaps"), count("deployments"); pages != wantPages || deployments != wantDeployments {
		j.Errorf("want %d applies of ConfigMaps and %d of Deployments, got %d and %d", wantPages, wantDeployments, pages, deployments)
	}
}

func must[V any](value V, err error) V {
	if err != nil {
		panic(fmt.Sprintf("setting up: %v", err))
	}
	return value
}
