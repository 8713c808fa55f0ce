package probe

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// refusedAddresses are places that no name and no URL may lead to.
var refusedAddresses = []string{
	"0.0.0.0", "0.0.0.1", "::", "169.254.169.254", "169.254.0.1", "169.254.170.2", "fe80::1", "febf::1", "224.0.0.1",
	"239.255.255.255", "255.255.255.255", "ff02::1", "100.100.100.200", "168.63.129.16", "fd00:ec2::254",
	"::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::1",
	"2001:0:808:808::5601:5601", "::ffff:0.0.0.0", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1",
	"64:ff9b::7f00:1", "2002:7f00:1::", "10.96.0.1", "::ffff:10.96.0.1", "64:ff9b::a60:1",
}

// operator is a prober as it runs in a cluster.
func operator(r *recorder, known names) *Prober {
	return New(Options{APIServer: []string{"10.96.0.1:443", "api.example.com:6443"}, Lookup: known.lookup, Dial: r.dial})
}

func TestNamesThatLeadToRefusedAddresses(t *testing.T) {
	for _, addr := range refusedAddresses {
		for _, all := range [][]string{{addr}, {"203.0.113.1", addr}, {addr, "203.0.113.1"}} {
			r := &recorder{}
			got := operator(r, names{"tools.example.com": all}).Probe(t.Context(), Target{URL: "https://tools.example.com/mcp"})
			checkMessage(t, got)
			if got.Reason != polychromev1alpha1.ReasonURLBlocked || len(r.addresses()) != 0 {
				t.Errorf("%v: reason %s, dialled %v: %s", all, got.Reason, r.addresses(), got.Message)
			}
			if strings.Contains(got.Message, addr) {
				t.Errorf("%v: the message %q has the address", all, got.Message)
			}
		}
	}
}

func TestURLsOfRefusedAddresses(t *testing.T) {
	for _, addr := range refusedAddresses {
		r := &recorder{}
		host := netip.MustParseAddr(addr).String()
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		got := operator(r, nil).Probe(t.Context(), Target{URL: "https://" + host + "/mcp"})
		if got.Reason != polychromev1alpha1.ReasonURLBlocked || len(r.addresses()) != 0 {
			t.Errorf("%s: reason %s, dialled %v: %s", host, got.Reason, r.addresses(), got.Message)
		}
	}
}

func TestOrdinaryAddressesAreDialled(t *testing.T) {
	for _, addr := range []string{"203.0.113.1", "10.0.0.7", "fd00::7", "2606:4700::1111", "64:ff9b::808:808"} {
		r := &recorder{}
		got := operator(r, names{"tools.svc": {addr}}).Probe(t.Context(), Target{URL: "http://tools.svc:8080/mcp"})
		want := netip.AddrPortFrom(netip.MustParseAddr(addr), 8080).String()
		if got.Reason != polychromev1alpha1.ReasonConnectionFailed || fmt.Sprint(r.addresses()) != "["+want+"]" {
			t.Errorf("%s: reason %s, dialled %v", addr, got.Reason, r.addresses())
		}
	}
}

// TestTheAddressThatIsDialledCounts lets a dialer connect to another address
// than the one it was told, as if the name had been resolved again.
func TestTheAddressThatIsDialledCounts(t *testing.T) {
	for _, addr := range refusedAddresses[:27] {
		r := &recorder{}
		prober := operator(r, names{"tools.example.com": {"203.0.113.1"}})
		prober.options.Dial = func(ctx context.Context, dialer *net.Dialer, network, _ string) (net.Conn, error) {
			address := net.JoinHostPort(addr, "443")
			if err := dialer.ControlContext(ctx, network, address, nil); err != nil {
				return nil, &net.OpError{Op: "dial", Err: err}
			}
			r.record(address)
			return nil, context.Canceled
		}
		got := prober.Probe(t.Context(), Target{URL: "https://tools.example.com/mcp"})
		if got.Reason != polychromev1alpha1.ReasonURLBlocked || len(r.addresses()) != 0 {
			t.Errorf("%s: reason %s, dialled %v", addr, got.Reason, r.addresses())
		}
	}
}

// TestARealDialerAsksBeforeItConnects is the same with the system's sockets.
func TestARealDialerAsksBeforeItConnects(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	prober := New(Options{Lookup: names{"tools.example.com": {"203.0.113.1"}}.lookup})
	prober.options.Dial = func(ctx context.Context, dialer *net.Dialer, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, server.Listener.Addr().String())
	}
	got := prober.Probe(t.Context(), Target{URL: "http://tools.example.com/mcp"})
	if got.Reason != polychromev1alpha1.ReasonURLBlocked || connections.Load() != 0 {
		t.Errorf("reason %s after %d connections: %s", got.Reason, connections.Load(), got.Message)
	}
}

