package conversation

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/google/go-cmp/cmp"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
	"polychrome.dev/controller/reconcilers"
	"polychrome.dev/controller/reconcilers/conversation"
	"polychrome.dev/controller/test/cluster"
)

// scenes are what a stepped clock and an operator that does as it is told
// make certain. They share a control plane, each in a namespace of its own.
var scenes = []struct {
	subject string
	acts    map[string]func(*scene)
}{
	{"races", races},
	{"stamps", stamps},
	{"held claims", heldClaims},
	{"late watches", lateWatches},
	{"slots", slotScenes},
	{"names", nameScenes},
	{"claim status", claimStatuses},
	{"rolls", rollScenes},
	{"units", unitScenes},
}

func TestScenes(t *testing.T) {
	t.Parallel()
	config := startBare(t)
	for _, of := range scenes {
		t.Run(of.subject, func(t *testing.T) {
			t.Parallel()
			for name, play := range of.acts {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					play(newScene(t, config))
				})
			}
		})
	}
}

// startBare starts a control plane with the definitions alone.
func startBare(t *testing.T) *rest.Config {
	t.Helper()
	return cluster.Start(t, cluster.Options{
		CRDDirs: []string{cluster.ProjectCRDs(t), filepath.Dir(claimCRD(t))}, APIOnly: true,
	}).Config()
}

// scene is a namespace in which time stands until it is stepped, and in which
// nobody does anything that the test does not say.
type scene struct {
	player
	t        *testing.T
	metadata metadata.Interface
}

func newScene(t *testing.T, config *rest.Config) *scene {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := kube.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "scene-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	live, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, player: player{client: client, Run: frameworktest.Run{
		Name: t.Name(), Namespace: namespace.Name, Config: config, Live: live, Clock: frameworktest.NewClock(),
	}}}
	if s.metadata, err = metadata.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	return s
}

// life is one life of the controller in a scene.
type life struct {
	*scene
	faults  *frameworktest.Transport
	manager *framework.Manager
	events  chan string
	stop    func()
}

// start runs the controller until stop, or the test, ends. It settles.
func (s *scene) start(o conversation.Options) *life {
	s.t.Helper()
	l := s.enter(o, frameworktest.NewTransport())
	l.settle()
	return l
}

// enter is start over a transport, without settling.
func (s *scene) enter(o conversation.Options, faults *frameworktest.Transport) *life {
	s.t.Helper()
	config := rest.CopyConfig(s.Config)
	config.Wrap(faults.Wrap)
	connections := framework.Connect(config)
	// A recorder that is full holds passes up.
	events := record.NewFakeRecorder(10_000)
	manager, err := framework.NewManager(framework.ManagerOptions{
		Names: framework.Names{
			Domain: polychromev1alpha1.GroupName, FieldManager: polychromev1alpha1.FieldManager,
			MetricPrefix: "polychrome", Component: "polychrome-controller",
		},
		Connections: connections, Clock: s.Clock, Events: events, Log: slog.New(slog.NewTextHandler(testWriter{s.t}, nil)),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	clients, err := reconcilers.NewClients(connections)
	if err != nil {
		s.t.Fatal(err)
	}
	o.Now, o.Log = s.Clock.Now, manager.Log
	reconcilers.AddConversations(manager, clients, s.Namespace, 0, o)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := manager.Run(ctx); err != nil {
			s.t.Errorf("running the controller: %v", err)
		}
	})
	l := &life{scene: s, faults: faults, manager: manager, events: events.Events, stop: sync.OnceFunc(func() {
		cancel()
		ended.Wait()
	})}
	s.t.Cleanup(l.stop)
	return l
}

func (l *life) settle() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), settle)
	defer cancel()
	if err := frameworktest.Settle(ctx, l.manager, l.Clock, l.metadata); err != nil {
		l.t.Fatal(err)
	}
}

// plays takes the steps, and settles after each.
func (l *life) plays(steps ...frameworktest.Step) {
	l.t.Helper()
	for _, step := range steps {
		l.meanwhile(step)
		l.settle()
	}
}

// meanwhile takes the steps while nobody settles.
func (s *scene) meanwhile(steps ...frameworktest.Step) {
	s.t.Helper()
	for _, step := range steps {
		if err := step.Do(s.t.Context()); err != nil {
			s.t.Fatalf("%s: %v", step.Name, err)
		}
	}
}

// until is the step of the clock to a time in Unix seconds.
func (s *scene) until(unix int64) frameworktest.Step {
	return s.step("time", func(context.Context) error {
		s.Clock.StepTo(time.Unix(unix, 0))
		return nil
	})
}

// nudges brings a pass that nothing else asks for.
func (s *scene) nudges(name string) frameworktest.Step {
	return s.edits(name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.test/nudged": s.Clock.Now().String()}}})
}

// meets waits until a fault has happened to a request.
func (s *scene) meets(fault *frameworktest.Injected) {
	s.t.Helper()
	cluster.Eventually(s.t, settle, func() error {
		if fault.Hits() == 0 {
			return fmt.Errorf("no request has met the fault")
		}
		return nil
	})
}

// finds fails unless that is what there is; see player.left.
func (s *scene) finds(want ...string) {
	s.t.Helper()
	if err := s.leaves(want).Do(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

// conv reads a conversation.
func (s *scene) conv(name string) *polychromev1alpha1.Conversation {
	s.t.Helper()
	conv, err := s.client.PolychromeV1alpha1().Conversations(s.Namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return conv
}

// unit reads a claim.
func (s *scene) unit(name string) *agentsandboxv1alpha1.SandboxClaim {
	s.t.Helper()
	claim, err := s.client.AgentSandboxV1alpha1().SandboxClaims(s.Namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return claim
}

// asked renders what the controller has asked, but for watches.
func (l *life) asked(filters ...func(frameworktest.Request) bool) []string {
	var asked []string
	for _, r := range l.faults.Requests(append(filters, frameworktest.Unary)...) {
		asked = append(asked, strings.TrimSpace(fmt.Sprint(r.Verb, " ", r.Resource, " ", r.Name, " ", r.Path)))
	}
	return asked
}

// rests steps the clock often, and fails if the controller asks for anything
// but watches meanwhile.
func (l *life) rests(steps int, each time.Duration) {
	l.t.Helper()
	l.faults.Forget()
	for range steps {
		l.plays(l.waits(each))
	}
	if diff := cmp.Diff([]string(nil), l.asked(aboutObjects)); diff != "" {
		l.t.Errorf("requests in %d times %s (-want +got):\n%s", steps, each, diff)
	}
}

// aboutObjects leaves out discovery.
func aboutObjects(r frameworktest.Request) bool { return r.Resource != "" }

// told takes the events that came so far, those with a word.
func (l *life) told(word string) []string {
	var told []string
	for {
		select {
		case event := <-l.events:
			told = append(told, event)
		default:
			return slices.DeleteFunc(told, func(event string) bool { return !strings.Contains(event, word) })
		}
	}
}
