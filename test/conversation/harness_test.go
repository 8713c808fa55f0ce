package conversation

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/reconcilers"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
)

// settle is how long the world may take to become as it should.
const settle = 60 * time.Second

func TestMain(m *testing.M) {
	flag.Parse()
	// These tests wait more than they work.
	if err := flag.Set("test.parallel", "5"); err != nil {
		panic(err)
	}
	framework.RouteKlog(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// world is one namespace, with a sandbox template, and the user's client.
type world struct {
	t      *testing.T
	config *rest.Config
	client versioned.Interface
	ns     string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	config := cluster.Shared(t)
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, config: config, client: client, ns: cluster.Namespace(t, config)}
	w.addTemplate(conversation.DefaultTemplate)
	return w
}

func (w *world) addTemplate(name string) {
	w.t.Helper()
	templates := schema.GroupVersionResource{Group: "extensions.agents.x-k8s.io", Version: "v1alpha1", Resource: "sandboxtemplates"}
	template := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "extensions.agents.x-k8s.io/v1alpha1", "kind": "SandboxTemplate",
		"metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"networkPolicyManagement": "Unmanaged",
			"podTemplate": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": "harness", "image": "registry.k8s.io/pause:3.10"}}}},
		},
	}}
	dyn, err := dynamic.NewForConfig(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := dyn.Resource(templates).Namespace(w.ns).Create(w.t.Context(), template, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// process is one life of the controller.
type process struct {
	stop func()
	idle func() bool
	// requests are what the controller asked.
	requests *frameworktest.Transport
}

// asks returns what the controller has asked so far, but for watches, events,
// and the look for a version of the claims' API that is not served.
func (p *process) asks() []string { return p.requested(frameworktest.Unary) }

// writes returns what was meant to change something, but for events.
func (p *process) writes() []string { return p.requested(frameworktest.Writes) }

func (p *process) requested(kind func(frameworktest.Request) bool) []string {
	var asked []string
	for _, r := range p.requests.Requests(kind) {
		absent := r.Resource == "" && r.Code == http.StatusNotFound
		if r.Resource != "events" && !absent {
			asked = append(asked, strings.TrimSpace(r.Verb+" "+r.Resource+" "+r.Name))
		}
	}
	return asked
}

// start runs a controller over the namespace until stop, or the test, ends.
func (w *world) start(o conversation.Options) *process {
	w.t.Helper()
	config := rest.CopyConfig(w.config)
	requests := frameworktest.NewTransport()
	config.Wrap(requests.Wrap)
	connections := framework.Connect(config)
	manager, err := framework.NewManager(framework.ManagerOptions{
		Names: framework.Names{
			Domain: polychromev1alpha1.GroupName, FieldManager: polychromev1alpha1.FieldManager,
			MetricPrefix: "polychrome", Component: "polychrome-controller",
		},
		Connections: connections,
		Log:         slog.New(slog.NewTextHandler(testWriter{w.t}, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	clients, err := reconcilers.NewClients(connections)
	if err != nil {
		w.t.Fatal(err)
	}
	o.Log = manager.Log
	idle := reconcilers.AddConversations(manager, clients, w.ns, 0, o)
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := manager.Run(ctx); err != nil {
			w.t.Errorf("running the controller: %v", err)
		}
	})
	stop := sync.OnceFunc(func() {
		cancel()
		ended.Wait()
	})
	w.t.Cleanup(stop)
	return &process{stop: stop, idle: idle, requests: requests}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(line []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(line)))
	return len(line), nil
}

func (w *world) create(name string, spec polychromev1alpha1.ConversationSpec) *polychromev1alpha1.Conversation {
	w.t.Helper()
	conv, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Create(w.t.Context(),
		&polychromev1alpha1.Conversation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatalf("creating conversation %s: %v", name, err)
	}
	return conv
}

func (w *world) get(name string) *polychromev1alpha1.Conversation {
	w.t.Helper()
	conv, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatalf("reading conversation %s: %v", name, err)
	}
	return conv
}

func (w *world) kube() kubernetes.Interface {
	w.t.Helper()
	client, err := kubernetes.NewForConfig(w.config)
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

// createForeignClaim makes a claim that belongs to nobody, or to others.
func (w *world) createForeignClaim(name string, owners ...metav1.OwnerReference) *agentsandboxv1alpha1.SandboxClaim {
	w.t.Helper()
	claim, err := w.client.AgentSandboxV1alpha1().SandboxClaims(w.ns).Create(w.t.Context(), &agentsandboxv1alpha1.SandboxClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "theirs"}, OwnerReferences: owners},
		Spec: agentsandboxv1alpha1.SandboxClaimSpec{
			SandboxTemplateRef: agentsandboxv1alpha1.SandboxTemplateRef{Name: conversation.DefaultTemplate},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatalf("creating foreign claim %s: %v", name, err)
	}
	return claim
}

// claim returns the claim of a name, or nil.
func (w *world) claim(name string) *agentsandboxv1alpha1.SandboxClaim {
	w.t.Helper()
	claim, err := w.client.AgentSandboxV1alpha1().SandboxClaims(w.ns).Get(w.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatalf("reading claim %s: %v", name, err)
	}
	return claim
}

// eventually waits until a conversation is as told, and returns it.
func (w *world) eventually(name, what string, holds func(*polychromev1alpha1.Conversation) bool) *polychromev1alpha1.Conversation {
	w.t.Helper()
	var conv *polychromev1alpha1.Conversation
	cluster.Eventually(w.t, settle, func() error {
		conv = w.get(name)
		if !holds(conv) {
			return fmt.Errorf("conversation %s is not %s: generation %d, deleting %t, status %+v",
				name, what, conv.Generation, conv.DeletionTimestamp != nil, conv.Status)
		}
		return nil
	})
	return conv
}

func (w *world) eventuallyReady(name string) *polychromev1alpha1.Conversation {
	w.t.Helper()
	return w.eventually(name, "ready", isReady)
}

func (w *world) eventuallyReason(name string, reason polychromev1alpha1.Reason) *polychromev1alpha1.Conversation {
	w.t.Helper()
	return w.eventually(name, string(reason), func(conv *polychromev1alpha1.Conversation) bool { return reasonOf(conv) == reason })
}

// eventuallyGone waits until neither conversation nor claim is left.
func (w *world) eventuallyGone(name string) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		conv, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Get(w.t.Context(), name, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("conversation %s is still there, finalizers %v", name, conv.Finalizers)
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		if claim := w.claim(name); claim != nil {
			return fmt.Errorf("claim %s is still there", name)
		}
		return nil
	})
}

