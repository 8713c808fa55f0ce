package toolservice

import (
	"strings"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func remote(kind, url string) polychromev1alpha1.ToolServiceRemote {
	return polychromev1alpha1.ToolServiceRemote{Type: kind, URL: url}
}

func TestTarget(t *testing.T) {
	const url = "https://tools.example.com/mcp"
	cases := map[string]struct {
		change   option
		loopback bool
		wantURL  string
		want     polychromev1alpha1.Reason
		wantText string
	}{
		"one remote":                              {change: remotes(remote("streamable-http", url)), wantURL: url},
		"a remote without a type":                 {change: remotes(remote("", url)), wantURL: url},
		"the first of the right transport":        {change: remotes(remote("sse", "https://a.example.com/"), remote("", url)), wantURL: url},
		"the first whose URL can be used":         {change: remotes(remote("", "ftp://a.example.com/"), remote("", url)), wantURL: url},
		"none":                                    {change: remotes(), want: polychromev1alpha1.ReasonNoRemote, wantText: "add one"},
		"none of the right transport":             {change: remotes(remote("sse", url)), want: polychromev1alpha1.ReasonNoRemote},
		"a URL of another scheme":                 {change: remotes(remote("sse", url), remote("", "ftp://a.example.com/")), want: polychromev1alpha1.ReasonInvalidURL, wantText: "spec.remotes[1].url: "},
		"the first of several that are wrong":     {change: remotes(remote("", "http://169.254.169.254/"), remote("", "ftp://a/")), want: polychromev1alpha1.ReasonURLBlocked, wantText: "spec.remotes[0].url: "},
		"this very host":                          {change: remotes(remote("", "http://127.0.0.1:8080/mcp")), want: polychromev1alpha1.ReasonURLBlocked},
		"this very host, allowed":                 {change: remotes(remote("", "http://127.0.0.1:8080/mcp")), loopback: true, wantURL: "http://127.0.0.1:8080/mcp"},
		"a wallet key":                            {change: bearer("polychrome-wallet-key-7", "token"), want: polychromev1alpha1.ReasonReservedSecret, wantText: "polychrome-wallet-key-7"},
		"the attestation":                         {change: bearer("polychrome-state-attestation", ""), want: polychromev1alpha1.ReasonReservedSecret},
		"a name that only begins like it":         {change: bearer("polychrome-wallet", ""), wantURL: "http://weather.tools/mcp"},
		"a Secret without a name":                 {change: bearer("", "token"), want: polychromev1alpha1.ReasonInvalidSpec, wantText: "spec.auth.bearerSecretRef.name"},
		"authentication without a Secret is none": {change: func(ts *polychromev1alpha1.ToolService) { ts.Spec.Auth = &polychromev1alpha1.ToolServiceAuth{} }, wantURL: "http://weather.tools/mcp"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			url, wrong := rules{allowLoopback: test.loopback}.target(&bare(test.change).Spec)
			if wrong.reason != test.want || !strings.Contains(wrong.message, test.wantText) {
				t.Errorf("want %q with %q, got %q: %s", test.want, test.wantText, wrong.reason, wrong.message)
			}
			if test.want == "" && url != test.wantURL {
				t.Errorf("want %s, got %s", test.wantURL, url)
			}
		})
	}
}

func TestBearerOfFillsInTheKey(t *testing.T) {
	ts := bare(bearer("weather-token", ""))
	if got := bearerOf(&ts.Spec); got.Key != "token" || ts.Spec.Auth.BearerSecretRef.Key != "" {
		t.Errorf("want the key token, and the spec untouched, got %q and %q", got.Key, ts.Spec.Auth.BearerSecretRef.Key)
	}
	ts = bare(bearer("weather-token", "api"))
	if got := bearerOf(&ts.Spec); got.Key != "api" {
		t.Errorf("want the key api, got %q", got.Key)
	}
}
