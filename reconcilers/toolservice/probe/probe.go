package probe

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// Limits of a probe.
const (
	// MaxTools is how many tools are taken from a server.
	MaxTools = 2000
	// MaxPages is how many pages of tools are read.
	MaxPages = 32
	// MaxBody is how much of one response is read, in bytes.
	MaxBody = 4 << 20
	// MaxTotal is how much of all responses of a probe is read, in bytes.
	MaxTotal = 16 << 20
	// DefaultTimeout is the deadline of a probe that has none.
	DefaultTimeout = 10 * time.Second
)

// Target is one server to probe.
type Target struct {
	// URL is where the server answers. It passes CheckURL.
	URL string
	// Token is the bearer token, empty for none. It goes to the scheme, host
	// and port of URL, and into no message and no log.
	Token string
	// Timeout is the deadline over the whole probe; DefaultTimeout if unset.
	Timeout time.Duration
}

// Tool is one tool as the server sent it.
type Tool struct {
	// Name identifies the tool within the server.
	Name string
	// Description is the server's own text, in valid UTF-8.
	Description string
	// InputSchema is the JSON object that the server sent, nil if it sent none.
	InputSchema json.RawMessage
	// ReadOnlyHint, DestructiveHint, IdempotentHint and OpenWorldHint are what
	// the server claims; nil where it claims nothing.
	ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool
}

// ServerInfo is what the server says of itself, in valid UTF-8.
type ServerInfo struct {
	// Name and Version are the server's own.
	Name, Version string
	// ProtocolVersion is the version that was agreed on.
	ProtocolVersion string
}

// Result is what a probe came to.
type Result struct {
	// Reachable says that the server answered. A server that stopped before
	// its answer was whole did not.
	Reachable bool
	// Reason is ReasonCatalogListed when all is well, else why not.
	Reason polychromev1alpha1.Reason
	// Message is for people and in our words: at most 1 KiB, valid UTF-8, with
	// no body, header, token or resolved address.
	Message string
	// RetryAfter is how long the server asked to be left alone, 0 for not.
	RetryAfter time.Duration
	// Tools are in the order sent, with unique names, at most MaxTools. There
	// are none unless the reason is ReasonCatalogListed.
	Tools []Tool
	// Truncated says that there are more pages or tools than the limits, or
	// tools whose names do not fit.
	Truncated bool
	// Server is what the server says of itself, as far as it was asked.
	Server ServerInfo
}

// OK reports whether the tools were listed.
func (r Result) OK() bool { return r.Reason == polychromev1alpha1.ReasonCatalogListed }

// Options are the dependencies of a Prober.
type Options struct {
	// AllowLoopback lets loopback addresses be probed, for development.
	AllowLoopback bool
	// APIServer are the host:port of the API server, which is never dialled. A
	// host that is a name is resolved when its port is asked for.
	APIServer []string
	// RootCAs are the authorities trusted for https; the system's if nil.
	RootCAs *x509.CertPool
	// Lookup resolves a host name; the system's resolver if nil.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to a resolved address with a dialer, whose Control decides
	// whether the address may be dialled; the dialer's own DialContext if nil.
	Dial func(ctx context.Context, dialer *net.Dialer, network, address string) (net.Conn, error)
}

// Prober asks MCP servers for their tools. It is safe for concurrent use and
// keeps nothing between probes.
type Prober struct {
	options Options
}

// New returns a Prober.
func New(options Options) *Prober {
	if options.Lookup == nil {
		options.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if options.Dial == nil {
		options.Dial = func(ctx context.Context, dialer *net.Dialer, network, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		}
	}
	return &Prober{options: options}
}

// Probe connects to a server and lists its tools. It never panics and returns
// by the deadline, with everything closed that it opened.
func (p *Prober) Probe(ctx context.Context, target Target) (result Result) {
	defer func() {
		if recover() != nil {
			result = found(polychromev1alpha1.ReasonNotMCP, "the server's answer could not be handled").result()
		}
	}()
	if target.Timeout <= 0 {
		target.Timeout = DefaultTimeout
	}
	if reason, message := CheckURL(target.URL, p.options.AllowLoopback); reason != "" {
		return found(reason, message).result()
	}
	// A file that became a Secret often ends in a newline, which is no part of
	// the token.
	target.Token = strings.TrimRight(target.Token, "\r\n")
	if strings.ContainsFunc(target.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return found(polychromev1alpha1.ReasonSecretNotFound,
			"the Secret holds no usable token: it has spaces, control or non-ASCII characters; nothing was sent").result()
	}
	ctx, cancel := context.WithTimeout(ctx, target.Timeout)
	defer cancel()
	return p.probe(ctx, target)
}

// closingShare is the part of the time that is kept for closing the session,
// so that a server which takes all the time there is loses its session too.
const closingShare = 10

func (p *Prober) probe(ctx context.Context, target Target) Result {
	line := p.newLine()
	defer line.close()
	gate, err := newGate(ctx, target, line)
	if err != nil {
		return found(polychromev1alpha1.ReasonInvalidURL, "the URL cannot be parsed; write it as https://host/path").result()
	}
	asking, cancel := context.WithTimeout(ctx, target.Timeout-target.Timeout/closingShare)
	defer cancel()
	talk := newDialogue(target.URL, gate)
	defer talk.close()

	server, trouble := talk.begin(asking)
	if trouble != nil {
		return trouble.result()
	}
	list, trouble := talk.list(asking)
	if trouble != nil {
		result := trouble.result()
		result.Server = server
		return result
	}
	result := found(polychromev1alpha1.ReasonCatalogListed, list.summary()).result()
	result.Tools, result.Truncated, result.Server = list.tools, list.truncated, server
	return result
}

// summary is the message of a good probe.
func (c *catalog) summary() string {
	switch {
	case c.truncated:
		return fmt.Sprintf("the server offers more tools than are read; the first %d are known", len(c.tools))
	case len(c.tools) == 1:
		return "the server offers 1 tool"
	}
	return fmt.Sprintf("the server offers %d tools", len(c.tools))
}
