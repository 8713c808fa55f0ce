package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/toolservice/probe/guard"
)

// maxAddresses is how many addresses of a host are tried.
const maxAddresses = 8

// maxHeader is how much of a response's header is read, in bytes.
const maxHeader = 64 << 10

// line makes the connections of one probe and closes them all at its end.
type line struct {
	options Options
	http    *http.Transport

	mu     sync.Mutex
	closed bool
	conns  []net.Conn
}

func (p *Prober) newLine() *line {
	l := &line{options: p.options}
	// HTTP/1.1, one connection for each request: nothing idles that the server
	// could write to, and nothing outlives the probe. No Proxy: the environment
	// does not decide where a token goes.
	l.http = &http.Transport{
		DialContext:            l.dial,
		DialTLSContext:         l.dialTLS,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
	return l
}

// close closes every connection, also one that is still being made.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, conn := range l.conns {
		conn.Close()
	}
	l.http.CloseIdleConnections()
}

// keep remembers a connection until the end. What wraps another one is kept
// after it, so that closing does not wait for a farewell to be sent.
func (l *line) keep(conn net.Conn) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	l.conns = append(l.conns, conn)
	return conn, nil
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return l.keep(hold(conn))
}

func (l *line) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := l.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{ServerName: host, RootCAs: l.options.RootCAs, MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, ofHandshake(err)
	}
	return l.keep(hold(conn))
}

// connect resolves a host and connects to the first of its addresses that
// answers. If any of them is refused, none is dialled: a name that leads to
// both kinds of places is not one to trust.
func (l *line) connect(ctx context.Context, network, address string) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, err
	}
	rules, err := l.rules(ctx, uint16(port))
	if err != nil {
		return nil, err
	}
	addrs, err := l.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if trouble := refused(rules, netip.AddrPortFrom(addr, uint16(port))); trouble != nil {
			return nil, trouble
		}
	}
	for i, addr := range addrs {
		var conn net.Conn
		conn, err = l.attempt(ctx, rules, network, netip.AddrPortFrom(addr, uint16(port)), len(addrs)-i)
		if err == nil {
			return l.keep(conn)
		}
	}
	return nil, err
}

// attempt dials one address, in its share of the time that is left. The check
// is made where the system is about to connect, on the address it was given.
func (l *line) attempt(ctx context.Context, rules guard.Rules, network string, address netip.AddrPort, left int) (net.Conn, error) {
	dialer := &net.Dialer{
		KeepAlive: -1,
		ControlContext: func(_ context.Context, _, dialled string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(dialled)
			if err != nil {
				return found(polychromev1alpha1.ReasonURLBlocked, "the URL leads to no address of the internet protocol")
			}
			if trouble := refused(rules, target); trouble != nil {
				return trouble
			}
			return nil
		},
	}
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		dialer.Timeout = max(time.Until(deadline)/time.Duration(left), time.Millisecond)
	}
	return l.options.Dial(ctx, dialer, network, address.String())
}

func refused(rules guard.Rules, target netip.AddrPort) *finding {
	if why := rules.Refuse(target); why != "" {
		return found(polychromev1alpha1.ReasonURLBlocked, "the URL's host leads to "+why+", which is never probed")
	}
	return nil
}

func (l *line) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	addrs, err := l.options.Lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	return addrs[:min(len(addrs), maxAddresses)], nil
}

// rules are those for a port. A name of the API server is resolved only when
// its port is asked for; when that fails, nothing is dialled on it. An entry
// without a port that can be compared holds for all.
func (l *line) rules(ctx context.Context, port uint16) (guard.Rules, error) {
	rules := guard.Rules{AllowLoopback: l.options.AllowLoopback}
	for _, server := range l.options.APIServer {
		host, portText, err := net.SplitHostPort(server)
		if err != nil {
			host = server
		} else if number, err := strconv.ParseUint(portText, 10, 16); err == nil && uint16(number) != port {
			continue
		}
		addrs, err := l.resolve(ctx, host)
		if err != nil {
			return rules, found(polychromev1alpha1.ReasonDNSFailed,
				"the API server's own name has no address; nothing is probed on its port until it has")
		}
		for _, addr := range addrs {
			rules.APIServer = append(rules.APIServer, netip.AddrPortFrom(addr, port))
		}
	}
	return rules, nil
}

// heldConn lets nothing be read before something was written. What a server
// says unasked is then part of its answer, and not logged by the HTTP client
// as an oddity: it may be the token of the request before.
type heldConn struct {
	net.Conn

	once    sync.Once
	spoken  chan struct{}
	closing sync.Once
	closed  chan struct{}
}

func hold(conn net.Conn) net.Conn {
	return &heldConn{Conn: conn, spoken: make(chan struct{}), closed: make(chan struct{})}
}

func (c *heldConn) Read(p []byte) (int, error) {
	select {
	case <-c.spoken:
		return c.Conn.Read(p)
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *heldConn) Write(p []byte) (int, error) {
	c.once.Do(func() { close(c.spoken) })
	return c.Conn.Write(p)
}

func (c *heldConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
