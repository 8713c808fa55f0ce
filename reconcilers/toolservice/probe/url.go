package probe

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/toolservice/probe/guard"
)

// Limits of a URL.
const (
	maxURL   = 2048
	maxHost  = 253
	maxLabel = 63
)

// CheckURL says what is wrong with a URL before anything is dialled:
// ReasonInvalidURL or ReasonURLBlocked and a message; "" when it may be tried.
// What a name resolves to is checked when it is dialled.
//
// A host has one spelling only, so that all who read it mean the same place:
// there is no 0x7f.1, no 127.1, no upper case and no dot at the end.
func CheckURL(raw string, allowLoopback bool) (polychromev1alpha1.Reason, string) {
	target, problem := parseURL(raw)
	if problem != "" {
		return polychromev1alpha1.ReasonInvalidURL, problem
	}
	host := target.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		// The port does not matter without an API server to compare with.
		rules := guard.Rules{AllowLoopback: allowLoopback}
		if why := rules.Refuse(netip.AddrPortFrom(addr, 0)); why != "" {
			return polychromev1alpha1.ReasonURLBlocked, "the URL points at " + why + ", which is never probed"
		}
	}
	if !allowLoopback && (host == "localhost" || strings.HasSuffix(host, ".localhost")) {
		return polychromev1alpha1.ReasonURLBlocked, "the URL points at the controller's own host, which is never probed"
	}
	return "", ""
}

// parseURL returns the URL, or what is wrong with it.
func parseURL(raw string) (*url.URL, string) {
	if problem := checkText(raw); problem != "" {
		return nil, problem
	}
	target, err := url.Parse(raw)
	switch {
	case err != nil:
		// The error quotes the URL, which may hold a password.
		return nil, "the URL cannot be parsed; write it as https://host/path"
	case target.User != nil:
		return nil, "the URL has user information; put a token into the Secret that auth.bearerSecretRef names"
	case target.Scheme != "http" && target.Scheme != "https" || target.Opaque != "" || target.Host == "":
		return nil, "the URL is not absolute with scheme http or https; write it as https://host/path"
	}
	if problem := checkAuthority(target); problem != "" {
		return nil, problem
	}
	return target, ""
}

func checkText(raw string) string {
	switch {
	case len(raw) > maxURL:
		return fmt.Sprintf("the URL is longer than %d bytes", maxURL)
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }):
		return "the URL has spaces, backslashes, control or non-ASCII characters; percent-encode them in the path and use punycode in the host"
	case strings.Contains(raw, "#"):
		return "the URL has a fragment; leave out '#' and what follows"
	}
	return ""
}

func checkAuthority(target *url.URL) string {
	host := target.Hostname()
	want := host
	if strings.HasPrefix(target.Host, "[") {
		want = "[" + host + "]"
	}
	if port := target.Port(); port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 || strconv.FormatUint(number, 10) != port {
			return "the URL's port is not a number from 1 to 65535"
		}
		want += ":" + port
	}
	if target.Host != want {
		return "the URL has a ':' without a port; write a port or leave it out"
	}
	return checkHost(host)
}

// checkHost relies on the parser for brackets: they are around IPv6 addresses
// and around nothing else.
func checkHost(host string) string {
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil && addr.Zone() != "":
		return "the URL's address has a zone, which means something on one host only"
	case err == nil && addr.String() != host:
		return "the URL's address is not in its canonical form; write it as " + addr.String()
	case err == nil:
		return ""
	case numeric(host):
		return "the URL's host looks like a number; write an IPv4 address as four decimal numbers without leading zeros"
	}
	return checkName(host)
}

// numeric reports whether some resolver reads a host as an IPv4 address: the
// last label decides, decimal, octal or hexadecimal.
func numeric(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if digits, hex := strings.CutPrefix(last, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

func checkName(host string) string {
	if len(host) > maxHost {
		return fmt.Sprintf("the URL's host is longer than %d bytes", maxHost)
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > maxLabel || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") ||
			strings.ContainsFunc(label, func(r rune) bool { return !inLabel(r) }) {
			return "the URL's host is not a plain name; write it in lower case letters, digits, '-' and '.', without a dot at the end"
		}
	}
	return ""
}

func inLabel(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_'
}
