package guard

import (
	"net/netip"
	"testing"
)

func TestClassify(t *testing.T) {
	cases := map[Class][]string{
		Ordinary: {
			"1.1.1.1", "8.8.8.8", "10.0.0.1", "10.96.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1",
			"169.253.255.255", "169.255.0.0", "126.255.255.255", "128.0.0.0", "1.0.0.0", "223.255.255.255",
			"240.0.0.1", "255.255.255.254", "2606:4700::1111", "fd00::1", "fc00::1", "fec0::1", "fe7f::1",
			"2001:db8::1", "2001:1::1", "2003::1", "::1:0:0", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::8.8.8.8",
			"::10.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b::10.0.0.1", "64:ff9b:1:808:8:800::", "64:ff9b:1::8.8.8.8",
			"64:ff9b:2::127.0.0.1", "2002:808:808::1", "2001:0:808:808:0:0:f7f7:f7f7", "fd00:ec2::253",
			"100.100.100.201", "168.63.129.17",
		},
		Unspecified: {
			"0.0.0.0", "0.0.0.1", "0.1.2.3", "0.255.255.255", "::", "::ffff:0.0.0.0", "::ffff:0.0.0.1", "::2",
			"::0.1.2.3", "64:ff9b::", "64:ff9b::0.0.0.1", "2002::", "2002:0:1::1", "::%eth0", "64:ff9b:1::", "64:ff9b:1::0.0.0.9", "2001::ffff:ffff",
		},
		Metadata: {
			"169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192",
			"fd00:42::42", "::ffff:169.254.169.254", "::169.254.169.254", "64:ff9b::169.254.169.254",
			"64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "2002:a9fe:a9fe::1", "2001:0:808:808::5601:5601",
			"2001:0:a9fe:a9fe::f7f7:f7f7", "64:ff9b:1::169.254.169.254", "64:ff9b:1:a9fe:a9:fe00::",
			"64:ff9b:1:a9:fe:a9fe::", "64:ff9b:1:0:a9:fea9:fe00:0", "64:ff9b:1:fffe::a9fe:a9fe",
			"fd00:ec2::254%eth0", "::ffff:100.100.100.200",
		},
		LinkLocal: {
			"169.254.0.0", "169.254.0.1", "169.254.170.2", "169.254.255.255", "fe80::", "fe80::1", "fe80::1%eth0",
			"febf::1", "::ffff:169.254.1.1", "::169.254.1.1", "64:ff9b::169.254.1.1", "2002:a9fe:101::",
			"2001:0:808:808::5601:fefe", "64:ff9b:1:a9fe:1:100::",
		},
		Multicast: {
			"224.0.0.0", "224.0.0.1", "239.255.255.255", "255.255.255.255", "ff00::", "ff02::1", "ff05::1:3",
			"ff02::1%eth0", "::ffff:224.0.0.1", "::224.0.0.1", "64:ff9b::224.0.0.1", "2002:e000:1::",
			"::ffff:255.255.255.255", "64:ff9b:1::239.1.2.3",
		},
		Loopback: {
			"127.0.0.0", "127.0.0.1", "127.1.2.3", "127.255.255.255", "::1", "::1%lo", "::ffff:127.0.0.1",
			"::127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "2002:7f00:1::1", "2001:0:808:808::80ff:fffe",
			"64:ff9b:1::127.0.0.1", "64:ff9b:1:7f00:0:100::", "64:ff9b:1:7f:0:1::", "64:ff9b:1:0:7f:0:100:0",
		},
	}
	for want, addrs := range cases {
		for _, addr := range addrs {
			if got := Classify(netip.MustParseAddr(addr)); got != want {
				t.Errorf("Classify(%s) = %v, want %v", addr, got, want)
			}
		}
	}
	if got := Classify(netip.Addr{}); got != Unspecified {
		t.Errorf("Classify of no address = %v, want %v", got, Unspecified)
	}
}

func TestRefuse(t *testing.T) {
	rules := Rules{APIServer: []netip.AddrPort{
		netip.MustParseAddrPort("10.96.0.1:443"),
		netip.MustParseAddrPort("[fd00::a]:6443"),
		netip.MustParseAddrPort("127.0.0.1:6443"),
	}}
	development := rules
	development.AllowLoopback = true
	cases := []struct {
		name   string
		rules  Rules
		target string
		want   string
	}{
		{"a service inside the cluster is the normal case", rules, "10.96.0.2:443", ""},
		{"the API server's address on another port is somebody else", rules, "10.96.0.1:8443", ""},
		{"another address on the API server's port is somebody else", rules, "10.96.0.7:443", ""},
		{"the API server is refused", rules, "10.96.0.1:443", "the cluster's API server"},
		{"the API server is refused as a mapped address", rules, "[::ffff:10.96.0.1]:443", "the cluster's API server"},
		{"the API server is refused as a translated address", rules, "[64:ff9b::a60:1]:443", "the cluster's API server"},
		{"the API server is refused as a 6to4 address", rules, "[2002:a60:1::]:443", "the cluster's API server"},
		{"the API server is refused over IPv6", rules, "[fd00::a]:6443", "the cluster's API server"},
		{"the API server is refused whatever the zone", rules, "[fd00::a%eth0]:6443", "the cluster's API server"},
		{"loopback is refused", rules, "127.0.0.1:80", "a loopback address"},
		{"loopback is for development", development, "127.0.0.1:80", ""},
		{"mapped loopback is for development", development, "[::ffff:127.0.0.1]:80", ""},
		{"the API server is refused also in development", development, "127.0.0.1:6443", "the cluster's API server"},
		{"all of loopback is the API server's on its port", development, "127.9.9.9:6443", "the cluster's API server"},
		{"IPv6 loopback is the API server's on its port too", development, "[::1]:6443", "the cluster's API server"},
		{"metadata is refused also in development", development, "169.254.169.254:80", "a cloud's metadata service"},
		{"link-local is refused also in development", development, "[fe80::1%eth0]:80", "a link-local address"},
		{"unspecified is refused also in development", development, "0.0.0.0:80", "an unspecified address"},
		{"multicast is refused also in development", development, "[ff02::1]:80", "a multicast address"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.rules.Refuse(netip.MustParseAddrPort(tc.target)); got != tc.want {
				t.Errorf("Refuse(%s) = %q, want %q", tc.target, got, tc.want)
			}
		})
	}
}
