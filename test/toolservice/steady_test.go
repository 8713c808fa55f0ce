package toolservice

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"polychrome.dev/controller/reconcilers/toolservice/probe"
)

// TestASettledCatalogueCostsOneProbeAnInterval has servers that send their
// tools in another order each time, and some that need a token.
func TestASettledCatalogueCostsOneProbeAnInterval(t *testing.T) {
	fleet := 500
	if testing.Short() {
		fleet = 100
	}
	s := newScene(t)
	l := s.start()
	s.meanwhile(s.hides("shared", corev1.SecretTypeOpaque, map[string]string{"token": "t"}))
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(1, 1))
	secretive := func(i int) bool { return i%5 == 0 }
	for i := range fleet {
		var changes []change
		if secretive(i) {
			changes = append(changes, bearer("shared"))
		}
		tools := []probe.Tool{tool("a"), tool("b"), tool("c"), tool("d")}
		s.meanwhile(s.serves(nth(i), func(ctx context.Context, t probe.Target) probe.Result {
			mu.Lock()
			defer mu.Unlock()
			r.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
			return offers(slices.Clone(tools)...)(ctx, t)
		}), s.makes(nth(i), changes...))
	}
	l.settle()
	probes := func() (n int, each []int) {
		for i := range fleet {
			each = append(each, len(s.servers.probes(nth(i))))
			n += each[i]
		}
		return n, each
	}
	before, eachBefore := probes()
	l.requests.Forget()
	const minutes = 5
	for range minutes * 12 {
		l.plays(s.waits(5 * time.Second))
	}
	_, each := probes()
	wantReads := 0
	for i := range fleet {
		n := each[i] - eachBefore[i]
		if n < minutes-1 || n > minutes+1 {
			t.Errorf("%s: want about %d probes in %d minutes, got %d", nth(i), minutes, minutes, n)
		}
		if secretive(i) {
			wantReads += n
		}
	}
	asked := l.asked()
	reads := slices.DeleteFunc(slices.Clone(asked), func(a string) bool { return a != "get secrets shared" })
	if len(reads) != wantReads {
		t.Errorf("want %d reads of the Secret, one for each probe that needs it, got %d", wantReads, len(reads))
	}
	others := slices.DeleteFunc(asked, func(a string) bool { return strings.HasPrefix(a, "get secrets ") })
	if diff := cmp.Diff([]string{}, others); diff != "" {
		t.Errorf("requests in %d minutes (-want +got):\n%s", minutes, diff)
	}
	if before < fleet {
		t.Errorf("want each probed at once, got %d probes", before)
	}
}

func nth(i int) string { return fmt.Sprintf("t%03d", i) }
