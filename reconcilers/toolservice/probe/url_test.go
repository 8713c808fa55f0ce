package probe

import (
	"strings"
	"testing"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestURLsThatMayBeTried(t *testing.T) {
	for _, raw := range []string{
		"http://tools", "https://tools/", "http://tools.default", "http://tools.default.svc:8080/mcp",
		"http://tools.default.svc.cluster.local/mcp?x=1&y=%20", "https://tools.example.com:443/a/b;c",
		"https://xn--bcher-kva.example/mcp", "http://my_tools/mcp", "http://1tools.example.com", "http://a1/",
		"http://10.0.0.1:8080/mcp", "http://203.0.113.1", "http://[fd00::1]:8080/mcp", "http://[2001:db8::1]",
		"http://[::ffff:10.0.0.1]/", "http://tools/@path", "http://tools/?q=@", "http://tools:1", "http://tools:65535",
		"http://" + strings.Repeat("a", 63) + ".example", "http://tools/" + strings.Repeat("a", 2048-13),
		"http://0xyz", "http://tools.0x1g", "http://3com",
	} {
		if reason, message := CheckURL(raw, false); reason != "" || message != "" {
			t.Errorf("%.80s: %s: %s", raw, reason, message)
		}
	}
}

func TestURLsThatAreInvalid(t *testing.T) {
	cases := map[string][]string{
		"scheme": {
			"", "tools", "tools:80", "//tools/mcp", "/mcp", "ftp://tools", "file:///etc/passwd", "ws://tools", "unix:///run/x",
			"gopher://tools", "javascript:alert(1)", "http:tools", "http:/tools", "http:///mcp", "http://", "https://?x",
			"http:", "https:tools.example.com", "httpx://tools", "data:text/plain,x",
		},
		"user information": {"http://user@tools", "http://user:" + canary + "@tools/mcp", "http://@tools", "http://:@tools", "http://a%40b@tools"},
		"fragment":         {"http://tools#", "http://tools/#x", "http://tools/mcp?a#b", "#", "http://tools#@other"},
		"characters": {
			" http://tools", "http://tools ", "http://to ols", "http://tools/a b", "http://tools\n", "http://tools\t/", "http://to\x00ols",
			"http://tools\\@other", "http:\\\\tools", "http://bücher.example", "http://tools/ü", "http://tools\u3002example",
			"http://\u2460\u2461\u2466.0.0.1", "http://tools/\xff", "http://tools\u200b", "http://tools\r\nHost: x", "http://tools\x7f",
		},
		"port":           {"http://tools:0", "http://tools:00", "http://tools:080", "http://tools:65536", "http://tools:99999999999999999999", "http://[fd00::1]:0"},
		"without a port": {"http://tools:", "http://tools:/mcp", "http://[fd00::1]:"},
		"cannot be parsed": {
			"http://tools:x", "http://tools:-1", "http://tools:80:80", "http://[fd00::1", "http://fd00::1]", "http://[fd00::1]x", "http://[fd00::1]80",
			"http://%zz", "http://tools/%zz", ":", "http://[fe80::1%eth0]", "http://to%20ols", "http://to^ols", "http://[tools]", "http://[127.0.0.1]", "http://[]", "http://[10.0.0.1]:80", "http://fd00::1", "http://::1",
			"http://%74ools", "http://%31%32%37.0.0.a", "http://fd00::1:80",
		},
		"looks like a number": {
			"http://2130706433", "http://0177.0.0.1", "http://0x7f.0.0.1", "http://0x7f000001", "http://127.1", "http://127.0.1",
			"http://127.0.0.01", "http://017700000001", "http://0", "http://0x0", "http://0x", "http://127.0.0.0x1", "http://1.2.3.4.5",
			"http://256.0.0.1", "http://127.0.0.256", "http://00.0.0.0", "http://2852039166", "http://0xa9fea9fe", "http://0251.0376.0251.0376",
			"http://0xA9.0xFE.0xA9.0xFE", "http://169.254.43518", "http://169.16689662", "http://025177524776", "http://tools.1", "http://1.",
			"http://127.0.0.1.", "http://0x7F.1", "http://4294967296", "http://0000000177.0.0.1", "http://0X7f000001", "http://169.254.169.0xfe",
			"http://010.0.0.1", "http://10.0.0.08", "http://1.1.1", "http://1..1", "http://.1", "http://0x7f.1.", "http://192.168.257",
		},
		"plain name": {
			"http://Tools", "http://tools.Example.com", "http://TOOLS", "http://tools.", "http://tools..example", "http://.tools", "http://-tools",
			"http://tools-", "http://tools.-x", "http://<tools>", "http://tools*", "http://to,ols", "http://to!ols",
			"http://to$ols", "http://to'ols", "http://to(ols)", "http://to;ols", "http://to=ols", "http://to+ols", "http://to~ols", "http://to&ols",
			"http://" + strings.Repeat("a", 64), "http://LOCALHOST", "http://localhost.", "http://.", "http://..",
		},
		"canonical form": {
			"http://[FD00::1]", "http://[fd00:0::1]", "http://[fd00::0001]", "http://[0:0:0:0:0:0:0:1]", "http://[::ffff:7f00:1]", "http://[::127.0.0.1]",
			"http://[64:ff9b::127.0.0.1]", "http://[::ffff:a9fe:a9fe]", "http://[FE80::1]", "http://[fd00:0:0:0:0:0:0:1]",
		},
		"zone":        {"http://[fe80::1%25eth0]", "http://[fd00::1%251]"},
		"longer than": {"http://tools/" + strings.Repeat("a", 2048-12), "http://" + strings.Repeat("a.", 127) + "com"},
	}
	count := 0
	for want, urls := range cases {
		for _, raw := range urls {
			count++
			for _, allowLoopback := range []bool{false, true} {
				reason, message := CheckURL(raw, allowLoopback)
				if reason != polychromev1alpha1.ReasonInvalidURL || !strings.Contains(message, want) {
					t.Errorf("%.80q: %s: %s; want it to say %q", raw, reason, message, want)
				}
				if strings.Contains(message, canary) {
					t.Errorf("%.80q: the message %q quotes it", raw, message)
				}
			}
		}
	}
	t.Logf("%d URLs", count)
}

func TestURLsThatAreBlocked(t *testing.T) {
	for _, host := range []string{
		"0.0.0.0", "0.1.2.3", "[::]", "169.254.169.254", "169.254.0.1", "[fe80::1]", "224.0.0.1", "255.255.255.255", "[ff02::1]",
		"100.100.100.200", "168.63.129.16", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "[::a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]",
		"[64:ff9b:1::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "[2001:0:808:808::5601:5601]", "[2001::5601:5601]",
	} {
		for _, raw := range []string{"http://" + host, "https://" + host + ":8443/mcp"} {
			for _, allowLoopback := range []bool{false, true} {
				reason, message := CheckURL(raw, allowLoopback)
				// An address that has a shorter spelling is invalid before it
				// is blocked.
				if reason != polychromev1alpha1.ReasonURLBlocked && !strings.Contains(message, "canonical") {
					t.Errorf("%s: %s: %s", raw, reason, message)
				}
			}
		}
	}
}

func TestLoopbackIsForDevelopment(t *testing.T) {
	for _, host := range []string{
		"127.0.0.1", "127.255.255.255", "[::1]", "[::ffff:127.0.0.1]", "[::7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
		"localhost", "a.localhost", "a.b.localhost",
	} {
		if reason, message := CheckURL("http://"+host+":8080/mcp", false); reason != polychromev1alpha1.ReasonURLBlocked {
			t.Errorf("%s in a cluster: %s: %s", host, reason, message)
		}
		if reason, message := CheckURL("http://"+host+":8080/mcp", true); reason != "" {
			t.Errorf("%s in development: %s: %s", host, reason, message)
		}
	}
	if reason, _ := CheckURL("http://notlocalhost", false); reason != "" {
		t.Errorf("notlocalhost: %s", reason)
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, raw := range []string{"http://tools/mcp", "https://[fd00::1]:8443", "http://0x7f.1", "http://user@tools", "http://127.0.0.1"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		reason, message := CheckURL(raw, false)
		if (reason == "") != (message == "") || len(message) > 1024 {
			t.Errorf("%q: reason %q, message %q", raw, reason, message)
		}
		if reason == "" && (strings.ContainsAny(raw, "#\\ ") || len(raw) > maxURL) {
			t.Errorf("%q may be tried", raw)
		}
	})
}
