package toolservice

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// canary is a token; it must be seen nowhere.
const canary = "canary-9d02"

// interval is enough for the next probe of a healthy server, whatever its
// jitter.
const interval = 67 * time.Second

func TestAHealthyServerIsListed(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.serves("weather", lists("forecast", "alerts")), s.makes("weather"))
	s.finds("weather Ready True CatalogListed True ServerResponds alerts,forecast")
	ts := s.get("weather")
	want := polychromev1alpha1.ServerInfo{Name: "tools", Version: "1.2", ProtocolVersion: "2025-11-25"}
	if diff := cmp.Diff(&want, ts.Status.ServerInfo); diff != "" {
		t.Errorf("server (-want +got):\n%s", diff)
	}
	if !ts.Status.Ready || ts.Status.ToolCount != 2 || ts.Status.Truncated || ts.Status.CatalogHash == "" || ts.Status.Message != "" ||
		ts.Status.ObservedGeneration != 1 || ts.Finalizers[0] != polychromev1alpha1.ToolServiceFinalizer {
		t.Errorf("got %v, %+v", ts.Finalizers, ts.Status)
	}
	if got := l.asked(); !cmp.Equal(got, []string{"patch toolservices weather", "patch toolservices/status weather"}) {
		t.Errorf("want two writes, got %v", got)
	}
	l.requests.Forget()
	for range 5 {
		l.plays(s.waits(interval))
	}
	if got := l.asked(); len(got) > 0 || len(s.servers.probes("weather")) != 6 {
		t.Errorf("want a probe each interval and no request, got %d, %v", len(s.servers.probes("weather")), got)
	}
}

func TestAServerThatCannotBeReached(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("weather"))
	s.finds("weather Unreachable False ConnectionRefused False ConnectionRefused")
	l.plays(s.serves("weather", lists("forecast")), s.waits(6*time.Second))
	s.finds("weather Ready True CatalogListed True ServerResponds forecast")
	l.plays(s.serves("weather", nil), s.waits(interval), s.waits(6*time.Second))
	s.finds("weather Ready True CatalogListed True ServerResponds forecast")
	l.plays(s.waits(12 * time.Second))
	s.finds("weather Unreachable False ConnectionRefused False ConnectionRefused forecast")
	l.plays(s.serves("weather", fails(polychromev1alpha1.ReasonAuthRequired)), s.waits(24*time.Second))
	s.finds("weather Degraded False AuthRequired True AuthRequired forecast")
	l.plays(s.serves("weather", asksForPatience(10*time.Minute)), s.waits(interval))
	s.finds("weather Degraded False RateLimited True RateLimited forecast")
	l.plays(s.serves("weather", lists("forecast")), s.waits(9*time.Minute))
	s.finds("weather Degraded False RateLimited True RateLimited forecast")
	l.plays(s.waits(3 * time.Minute))
	s.finds("weather Ready True CatalogListed True ServerResponds forecast")
}

func TestASpecThatIsWrong(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.makes("weather", func(ts *polychromev1alpha1.ToolService) { ts.Spec.Remotes = nil }))
	s.finds("weather Invalid False NoRemote False NoRemote")
	if got := conditionOf(s.get("weather"), "Stalled"); got != "True NoRemote" {
		t.Errorf("want it Stalled, got %q", got)
	}
	l.requests.Forget()
	l.plays(s.waits(time.Hour))
	if got := l.asked(); len(got) > 0 {
		t.Errorf("want nothing done, got %v", got)
	}
	l.plays(s.serves("weather", lists("forecast")), s.moves("weather", "weather"))
	s.finds("weather Ready True CatalogListed True ServerResponds forecast")
	if got := conditionOf(s.get("weather"), "Stalled"); got != "" {
		t.Errorf("want it Stalled no more, got %q", got)
	}
}

