package probe

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// gate stands between the SDK and the network. It lets out only what a probe
// may send, with the token, and lets in only what a probe reads; what it turns
// away it writes down as a finding of the exchange.
type gate struct {
	// end is the probe's own context: also what the SDK sends under another
	// one, such as the end of a session, stops with it.
	end    context.Context
	target *url.URL
	token  string
	next   http.RoundTripper
	// version is the protocol version agreed on, for a session of the older
	// era; the SDK's transport knows it only of its own client.
	version string
	// budget is what may still be read, in bytes.
	budget atomic.Int64
}

func newGate(end context.Context, target Target, line *line) (*gate, error) {
	address, err := url.Parse(target.URL)
	if err != nil {
		return nil, err
	}
	g := &gate{end: end, target: address, token: target.Token, next: line.http}
	g.budget.Store(MaxTotal)
	return g, nil
}

// exchange is one request and what became of it.
type exchange struct {
	mu     sync.Mutex
	found  *finding
	status int
}

type exchangeKey struct{}

// exchangeOf is the exchange that a request belongs to. What the SDK sends on
// its own account belongs to none, and nobody asks how it went.
func exchangeOf(ctx context.Context) *exchange {
	if e, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return e
	}
	return &exchange{}
}

// note writes down a finding; the first one counts.
func (e *exchange) note(f *finding) *finding {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.found == nil {
		e.found = f
	}
	return e.found
}

func (e *exchange) noted() *finding {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.found
}

var errNotSent = errors.New("the probe sends no such request")

// RoundTrip sends one request to the target and to nowhere else.
func (g *gate) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodPost && request.Method != http.MethodDelete || *request.URL != *g.target {
		return nil, errNotSent
	}
	ctx, cancel := context.WithCancel(request.Context())
	stop := context.AfterFunc(g.end, cancel)
	release := func() { stop(); cancel() }

	request = request.Clone(ctx)
	request.Header.Set("User-Agent", clientName)
	// A compressed body is never asked for: it could grow without end while
	// next to nothing is read.
	request.Header.Set("Accept-Encoding", "identity")
	if g.version != "" && request.Header.Get(versionHeader) == "" {
		request.Header.Set(versionHeader, g.version)
	}
	if g.token != "" {
		request.Header.Set("Authorization", "Bearer "+g.token)
	}
	e := exchangeOf(ctx)
	response, err := g.next.RoundTrip(request)
	if err != nil {
		release()
		return nil, e.note(ofError(err))
	}
	e.status = response.StatusCode
	response.Body = &body{ReadCloser: response.Body, gate: g, exchange: e, ctx: request.Context(), left: MaxBody, release: release}
	if trouble := unusable(response); trouble != nil {
		response.Body.Close()
		return nil, e.note(trouble)
	}
	return response, nil
}

// unusable is what is wrong with a response whatever its body says.
func unusable(response *http.Response) *finding {
	if trouble := ofStatus(response, time.Now()); trouble != nil {
		return trouble
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		// What follows is a bare connection: no deadline ends a read of it.
		return found(polychromev1alpha1.ReasonNotMCP, "the server switches to another protocol, though none was asked for")
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return found(polychromev1alpha1.ReasonNotMCP, "the server's answer is compressed, though no compression was asked for")
	}
	return nil
}

// oldStream begins the only answer of a server that speaks the HTTP+SSE
// transport of 2024, whatever the method.
const oldStream = "event: endpoint"

// body is a response's body as far as it is read.
type body struct {
	io.ReadCloser
	gate     *gate
	exchange *exchange
	ctx      context.Context
	left     int64
	head     []byte
	release  func()
}

func (b *body) Read(p []byte) (int, error) {
	// One byte more than allowed tells a body that fits from one that does not.
	p = p[:min(int64(len(p)), b.left+1)]
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if total := b.gate.budget.Add(-int64(n)); b.left < 0 || total < 0 {
		return 0, b.exchange.note(found(polychromev1alpha1.ReasonResponseTooLarge,
			"the server's answer is larger than what is read of one answer (4 MiB) or of all (16 MiB)"))
	}
	if len(b.head) < len(oldStream) {
		b.head = append(b.head, p[:min(n, len(oldStream)-len(b.head))]...)
		if string(b.head) == oldStream {
			return 0, b.exchange.note(found(polychromev1alpha1.ReasonTransportMismatch,
				"the server speaks the HTTP+SSE transport, which is not the streamable HTTP transport"))
		}
	}
	// Whoever has what it waited for cancels the rest, which is no finding.
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(b.ctx.Err(), context.Canceled) {
		_ = b.exchange.note(ofError(err))
	}
	return n, err
}

func (b *body) Close() error {
	b.release()
	return b.ReadCloser.Close()
}
