package framework_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
	"polychrome.dev/controller/test/framework/widget"
)

// TestAQuotaShowsAndHeals has the server refuse a child, and then not.
func TestAQuotaShowsAndHeals(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	quotas := r.kube.CoreV1().ResourceQuotas(r.namespace)
	hard := func(count string) corev1.ResourceList {
		return corev1.ResourceList{"count/configmaps": resource.MustParse(count)}
	}
	must(quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "tight"}, Spec: corev1.ResourceQuotaSpec{Hard: hard("0")},
	}, metav1.CreateOptions{}))
	r.eventually(func() error {
		quota, err := quotas.Get(t.Context(), "tight", metav1.GetOptions{})
		if err == nil && len(quota.Status.Used) == 0 {
			err = errors.New("the quota is not in force yet")
		}
		return err
	})
	r.run()
	r.create("red", "w")
	refused := r.condition("w", framework.ConditionReady, metav1.ConditionFalse, framework.ReasonAPIRefused)
	if !strings.Contains(refused.Message, "exceeded quota: tight") {
		t.Errorf("want the server's message, got %q", refused.Message)
	}
	must(quotas.Patch(t.Context(), "tight", types.MergePatchType, []byte(`{"spec":{"hard":{"count/configmaps":"10"}}}`), metav1.PatchOptions{}))
	r.ready("w")
	if got := r.failures(framework.ClassForbidden); got < 1 || got > 6 {
		t.Errorf("want a few failed passes, with a backoff, got %v", got)
	}
}

// TestARefusalShows has the server refuse what can never work: a child, and
// a status.
func TestARefusalShows(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script      func(*rig) *script
		wantMessage string
	}{
		"an invalid child": {
			script: func(r *rig) *script {
				s := standard(r)
				s.acts[apply] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
					_, _, err := r.configMaps.Apply(ctx, ownerFor(w), coreapply.ConfigMap(w.Name, w.Namespace).
						WithData(map[string]string{"no key!": ""}))
					return framework.Result{}, err
				}
				return s
			},
			wantMessage: "no key!",
		},
		"a forbidden child": {
			script: func(r *rig) *script {
				r.faults.Inject(frameworktest.Fault{Verb: "apply", Status: http.StatusForbidden, Message: "a webhook says no " + strings.Repeat("é", 2000), Times: -1})
				return standard(r)
			},
			wantMessage: "a webhook says no",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, rigOptions{script: test.script})
			r.create("red", "w")
			refused := r.condition("w", framework.ConditionReady, metav1.ConditionFalse, framework.ReasonAPIRefused)
			if !strings.Contains(refused.Message, test.wantMessage) || len(refused.Message) > 1024 {
				t.Errorf("want the server's message, at most 1 KiB of it, got %d bytes: %q", len(refused.Message), refused.Message)
			}
			r.eventually(func() error {
				if got := r.faults.Count(frameworktest.By("apply")); got < 3 {
					return fmt.Errorf("want it tried again, got %d applies", got)
				}
				return nil
			})
			r.backsOff(frameworktest.By("apply"))
			if got := r.faults.Count(frameworktest.On("widgets/status")); got != 1 {
				t.Errorf("want the refusal written once, got %d writes", got)
			}
		})
	}
}

// backsOff checks that requests came with growing delays.
func (r *rig) backsOff(filter func(frameworktest.Request) bool) {
	r.t.Helper()
	least := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}
	sent := r.faults.Requests(filter)
	for i := 1; i < len(sent) && i <= len(least); i++ {
		if gap := sent[i].At.Sub(sent[i-1].At); gap < least[i-1] {
			r.t.Errorf("retry %d came %s after the one before, want at least %s", i, gap, least[i-1])
		}
	}
}