func TestToolsThatChange(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.serves("weather", lists("a", "b")), s.makes("weather"))
	before := s.get("weather").Status.CatalogHash
	if got := l.told("ToolsChanged"); len(got) > 0 {
		t.Errorf("want no event of the first list, got %v", got)
	}
	l.plays(s.serves("weather", lists("b", "c")), s.waits(interval))
	s.finds("weather Ready True CatalogListed True ServerResponds b,c")
	if got := l.told("ToolsChanged"); len(got) != 1 || !strings.HasPrefix(got[0], "Normal ") || !strings.HasSuffix(got[0], `added "c"; removed "a"`) {
		t.Errorf("want one event that names both, got %v", got)
	}
	if s.get("weather").Status.CatalogHash == before {
		t.Error("the hash has not changed")
	}
	rogue := tool("c")
	rogue.DestructiveHint = new(true)
	l.plays(s.serves("weather", offers(tool("b"), rogue)), s.waits(interval))
	if got := l.told("ToolsChanged"); len(got) != 1 || !strings.HasPrefix(got[0], "Warning ") || !strings.Contains(got[0], `now destructive "c"`) {
		t.Errorf("want one Warning, got %v", got)
	}
	// The same change once more is news again.
	l.plays(s.serves("weather", lists("b", "c")), s.waits(interval), s.serves("weather", offers(tool("b"), rogue)), s.waits(interval))
	if got := l.told("Warning"); len(got) != 1 {
		t.Errorf("want one more Warning, got %v", got)
	}
}

func TestALargeCatalogueIsStoredAndLeftAlone(t *testing.T) {
	s := newScene(t)
	l := s.start()
	var tools []probe.Tool
	for i := range 400 {
		large := tool(fmt.Sprintf("tool-%03d", i))
		large.Description = strings.Repeat("ö<", 300)
		large.InputSchema = json.RawMessage(`{"type":"object","x":"` + strings.Repeat("<", 2000) + `"}`)
		tools = append(tools, large)
	}
	l.plays(s.serves("weather", offers(tools...)), s.makes("weather"))
	ts := s.get("weather")
	if len(ts.Status.Tools) != 256 || ts.Status.ToolCount != 400 || !ts.Status.Truncated || !ts.Status.Ready {
		t.Errorf("got %d of %d, truncated %t, %s", len(ts.Status.Tools), ts.Status.ToolCount, ts.Status.Truncated, conditionOf(ts, "Ready"))
	}
	l.requests.Forget()
	l.plays(s.waits(interval), s.waits(interval))
	if got := l.asked(); len(got) > 0 {
		t.Errorf("want it left alone, got %v", got)
	}
}

func TestTheLifeOfASecret(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.serves("weather", needs("first")), s.makes("weather", bearer("weather-token")))
	s.finds("weather Degraded False SecretNotFound Unknown SecretNotFound")
	l.plays(s.hides("weather-token", corev1.SecretTypeOpaque, map[string]string{"other": "first"}), s.waits(6*time.Second))
	if got := s.get("weather").Status.Message; got != "the Secret weather-token has no key token; put the token there" {
		t.Errorf("got the message %q", got)
	}
	l.plays(s.hides("weather-token", corev1.SecretTypeOpaque, map[string]string{"token": "first"}), s.waits(12*time.Second))
	s.finds("weather Ready True CatalogListed True ServerResponds search")
	if n := len(s.servers.probes("weather")); n != 1 {
		t.Errorf("want nobody asked without a token, got %d probes", n)
	}
	l.plays(s.serves("weather", needs("second")), s.hides("weather-token", corev1.SecretTypeOpaque, map[string]string{"token": "second"}))
	l.requests.Forget()
	l.plays(s.waits(interval))
	s.finds("weather Ready True CatalogListed True ServerResponds search")
	if got := l.asked(); !cmp.Equal(got, []string{"get secrets weather-token"}) {
		t.Errorf("want one read for one probe, got %v", got)
	}
	asked := len(s.servers.probes("weather"))
	l.plays(s.hides("weather-token", corev1.SecretTypeServiceAccountToken, map[string]string{"token": "third"}), s.waits(interval))
	s.finds("weather Invalid False ReservedSecret False ReservedSecret search")
	if n := len(s.servers.probes("weather")); n != asked {
		t.Errorf("want nobody asked with a service account's token, got %d probes", n-asked)
	}
}