// TestANameThatResolvesDifferently changes what a name leads to between two
// requests of one probe.
func TestANameThatResolvesDifferently(t *testing.T) {
	url := serve(t, hostile(func(w http.ResponseWriter, _ *http.Request, m message) { answer(w, m, tools("")) }))
	_, port, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"), ":")
	for _, second := range []string{"169.254.169.254", "::ffff:169.254.169.254", "0.0.0.0", "fe80::1", "224.0.0.1"} {
		r := &recorder{}
		lookups := 0
		prober := New(Options{AllowLoopback: true, Dial: r.dial, Lookup: func(context.Context, string) ([]netip.Addr, error) {
			if lookups++; lookups == 1 {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr(second)}, nil
		}})
		got := prober.Probe(t.Context(), Target{URL: "http://rebind.example.com:" + port + "/mcp"})
		if got.Reason != polychromev1alpha1.ReasonURLBlocked || len(r.addresses()) != 1 {
			t.Errorf("%s: reason %s, dialled %v", second, got.Reason, r.addresses())
		}
	}
}

func TestTheAPIServerIsNeverDialled(t *testing.T) {
	known := names{"api.example.com": {"203.0.113.9"}, "evil.example.com": {"203.0.113.9"}, "tools.example.com": {"203.0.113.1"}}
	cases := []struct {
		url  string
		want polychromev1alpha1.Reason
	}{
		{"https://10.96.0.1/mcp", polychromev1alpha1.ReasonURLBlocked},
		{"https://10.96.0.1:443/mcp", polychromev1alpha1.ReasonURLBlocked},
		{"http://10.96.0.1:443/mcp", polychromev1alpha1.ReasonURLBlocked},
		{"https://[::ffff:10.96.0.1]/mcp", polychromev1alpha1.ReasonURLBlocked},
		{"https://api.example.com:6443/mcp", polychromev1alpha1.ReasonURLBlocked},
		{"https://evil.example.com:6443/mcp", polychromev1alpha1.ReasonURLBlocked},
		{"https://203.0.113.9:6443/mcp", polychromev1alpha1.ReasonURLBlocked},
		{"https://10.96.0.1:8443/mcp", polychromev1alpha1.ReasonConnectionFailed},
		{"https://api.example.com/mcp", polychromev1alpha1.ReasonConnectionFailed},
		{"https://tools.example.com:6443/mcp", polychromev1alpha1.ReasonConnectionFailed},
	}
	for _, tc := range cases {
		r := &recorder{}
		got := operator(r, known).Probe(t.Context(), Target{URL: tc.url})
		blocked := tc.want == polychromev1alpha1.ReasonURLBlocked
		if got.Reason != tc.want || blocked != (len(r.addresses()) == 0) {
			t.Errorf("%s: reason %s, dialled %v, want %s", tc.url, got.Reason, r.addresses(), tc.want)
		}
	}
	r := &recorder{}
	if got := operator(r, names{}).Probe(t.Context(), Target{URL: "https://203.0.113.9:6443/mcp"}); got.OK() || len(r.addresses()) != 0 {
		t.Errorf("while the API server's name has no address: reason %s, dialled %v", got.Reason, r.addresses())
	}
	portless := New(Options{APIServer: []string{"10.96.0.1"}, Dial: r.dial})
	if got := portless.Probe(t.Context(), Target{URL: "https://10.96.0.1:8443/mcp"}); got.Reason != polychromev1alpha1.ReasonURLBlocked {
		t.Errorf("an API server without a port: reason %s, dialled %v", got.Reason, r.addresses())
	}
}

func TestConnectionsThatFail(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening: %v", err)
	}
	listener.Close()
	prober, r := developer()
	got := prober.Probe(t.Context(), Target{URL: "http://" + listener.Addr().String()})
	if got.Reason != polychromev1alpha1.ReasonConnectionRefused {
		t.Errorf("a closed port: reason %s: %s", got.Reason, got.Message)
	}
	got = prober.Probe(t.Context(), Target{URL: "http://nowhere.example.com"})
	if got.Reason != polychromev1alpha1.ReasonDNSFailed || len(r.addresses()) != 0 {
		t.Errorf("an unknown name: reason %s, dialled %v", got.Reason, r.addresses())
	}
	checkMessage(t, got)
}

func TestTheNextAddressIsTried(t *testing.T) {
	url := serve(t, hostile(func(w http.ResponseWriter, _ *http.Request, m message) { answer(w, m, tools("")) }))
	_, port, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"), ":")
	r := &recorder{}
	prober := New(Options{AllowLoopback: true, Dial: r.dial, Lookup: names{"two.example.com": {"203.0.113.1", "127.0.0.1"}}.lookup})
	if got := prober.Probe(t.Context(), Target{URL: "http://two.example.com:" + port}); !got.OK() {
		t.Errorf("reason %s, dialled %v", got.Reason, r.addresses())
	}
}

func TestTheEnvironmentsProxyIsNotUsed(t *testing.T) {
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	r := &recorder{}
	prober := operator(r, names{"tools.example.com": {"203.0.113.1"}})
	// The standard library reads the environment once for a whole process.
	if prober.newLine().http.Proxy != nil {
		t.Error("there is a proxy function")
	}
	prober.Probe(t.Context(), Target{URL: "http://tools.example.com/mcp"})
	if asked.Load() != 0 || fmt.Sprint(r.addresses()) != "[203.0.113.1:80]" {
		t.Errorf("the proxy was asked %d times; dialled %v", asked.Load(), r.addresses())
	}
}