// eventuallyIdle waits until the controller has nothing left to do.
func (w *world) eventuallyIdle(p *process) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		if !p.idle() {
			return fmt.Errorf("the controller is at work")
		}
		return nil
	})
}

// patchStatus is the control plane: it writes status fields beside ours.
func (w *world) patchStatus(name, status string) {
	w.t.Helper()
	_, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Patch(w.t.Context(), name, "application/merge-patch+json",
		[]byte(`{"status":`+status+`}`), metav1.PatchOptions{}, "status")
	if err != nil {
		w.t.Fatalf("patching the status of %s: %v", name, err)
	}
}

func (w *world) patchClaim(name, patch string) {
	w.t.Helper()
	_, err := w.client.AgentSandboxV1alpha1().SandboxClaims(w.ns).Patch(w.t.Context(), name, "application/merge-patch+json",
		[]byte(patch), metav1.PatchOptions{})
	if err != nil {
		w.t.Fatalf("patching claim %s: %v", name, err)
	}
}

func (w *world) patch(name, patch string) {
	w.t.Helper()
	_, err := w.client.PolychromeV1alpha1().Conversations(w.ns).Patch(w.t.Context(), name, "application/merge-patch+json",
		[]byte(patch), metav1.PatchOptions{})
	if err != nil {
		w.t.Fatalf("patching conversation %s: %v", name, err)
	}
}

func (w *world) delete(name string) {
	w.t.Helper()
	if err := w.client.PolychromeV1alpha1().Conversations(w.ns).Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatalf("deleting conversation %s: %v", name, err)
	}
}

func (w *world) deleteClaim(name string) {
	w.t.Helper()
	if err := w.client.AgentSandboxV1alpha1().SandboxClaims(w.ns).Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatalf("deleting claim %s: %v", name, err)
	}
}

func isReady(conv *polychromev1alpha1.Conversation) bool {
	return meta.IsStatusConditionTrue(conv.Status.Conditions, string(polychromev1alpha1.ConditionReady)) &&
		conv.Status.HarnessReady && conv.Status.PodIP != ""
}

func reasonOf(conv *polychromev1alpha1.Conversation) polychromev1alpha1.Reason {
	ready := meta.FindStatusCondition(conv.Status.Conditions, string(polychromev1alpha1.ConditionReady))
	if ready == nil {
		return ""
	}
	return polychromev1alpha1.Reason(ready.Reason)
}
