package process

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"polychrome.dev/controller/test/cluster"
)

// settledFor is how long a settled fleet is watched for requests.
const settledFor = 60 * time.Second

func TestSettledFleetOfTheShippedControllerGetsNoRequest(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	for i := range 50 {
		w.create(fmt.Sprintf("settled-%d", i))
	}
	if got := w.eventuallyAllReady(); got != 50 {
		t.Fatalf("want 50 ready, got %d", got)
	}
	w.eventuallyQuiet()
	mark := w.mark()
	timer := time.NewTimer(settledFor)
	defer timer.Stop()
	<-timer.C
	if asked := w.asked(mark); len(asked) != 0 {
		t.Errorf("want nothing but the lease and watches for %s, got %v", settledFor, asked)
	}
	for _, r := range w.asked(0) {
		if strings.HasSuffix(r, " 403") {
			t.Errorf("want no request refused under the shipped Role, got %s", r)
		}
	}
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Errorf("want SIGTERM to end it in order, got exit code %d", code)
	}

	mark = w.mark()
	p = w.start()
	w.eventuallyLogged(p, "looking at every object")
	w.eventuallyQuiet()
	for _, r := range w.asked(mark) {
		if !strings.HasPrefix(r, "list ") && !strings.HasPrefix(r, "get ") {
			t.Errorf("want no write after a restart, got %s", r)
		}
	}
	p.end(syscall.SIGTERM)
}

// eventuallyQuiet waits until the controller has asked nothing for 2 s.
func (w *world) eventuallyQuiet() {
	w.t.Helper()
	last, since := -1, time.Now()
	cluster.Eventually(w.t, settle, func() error {
		if now := len(w.asked(0)); now != last {
			last, since = now, time.Now()
		}
		if quiet := time.Since(since); quiet < 2*time.Second {
			return fmt.Errorf("the controller is at work: %d requests", last)
		}
		return nil
	})
}

func (w *world) eventuallyLogged(p *process, text string) {
	w.t.Helper()
	cluster.Eventually(w.t, settle, func() error {
		if !strings.Contains(p.log.String(), text) {
			return fmt.Errorf("the log does not say %q yet", text)
		}
		return nil
	})
}

func TestControllerKilledUnderChurnLosesNothing(t *testing.T) {
	w := newWorld(t)
	p := w.start("--leader-elect=false")
	for i := range 40 {
		w.create(fmt.Sprintf("churn-%d", i))
		if i%10 == 5 {
			p.end(syscall.SIGKILL)
			p = w.start("--leader-elect=false")
		}
	}
	if got := w.eventuallyAllReady(); got != 40 {
		t.Fatalf("want 40 ready, got %d", got)
	}
	convs, err := w.client.PolychromeV1alpha1().Conversations(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := w.client.AgentSandboxV1alpha1().SandboxClaims(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	addresses := map[string]string{}
	for _, claim := range claims.Items {
		addresses[claim.Name] = claim.Status.Sandbox.PodIPs[0]
	}
	for _, conv := range convs.Items {
		if conv.Status.PodIP != addresses[conv.Name] || len(conv.Finalizers) != 1 {
			t.Errorf("conversation %s: want address %s and one finalizer, got %s, %v",
				conv.Name, addresses[conv.Name], conv.Status.PodIP, conv.Finalizers)
		}
	}
	if len(claims.Items) != 40 {
		t.Errorf("want one claim each, got %d", len(claims.Items))
	}
}

func TestStandbyTakesOverWhenTheLeaderStops(t *testing.T) {
	w := newWorld(t)
	first := w.start()
	w.eventuallyLogged(first, "looking at every object")
	second := w.start()
	w.eventuallyLogged(second, "standing by")
	w.create("one")
	w.eventuallyAllReady()

	stopped := time.Now()
	if code := first.end(syscall.SIGTERM); code != 0 {
		t.Errorf("want exit code 0, got %d", code)
	}
	w.eventuallyLogged(second, "looking at every object")
	// Without the release the standby would wait for the lease to run out,
	// which takes 15 s.
	if took := time.Since(stopped); took > 12*time.Second {
		t.Errorf("want the lease released, got a hand-over after %s", took)
	}
	w.create("two")
	w.eventuallyAllReady()
}
