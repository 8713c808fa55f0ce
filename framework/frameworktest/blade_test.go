package frameworktest

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tripperFunc is a RoundTripper made of a function.
type tripperFunc func(*http.Request) (*http.Response, error)

func (f tripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// guillotined is a client whose second write is hit, before a server that
// answers with the name of what it was asked for.
type guillotined struct {
	*ledger
	transport *Transport
	served    []string
	status    int
	client    *blade
	kills     int
}

func guillotine(p plan) *guillotined {
	g := &guillotined{ledger: newLedger(p, nil), transport: NewTransport(), status: http.StatusOK}
	server := tripperFunc(func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		g.served = append(g.served, r.Method+" "+r.URL.Path+string(body))
		return &http.Response{StatusCode: g.status, Body: io.NopCloser(strings.NewReader(`{"metadata":{"name":"made"}}`))}, nil
	})
	g.client = &blade{
		ledger: g.ledger, transport: g.transport,
		next: g.transport.Wrap(&recorder{ledger: g.ledger, next: server}),
		kill: func() { g.kills++; g.transport.Cut() },
	}
	return g
}

func (g *guillotined) send(t *testing.T, method, path string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://server/api/v1/namespaces/ns/"+path, strings.NewReader("!"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := g.client.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), nil
}

func TestTheBladeFallsAtItsWrite(t *testing.T) {
	tests := map[string]struct {
		plan        plan
		status      int
		wantErr     error
		wantCode    int
		wantServed  bool
		wantCounted bool
		wantDead    bool
	}{
		"undisturbed":                     {plan: plan{}, wantCode: 200, wantServed: true, wantCounted: true},
		"never reached":                   {plan: plan{write: 9}, wantCode: 200, wantServed: true, wantCounted: true},
		"before it is sent":               {plan: plan{2, BeforeSend}, wantErr: errCut, wantDead: true},
		"before its answer is read":       {plan: plan{2, AfterCommit}, wantErr: errCut, wantServed: true, wantCounted: true, wantDead: true},
		"after its answer":                {plan: plan{2, AfterReply}, wantCode: 200, wantServed: true, wantCounted: true, wantDead: true},
		"a reset though committed":        {plan: plan{2, ErrorThoughCommitted}, wantCode: 500, wantServed: true, wantCounted: true},
		"no lie of what was refused":      {plan: plan{2, ErrorThoughCommitted}, status: 409, wantCode: 409, wantServed: true},
		"refused and killed all the same": {plan: plan{2, AfterCommit}, status: 409, wantErr: errCut, wantServed: true, wantDead: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := guillotine(test.plan)
			for _, free := range []string{"GET pods", "POST events", "PUT leases/l", "POST pods"} {
				method, path, _ := strings.Cut(free, " ")
				if _, _, err := g.send(t, method, path); err != nil {
					t.Fatalf("%s: %v", free, err)
				}
			}
			if test.status != 0 {
				g.status = test.status
			}
			before := len(g.served)
			code, _, err := g.send(t, http.MethodDelete, "pods/p")
			if !errors.Is(err, test.wantErr) || code != test.wantCode {
				t.Errorf("want %d and %v, got %d and %v", test.wantCode, test.wantErr, code, err)
			}
			if got := len(g.served) > before; got != test.wantServed {
				t.Errorf("served: want %t, got %t", test.wantServed, got)
			}
			want := map[string]int{"create pods made": 1}
			if test.wantCounted {
				want["delete pods p"] = 1
			}
			if diff := cmp.Diff(want, g.committed); diff != "" {
				t.Errorf("writes carried out (-want +got):\n%s", diff)
			}
			_, _, err = g.send(t, http.MethodGet, "pods")
			if (err != nil) != test.wantDead || (g.kills == 1) != test.wantDead {
				t.Errorf("dead: want %t, got %v after %d kills", test.wantDead, err, g.kills)
			}
			if hit := g.result().hit.Name; (hit == "p") != (test.plan.write == 2) {
				t.Errorf("hit at %q", hit)
			}
		})
	}
}

func TestOddWritesAreDeceivedWithAReset(t *testing.T) {
	g := guillotine(plan{1, ErrorThoughCommitted})
	if _, _, err := g.send(t, http.MethodPost, "pods"); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("want a reset, got %v", err)
	}
	if g.result().writes() != 1 {
		t.Errorf("want it carried out, got %v", g.committed)
	}
}

func TestARunIsJudgedByItsEndAndItsWrites(t *testing.T) {
	want := outcome{state: "a\n", committed: map[string]int{"apply pods p": 1, "patch pods q": 5}}
	tests := map[string]struct {
		got  outcome
		want []string
	}{
		"the same":               {want, nil},
		"a few writes more":      {outcome{state: "a\n", committed: map[string]int{"apply pods p": 3, "patch pods q": 5}}, nil},
		"another end":            {outcome{state: "b\n", committed: want.committed}, []string{"it ends differently"}},
		"too many writes":        {outcome{state: "a\n", committed: map[string]int{"apply pods p": 3, "patch pods q": 6}}, []string{"9 writes instead of 6"}},
		"too many to one object": {outcome{state: "a\n", committed: map[string]int{"apply pods p": 4}}, []string{"4 times apply pods p instead of 1"}},
		"a fresh program writes": {outcome{state: "a\n", restless: []Request{{Verb: "patch", Resource: "pods", Name: "p"}}}, []string{"a fresh program on the settled state does patch pods p"}},
		"an invariant":           {outcome{state: "a\n", broken: []error{errors.New("no")}}, []string{"no"}},
		"no end at all":          {outcome{err: errors.New("not quiet"), broken: []error{errors.New("no")}}, []string{"no", "not quiet"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &stage{Crash: Crash{Allowance: 2}}
			var got []string
			for _, failure := range s.judge(plan{3, AfterCommit}, want, test.got) {
				got = append(got, failure.What)
				if failure.Write != 3 || failure.Point != AfterCommit || !strings.HasPrefix(failure.String(), "write 3: killed before its answer is read: ") {
					t.Errorf("where: %s", failure)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
		})
	}
}