func TestTheTokenIsSeenNowhere(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(
		s.hides("weather-token", corev1.SecretTypeOpaque, map[string]string{"token": canary}),
		s.serves("weather", needs(canary)), s.makes("weather", bearer("weather-token")),
		s.serves("weather", nil), s.waits(interval), s.waits(6*time.Second), s.waits(12*time.Second),
		s.hides("weather-token", corev1.SecretTypeOpaque, map[string]string{"other": canary}), s.waits(24*time.Second),
		s.hides("weather-token", corev1.SecretTypeOpaque, map[string]string{"token": canary + " " + canary}), s.waits(48*time.Second),
	)
	if probes := s.servers.probes("weather"); probes[0].Token != canary {
		t.Fatal("the token was not sent")
	}
	why, err := l.manager.Why("toolservice", framework.Key{Namespace: s.Namespace, Name: "weather"})
	if err != nil {
		t.Fatal(err)
	}
	told := l.told("")
	seen, err := json.Marshal([]any{s.get("weather"), told, l.log.String(), why})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) < 3 || len(why.Decisions) < 3 || strings.Contains(string(seen), canary) {
		t.Errorf("%d events, %d decisions; the token is seen: %s", len(told), len(why.Decisions), seen)
	}
}

func TestDeletion(t *testing.T) {
	s := newScene(t)
	released := make(chan struct{})
	defer close(released)
	l := s.start()
	l.plays(s.serves("weather", lists("forecast")), s.makes("weather"), s.deletes("weather"))
	s.finds()
	// One whose probe hangs goes at once all the same.
	s.meanwhile(s.serves("slow", hangs(released)), s.makes("slow"))
	s.eventually("the probe hangs", func() bool { return len(s.servers.probes("slow")) == 1 && !l.idle() })
	s.meanwhile(s.deletes("slow"))
	s.eventually("it is gone", func() bool {
		_, err := s.client.PolychromeV1alpha1().ToolServices(s.Namespace).Get(t.Context(), "slow", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	l.settle()
}

func TestTheAnnotationAsksForAProbe(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.serves("weather", lists("forecast")), s.makes("weather"), s.serves("weather", lists("radar")))
	l.requests.Forget()
	l.plays(s.annotates("weather", "example.test/other", "1"))
	s.finds("weather Ready True CatalogListed True ServerResponds forecast")
	l.plays(s.annotates("weather", polychromev1alpha1.ProbeAnnotation, "1"))
	s.finds("weather Ready True CatalogListed True ServerResponds radar")
	if n := len(s.servers.probes("weather")); n != 2 {
		t.Errorf("want two probes, got %d", n)
	}
}

func TestASpecEditWhileAProbeHangs(t *testing.T) {
	s := newScene(t)
	released := make(chan struct{})
	l := s.start()
	s.meanwhile(s.serves("old", hangs(released)), s.serves("new", lists("fresh")), s.makes("old"))
	s.eventually("the probe hangs", func() bool { return len(s.servers.probes("old")) == 1 })
	s.meanwhile(s.moves("old", "new"))
	l.settle()
	s.finds("old Ready True CatalogListed True ServerResponds fresh")
	close(released)
	l.settle()
	s.finds("old Ready True CatalogListed True ServerResponds fresh")
	if got := s.get("old").Status.ObservedGeneration; got != 2 {
		t.Errorf("want generation 2 observed, got %d", got)
	}
}

func TestAPausedToolServiceIsNotProbed(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.serves("weather", lists("forecast")), s.makes("weather"), s.annotates("weather", polychromev1alpha1.PausedAnnotation, "true"))
	for range 3 {
		l.plays(s.waits(interval))
	}
	if n := len(s.servers.probes("weather")); n != 1 {
		t.Errorf("want no probe while it is paused, got %d", n-1)
	}
	l.plays(s.annotates("weather", polychromev1alpha1.PausedAnnotation, "false"))
	if n := len(s.servers.probes("weather")); n != 2 {
		t.Errorf("want the probe made up for at once, got %d", n-1)
	}
}

func TestARestart(t *testing.T) {
	s := newScene(t)
	l := s.start()
	l.plays(s.serves("weather", lists("forecast")), s.makes("weather"))
	l.stop()
	s.servers.set("weather", nil)
	l = s.start()
	before := len(s.servers.probes("weather"))
	l.plays(s.waits(61 * time.Second))
	if n := len(s.servers.probes("weather")) - before; n != 1 || len(l.asked()) != 0 {
		t.Errorf("want one probe in the first interval and no request, got %d, %v", n, l.asked())
	}
	s.finds("weather Ready True CatalogListed True ServerResponds forecast")
	l.plays(s.waits(6*time.Second), s.waits(12*time.Second))
	s.finds("weather Unreachable False ConnectionRefused False ConnectionRefused forecast")
}
