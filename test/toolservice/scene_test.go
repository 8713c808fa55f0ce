package toolservice

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/generated/clientset/versioned"
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

// scene is a namespace in which time stands until it is stepped, and the
// servers around it.
type scene struct {
	player
	t        *testing.T
	metadata metadata.Interface
	// access is the controller's way to the API server.
	access *rest.Config
}

func newScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	config := cluster.Shared(t)
	s := &scene{t: t, access: config}
	s.Run = frameworktest.Run{Name: t.Name(), Namespace: cluster.Namespace(t, config), Config: config, Clock: frameworktest.NewClock()}
	s.servers = newServers()
	var err error
	if s.Live, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if s.client, err = versioned.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if s.kube, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if s.metadata, err = metadata.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	return s
}

// life is one life of the controller in a scene.
type life struct {
	*scene
	requests *frameworktest.Transport
	manager  *framework.Manager
	idle     func() bool
	events   chan string
	log      *transcript
	stop     func()
}

// start runs the controller until stop, or the test, ends. It settles, and
// forgets what was asked for that.
func (s *scene) start() *life {
	s.t.Helper()
	config := rest.CopyConfig(s.access)
	l := &life{scene: s, requests: frameworktest.NewTransport(), log: &transcript{}}
	config.Wrap(l.requests.Wrap)
	// A recorder that is full holds passes up.
	events := record.NewFakeRecorder(10_000)
	l.events = events.Events
	var err error
	l.manager, l.idle, err = program(config, s.Clock, s.Namespace, s.servers, events, slog.New(slog.NewTextHandler(l.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := l.manager.Run(ctx); err != nil {
			s.t.Errorf("running the controller: %v", err)
		}
	})
	l.stop = sync.OnceFunc(func() {
		cancel()
		ended.Wait()
	})
	s.t.Cleanup(l.stop)
	l.settle()
	l.requests.Forget()
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

// finds fails unless that is what there is; see player.left.
func (s *scene) finds(want ...string) {
	s.t.Helper()
	if err := s.leaves(want).Do(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

func (s *scene) get(name string) *polychromev1alpha1.ToolService {
	s.t.Helper()
	ts, err := s.client.PolychromeV1alpha1().ToolServices(s.Namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return ts
}

// asked renders what the controller has asked of objects, but for watches.
func (l *life) asked() []string {
	var asked []string
	for _, r := range l.requests.Requests(frameworktest.Unary, func(r frameworktest.Request) bool { return r.Resource != "" }) {
		asked = append(asked, fmt.Sprint(r.Verb, " ", r.Resource, " ", r.Name))
	}
	return asked
}

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

// eventually waits until something holds, while the controller works.
func (s *scene) eventually(what string, holds func() bool) {
	s.t.Helper()
	cluster.Eventually(s.t, settle, func() error {
		if !holds() {
			return fmt.Errorf("it does not hold that %s", what)
		}
		return nil
	})
}

func conditionOf(ts *polychromev1alpha1.ToolService, kind string) string {
	c := meta.FindStatusCondition(ts.Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

// transcript is a log that is read while it is written.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *transcript) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(line)
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
