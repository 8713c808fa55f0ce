package framework

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"polychrome.dev/controller/framework/drift"
)

// ticking is a clock that moves while it is looked at, as real ones do.
type ticking struct {
	clock.WithTicker
	mu  sync.Mutex
	now time.Time
}

func (c *ticking) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}
func (c *ticking) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func TestAPacedKeyWhoseTurnComesDuringItsPassIsNotLost(t *testing.T) {
	s := &scripted{plan: Plan[string]{Actions: []string{"a"}}}
	w := newPassWorld(t, s)
	c := &ticking{WithTicker: testclock.NewFakeClock(time.Unix(1000, 0)), now: time.Unix(1000, 0)}
	w.loop.clock = c
	key := keyOf(w.svc)
	w.loop.pacer.begin(key)
	w.loop.pacer.turns[key] = c.now.Add(2 * time.Millisecond) // its turn is 1 ms after beats looks
	out := w.run(t)
	if out.paced && out.wait <= 0 {
		t.Errorf("want a paced pass to come back, got paced=%t wait=%s: after(key, 0) is never", out.paced, out.wait)
	}
}

func TestAPacedOutcomeWithoutWaitComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := runLoop(t, func(pass int) outcome { return outcome{paced: pass == 1} })
		w.event()
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := w.count(); got != 2 {
			t.Errorf("want the key looked at again, got %d passes", got)
		}
	})
}

func TestPausedGoesThoughThePassIsTerminal(t *testing.T) {
	s := &scripted{plan: Plan[string]{Actions: []string{"a"}},
		act: func(string) (Result, error) { return Result{}, Terminal("Bad", "no") }}
	w := newPassWorld(t, s)
	w.svc.Status.Conditions = []metav1.Condition{
		{Type: ConditionPaused, Status: metav1.ConditionTrue, Reason: ReasonPausedByAnnotation},
		{Type: ConditionHotLoop, Status: metav1.ConditionTrue, Reason: ReasonFlapping},
	}
	var got *corev1.Service
	patch := w.client.patch
	w.client.patch = func(name string, pt types.PatchType, body []byte, sub ...string) (*corev1.Service, error) {
		out, err := patch(name, pt, body, sub...)
		got = out
		return out, err
	}
	w.run(t)
	for _, kind := range []string{ConditionPaused, ConditionHotLoop} {
		if got == nil || meta.IsStatusConditionTrue(got.Status.Conditions, kind) {
			t.Errorf("want %s gone: neither paused nor hot, and no other pass will come", kind)
		}
	}
}

func TestADroppedFieldHidesNoRemoval(t *testing.T) {
	s := &scripted{}
	w := newPassWorld(t, s)
	w.svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "1.1.1.1", Hostname: "old"}}
	w.Resource.learn("status.loadBalancer.ingress[].ipMode")
	mode := corev1.LoadBalancerIPModeVIP
	s.status = func(svc *corev1.Service, _ []Done[string]) *corev1.Service {
		svc = svc.DeepCopy()
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "1.1.1.1", IPMode: &mode}}
		return svc
	}
	// SchemaSkew is said already.
	list := prunedCondition([]string{"status.loadBalancer.ingress[1.1.1.1].ipMode"})
	list[0].ObservedGeneration, list[0].LastTransitionTime = 3, metav1.Unix(900, 0)
	w.svc.Status.Conditions = list
	w.run(t)
	if len(w.client.requests) == 0 {
		t.Error("want the hostname removed from the stored status, got no write at all")
	}
}

func TestAKeyThatHasWrittenMuchAndIsDoneIsNoHotLoop(t *testing.T) {
	w := newPassWorld(t, &scripted{})
	out := w.pass(t.Context(), keyOf(w.svc), visit{flapping: []string{"Service svc: spec.ports"}})
	if out.err != nil || len(w.client.requests) != 0 {
		t.Errorf("want a pass that has nothing to write left alone, got %v and %v", out.err, w.client.requests)
	}
}

func TestWhatIsDroppedWithinAMapIsKnownAgain(t *testing.T) {
	for _, key := range []string{"plain", "example.com/gpu"} {
		var s skew
		sent := map[string]any{"pools": map[string]any{key: map[string]any{"name": "a", "unit": "y"}}}
		have := map[string]any{"pools": map[string]any{key: map[string]any{"name": "a"}}}
		for _, path := range pruned("status", sent, have) {
			s.learn(path)
		}
		paths := drift.Missing(map[string]any{"status": sent}, map[string]any{"status": have})
		if got := s.dropped(paths); len(got) != 1 {
			t.Errorf("key %q: want %v known to be dropped, got %v; learnt %v", key, paths, got, s.lacks)
		}
	}
}

func TestANewsWhileHeldEndsPacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := testLoop(1)
		id := identity{uid: "u", generation: 1}
		l.keys[thing] = &keyState{failed: id, failures: 1, notBefore: time.Now().Add(time.Second)}
		l.pacer.begin(thing)
		l.pacer.next = time.Now().Add(time.Hour)
		if _, held := l.admit(thing, id, sourceCause(0)); !held {
			t.Fatal("want it held")
		}
		time.Sleep(2 * time.Second)
		v, held := l.admit(thing, id, 0)
		if held || v.causes != sourceCause(0) {
			t.Fatal("want it run for the change")
		}
		if wait := l.turn(thing); wait > 0 {
			t.Errorf("want new work never paced, got a wait of %s", wait)
		}
		l.queue.ShutDown()
	})
}

func TestAFailedPassIsStillPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := testLoop(1)
		id := identity{uid: "u", generation: 1}
		l.pacer.begin(thing)
		l.settle(thing, id, visit{}, outcome{err: errNoRoute})
		if l.pacer.wait(l.clock.Now(), thing); l.pacer.pending() == 0 {
			t.Error("want a settled object whose first look failed still paced")
		}
		l.queue.ShutDown()
	})
}

func TestAPreviewOfAConvergedSkewedObjectChangesNothing(t *testing.T) {
	s := &scripted{}
	w := newPassWorld(t, s)
	w.Resource.learn("status.loadBalancer")
	s.status = func(svc *corev1.Service, _ []Done[string]) *corev1.Service {
		svc = svc.DeepCopy()
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "1.1.1.1"}}
		return svc
	}
	list := prunedCondition([]string{"status.loadBalancer.ingress"})
	list[0].ObservedGeneration, list[0].LastTransitionTime = 3, metav1.Unix(900, 0)
	w.svc.Status.Conditions = list
	w.run(t)
	if len(w.client.requests) != 0 {
		t.Fatalf("want it converged, got %v", w.client.requests)
	}
	p := w.previews(t.Context(), func(Key) bool { return true })[0]
	if p.Changes() {
		t.Errorf("want no change foreseen, got %v", p.Status)
	}
}

func TestPausedWritesNoVerdict(t *testing.T) {
	s := &scripted{observe: func() error { return Terminal("Bad", "no") }}
	w := newPassWorld(t, s)
	w.svc.Annotations = map[string]string{w.pausedBy: "true"}
	w.run(t)
	for _, r := range w.client.requests {
		t.Logf("%s", r)
	}
	if len(w.client.requests) != 1 || !strings.Contains(w.client.requests[0], `"Paused"`) || strings.Contains(w.client.requests[0], `"Ready"`) {
		t.Error("want Paused said and nothing else written")
	}
}

func TestDeletionEndsATerminalVerdictWithoutGenerations(t *testing.T) {
	w := newPassWorld(t, &scripted{})
	w.svc.Generation = 0 // Services, ConfigMaps, Secrets have none
	before, _ := w.identify(keyOf(w.svc))
	now := metav1.Now()
	w.svc.DeletionTimestamp = &now
	if after, _ := w.identify(keyOf(w.svc)); after == before {
		t.Error("want a deletion to be new input: the finalizer is held for ever after a terminal verdict")
	}
}

func TestADeadlineIsExactWhileARewriteWaitsItsTurn(t *testing.T) {
	s := &scripted{plan: Plan[string]{Actions: []string{"rewrite"}, Wait: time.Minute}}
	w := newPassWorld(t, s)
	w.loop.pacer.begin(keyOf(w.svc))
	w.loop.pacer.next = w.clock.Now().Add(30 * time.Minute)
	if out := w.run(t); !out.paced || out.wait != time.Minute {
		t.Errorf("want a look at the deadline in a minute, got paced=%t wait=%s", out.paced, out.wait)
	}
}

func TestActionsThatLimitThemselvesDoNotWaitForATurn(t *testing.T) {
	acted := 0
	s := &scripted{plan: Plan[string]{Actions: []string{"roll"}, Unpaced: true},
		act: func(string) (Result, error) { acted++; return Result{}, nil }}
	w := newPassWorld(t, s)
	w.loop.pacer.begin(keyOf(w.svc))
	w.loop.pacer.next = w.clock.Now().Add(30 * time.Minute)
	if out := w.run(t); out.paced || acted != 1 {
		t.Errorf("want the action carried out at once, got paced=%t and %d actions", out.paced, acted)
	}
}

func TestAPassThatOutlivesItsLifeLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *loopWorld
		w = runLoop(t, func(pass int) outcome {
			if pass > 1 {
				return outcome{}
			}
			w.reset() // the API went while the pass was in flight
			return outcome{err: Terminal("Bad", "as seen in the old life")}
		})
		w.event()
		w.event() // the API is back, and every object is looked at
		if got := w.count(); got != 2 {
			t.Errorf("want the verdict to die with the life, got %d passes", got)
		}
	})
}

func TestAHotKeyThatFailsKeepsItsSlowPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := runLoop(t, func(pass int) outcome {
			if pass == 1 {
				return outcome{err: errFlapping}
			}
			return outcome{err: errNoRoute, touches: []touch{{target: "x", mark: mark{uid: "x", version: "1"}}}}
		})
		w.event()
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := w.count(); got > 30 {
			t.Errorf("want a pass every five minutes while it is hot, got %d in an hour", got)
		}
	})
}

func TestARepeatedVersionIsNoNews(t *testing.T) {
	a := &activity{}
	a.disturbed(time.Unix(0, 0), 1)
	a.wrote([]touch{{target: "x", mark: mark{uid: "x", version: "5"}}})
	a.hear(mark{uid: "y", version: "2"}) // another child, told again by a list or a resync
	a.disturbed(time.Unix(1, 0), 1)
	a.wrote([]touch{{target: "x", mark: mark{uid: "x", version: "6"}}})
	a.hear(mark{uid: "y", version: "2"})
	if a.disturbed(time.Unix(2, 0), 1) {
		t.Error("want the very version heard before to disturb nothing")
	}
}
