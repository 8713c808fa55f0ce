package toolservice

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

func TestTheLifeOfASecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tokens []string
		h := newHouse(t, func(_ context.Context, target probe.Target) probe.Result {
			tokens = append(tokens, target.Token)
			return good(two...)
		})
		h.secrets.secrets = map[string]*corev1.Secret{}
		h.has(held(bearer("weather-token", "")))
		h.run(time.Second)
		if got := saidBy(h.get("weather")); got.Reachable[:7] != "Unknown" || len(tokens) != 0 {
			t.Errorf("want nobody asked, got %v, %+v", tokens, got)
		}
		h.secrets.secrets["weather-token"] = secretOf(corev1.SecretTypeOpaque, map[string][]byte{"token": []byte("first")})
		h.run(6 * time.Second)
		h.secrets.secrets["weather-token"] = secretOf(corev1.SecretTypeOpaque, map[string][]byte{"token": []byte("second")})
		h.run(67 * time.Second)
		if diff := cmp.Diff([]string{"first", "second"}, tokens); diff != "" {
			t.Errorf("tokens (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"weather-token", "weather-token", "weather-token"}, h.secrets.reads); diff != "" {
			t.Errorf("reads (-want +got):\n%s", diff)
		}
		h.secrets.secrets["weather-token"] = secretOf(corev1.SecretTypeServiceAccountToken, map[string][]byte{"token": []byte("third")})
		h.run(67 * time.Second)
		if got := saidBy(h.get("weather")); got.Phase != polychromev1alpha1.ToolServiceInvalid || len(tokens) != 2 {
			t.Errorf("want nothing sent, got %v, %+v", tokens, got)
		}
	})
}

func TestAnAPIServerInTroubleIsNotTheServersFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := newCalls()
		h := newHouse(t, func(_ context.Context, target probe.Target) probe.Result {
			made.add(target.URL)
			return good(two...)
		})
		h.secrets.secrets = map[string]*corev1.Secret{"s": secretOf(corev1.SecretTypeOpaque, map[string][]byte{"token": []byte(canary)})}
		h.has(held(at("a"), bearer("s", "")))
		h.run(time.Second)
		h.secrets.err = fmt.Errorf("etcd is away")
		h.run(10 * time.Minute)
		if len(made.of("a")) != 1 || h.writes["a"] != 1 || h.get("a").Status.Phase != polychromev1alpha1.ToolServiceReady {
			t.Errorf("want it left ready, got %d probes, %d writes, %+v", len(made.of("a")), h.writes["a"], saidBy(h.get("a")))
		}
		if n := len(h.secrets.reads); n > 12 {
			t.Errorf("want a backoff, got %d reads in ten minutes", n)
		}
		h.secrets.err = nil
		h.run(2 * time.Minute)
		if len(made.of("a")) < 2 {
			t.Error("it is not probed any more")
		}
	})
}

func TestTheTokenIsSeenNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged syncBuffer
		sent := false
		h := newHouse(t, func(_ context.Context, target probe.Target) probe.Result {
			sent = sent || target.Token == canary
			return refused
		})
		h.r.prober.log = logged.logger()
		h.secrets.secrets = map[string]*corev1.Secret{"s": secretOf(corev1.SecretTypeOpaque, map[string][]byte{"token": []byte(canary)})}
		h.has(held(bearer("s", "")))
		h.run(time.Minute)
		h.secrets.secrets["s"] = secretOf(corev1.SecretTypeOpaque, map[string][]byte{"other": []byte(canary), "token": []byte(canary + " " + canary)})
		h.run(3 * time.Minute)
		h.secrets.err = fmt.Errorf("trouble")
		h.run(3 * time.Minute)
		all := fmt.Sprintf("%+v %+v %v %+v %s", *h.get("weather"), h.events, h.decisions, h.r.prober.known[framework.Key{Namespace: "chat", Name: "weather"}].memory.Last, logged.String())
		if !sent || logged.String() == "" {
			t.Errorf("want the token sent (%t) and something logged, got %q", sent, logged.String())
		}
		if strings.Contains(all, canary) {
			t.Errorf("the token is seen: %s", all)
		}
	})
}
