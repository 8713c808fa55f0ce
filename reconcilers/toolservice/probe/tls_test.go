package probe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

// certificate is signed by itself, for one host, until a time.
func certificate(t *testing.T, host string, until time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hostile"}, DNSNames: []string{host},
		NotBefore: until.Add(-time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, pool
}

func TestTLS(t *testing.T) {
	const host = "tools.example.com"
	now := time.Now()
	cases := []struct {
		name, certified string
		until           time.Time
		trusted         bool
		maxVersion      uint16
		want            polychromev1alpha1.Reason
		wantMessage     string
	}{
		{"a good certificate", host, now.Add(time.Hour / 2), true, 0, polychromev1alpha1.ReasonCatalogListed, ""},
		{"an unknown authority", host, now.Add(time.Hour / 2), false, 0, polychromev1alpha1.ReasonTLSFailed, "authority"},
		{"another host", "hostile.example.com", now.Add(time.Hour / 2), true, 0, polychromev1alpha1.ReasonTLSFailed, "another host"},
		{"an expired certificate", host, now.Add(-time.Hour), true, 0, polychromev1alpha1.ReasonTLSFailed, "expired"},
		{"an old version of TLS", host, now.Add(time.Hour / 2), true, tls.VersionTLS11, polychromev1alpha1.ReasonTLSFailed, "handshake"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			own, pool := certificate(t, tc.certified, tc.until)
			server := httptest.NewUnstartedServer(hostile(func(w http.ResponseWriter, _ *http.Request, m message) { answer(w, m, tools("")) }))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.TLS = &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS10, MaxVersion: tc.maxVersion}
			server.StartTLS()
			defer server.Close()
			prober, r := developer()
			prober.options.Lookup = names{host: {"127.0.0.1"}}.lookup
			prober.options.RootCAs = x509.NewCertPool()
			if tc.trusted {
				prober.options.RootCAs = pool
			}
			_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
			got := prober.Probe(t.Context(), Target{URL: "https://" + host + ":" + port + "/mcp", Token: canary})
			checkMessage(t, got)
			if got.Reason != tc.want || !strings.Contains(got.Message, tc.wantMessage) {
				t.Errorf("reason %s: %s, want %s", got.Reason, got.Message, tc.want)
			}
			if r.open.Load() != 0 {
				t.Errorf("%d connections are open", r.open.Load())
			}
		})
	}
}

func TestTLSWhereThereIsNone(t *testing.T) {
	url := strings.Replace(serve(t, http.NotFoundHandler()), "http:", "https:", 1)
	prober, _ := developer()
	got := prober.Probe(t.Context(), Target{URL: url, Token: canary})
	if got.Reason != polychromev1alpha1.ReasonTLSFailed || !strings.Contains(got.Message, "does not speak TLS") {
		t.Errorf("reason %s: %s", got.Reason, got.Message)
	}
}

func TestAHandshakeThatHangs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	prober, r := developer()
	got := prober.Probe(t.Context(), Target{URL: "https://" + listener.Addr().String(), Timeout: 200 * time.Millisecond})
	if got.Reason != polychromev1alpha1.ReasonTimeout || r.open.Load() != 0 {
		t.Errorf("reason %s: %s; %d connections are open", got.Reason, got.Message, r.open.Load())
	}
}

func TestAProbeThatIsCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	url := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		read(r)
		close(asked)
		<-r.Context().Done()
	}))
	go func() {
		<-asked
		cancel()
	}()
	prober, r := developer()
	got := prober.Probe(ctx, Target{URL: url, Timeout: time.Minute})
	if got.Reason != polychromev1alpha1.ReasonTimeout || r.open.Load() != 0 {
		t.Errorf("reason %s: %s; %d connections are open", got.Reason, got.Message, r.open.Load())
	}
}
