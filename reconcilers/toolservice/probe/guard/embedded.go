package guard

import "net/netip"

// Prefixes of IPv6 addresses that hold an IPv4 address.
var (
	compatible = netip.MustParsePrefix("::/96")          // RFC 4291, section 2.5.5.1
	nat64      = netip.MustParsePrefix("64:ff9b::/96")   // RFC 6052
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48") // RFC 8215
	sixToFour  = netip.MustParsePrefix("2002::/16")      // RFC 3056
	teredo     = netip.MustParsePrefix("2001::/32")      // RFC 4380
)

// Embedded returns the IPv4 addresses that an IPv6 address may stand for, none
// for an address that stands only for itself.
func Embedded(addr netip.Addr) []netip.Addr {
	addr = addr.WithZone("")
	if addr.Is4In6() {
		return []netip.Addr{addr.Unmap()}
	}
	if !addr.Is6() {
		return nil
	}
	b := addr.As16()
	switch {
	case compatible.Contains(addr), nat64.Contains(addr):
		return []netip.Addr{ipv4(b[12], b[13], b[14], b[15])}
	case localNAT64.Contains(addr):
		return localTranslations(b)
	case sixToFour.Contains(addr):
		return []netip.Addr{ipv4(b[2], b[3], b[4], b[5])}
	case teredo.Contains(addr):
		// The server, and the client with its bits inverted.
		return []netip.Addr{ipv4(b[4], b[5], b[6], b[7]), ipv4(^b[12], ^b[13], ^b[14], ^b[15])}
	}
	return nil
}

// localTranslations reads an address of the local-use translation prefix. The
// length of the prefix within it is the network's choice and decides where the
// IPv4 address lies (RFC 6052, section 2.2; the octet at 8 is skipped). Each
// place is read. A place in 0.0.0.0/8 only says that another one is in use,
// unless all are.
func localTranslations(b [16]byte) []netip.Addr {
	places := []netip.Addr{
		ipv4(b[6], b[7], b[9], b[10]),    // /48
		ipv4(b[7], b[9], b[10], b[11]),   // /56
		ipv4(b[9], b[10], b[11], b[12]),  // /64
		ipv4(b[12], b[13], b[14], b[15]), // /96
	}
	var used []netip.Addr
	for _, place := range places {
		if !thisNetwork.Contains(place) {
			used = append(used, place)
		}
	}
	if len(used) == 0 {
		return places
	}
	return used
}

func ipv4(a, b, c, d byte) netip.Addr { return netip.AddrFrom4([4]byte{a, b, c, d}) }