// TestThrottlingHoldsNoWorker has the only worker meet a server that asks to
// come back later.
func TestThrottlingHoldsNoWorker(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{workers: 1})
	r.faults.Inject(frameworktest.Fault{Verb: "apply", Name: "slow", Status: http.StatusTooManyRequests, RetryAfter: 3 * time.Second})
	r.run()
	r.create("red", "slow")
	r.eventually(func() error {
		if r.failures(framework.ClassThrottled) != 1 {
			return errors.New("want a throttled pass")
		}
		return nil
	})
	r.create("red", "fast")
	r.ready("fast", "slow")
	slow := r.faults.Requests(frameworktest.By("apply"), frameworktest.Named("slow"))
	fast := r.faults.Requests(frameworktest.By("apply"), frameworktest.Named("fast"))
	if len(slow) != 2 || slow[1].At.Sub(slow[0].At) < 3*time.Second {
		t.Errorf("want one retry after 3 s, got %v", slow)
	}
	if len(slow) == 2 && len(fast) == 1 && !fast[0].At.Before(slow[1].At) {
		t.Error("a throttled object held up another")
	}
}

func TestATerminalVerdictWaitsForANewGeneration(t *testing.T) {
	t.Parallel()
	r := start(t, rigOptions{script: func(r *rig) *script {
		s := standard(r)
		apply := s.acts[apply]
		s.acts["apply"] = func(ctx context.Context, w *widget.Widget) (framework.Result, error) {
			if w.Spec.Color == "ugly" {
				return framework.Result{}, framework.Terminal("Ugly", "no such color")
			}
			return apply(ctx, w)
		}
		return s
	}})
	r.create("ugly", "w")
	r.condition("w", framework.ConditionReady, metav1.ConditionFalse, "Ugly")
	r.condition("w", framework.ConditionStalled, metav1.ConditionTrue, "Ugly")
	for range 20 {
		r.wake("w")
		r.idle()
	}
	if got := r.failures(framework.ClassTerminal); got != 1 {
		t.Errorf("want one failed pass, got %v", got)
	}
	r.recolor("red", "w")
	r.ready("w")
	for _, c := range r.get("w").Status.Conditions {
		if c.Type == framework.ConditionStalled && c.Status != metav1.ConditionFalse {
			t.Errorf("a cured widget still says %+v", c)
		}
	}
}

func TestAPanicIsOneFailedPass(t *testing.T) {
	t.Parallel()
	r := start(t, rigOptions{workers: 1, script: func(r *rig) *script {
		burst := once(func() { panic("a bug") })
		return standard(r).before(apply, func(*widget.Widget) { burst() })
	}})
	r.create("red", "w", "x")
	r.ready("w", "x")
	if got := r.failures(framework.ClassPanic); got != 1 || r.failures("") != 1 {
		t.Errorf("want one panic and nothing else, got %v and %v failures", got, r.failures(""))
	}
	if log := r.log.String(); strings.Count(log, "a bug") != 1 || !strings.Contains(log, "errors_test.go") {
		t.Error("want the panic logged once, with its stack")
	}
}

// TestEventsDuringABackoffChangeNothing rains events on a failed widget.
func TestEventsDuringABackoffChangeNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	r.faults.Inject(frameworktest.Fault{Verb: "apply", Times: 2, Status: http.StatusInternalServerError})
	r.run()
	r.create("red", "w")
	var raining atomic.Bool
	raining.Store(true)
	drops := make(chan struct{})
	go func() {
		defer close(drops)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for raining.Load() {
			<-tick.C
			r.wake("w")
		}
	}()
	r.eventually(func() error {
		if got := r.faults.Count(frameworktest.By("apply")); got < 3 {
			return fmt.Errorf("got %d applies", got)
		}
		return nil
	})
	raining.Store(false)
	<-drops
	r.ready("w")
	r.backsOff(frameworktest.By("apply"))
	sent := r.faults.Requests(frameworktest.By("apply"))
	if len(sent) != 3 || sent[2].At.Sub(sent[0].At) > 15*time.Second {
		t.Errorf("want three applies, soon, got %v", sent)
	}
}
