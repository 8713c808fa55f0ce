package guard

import (
	"net/netip"
	"slices"
)

// Class is what kind of place an address is.
type Class int

// Classes of addresses. Of those that are refused, the first that fits counts.
const (
	// Ordinary is any address that may be dialled, private ones included.
	Ordinary Class = iota
	// Unspecified is 0.0.0.0/8 and ::, which lead to the node itself.
	Unspecified
	// Metadata is the address of a cloud's metadata service.
	Metadata
	// LinkLocal is 169.254.0.0/16 and fe80::/10.
	LinkLocal
	// Multicast is every group of receivers, broadcast included.
	Multicast
	// Loopback is 127.0.0.0/8 and ::1.
	Loopback
)

// String is the class in the words of a message.
func (c Class) String() string {
	switch c {
	case Unspecified:
		return "an unspecified address"
	case Metadata:
		return "a cloud's metadata service"
	case LinkLocal:
		return "a link-local address"
	case Multicast:
		return "a multicast address"
	case Loopback:
		return "a loopback address"
	default:
		return "an ordinary address"
	}
}

var (
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8")
	broadcast   = netip.MustParseAddr("255.255.255.255")
	// metadata lists the services that are not link-local, or are known best
	// by their address: one for all, then AWS, Google, Alibaba, Azure, Oracle
	// and Scaleway.
	metadata = []netip.Addr{
		netip.MustParseAddr("169.254.169.254"),
		netip.MustParseAddr("fd00:ec2::254"),
		netip.MustParseAddr("fd20:ce::254"),
		netip.MustParseAddr("100.100.100.200"),
		netip.MustParseAddr("168.63.129.16"),
		netip.MustParseAddr("192.0.0.192"),
		netip.MustParseAddr("fd00:42::42"),
	}
)

// Classify says what kind of place an address is, itself or by the IPv4
// address in it. The zone does not matter.
func Classify(addr netip.Addr) Class {
	addr = addr.WithZone("").Unmap()
	if class := classify(addr); class != Ordinary {
		return class
	}
	for _, inner := range Embedded(addr) {
		if class := classify(inner); class != Ordinary {
			return class
		}
	}
	return Ordinary
}

func classify(addr netip.Addr) Class {
	switch {
	case !addr.IsValid(), addr.IsUnspecified(), thisNetwork.Contains(addr):
		return Unspecified
	case slices.Contains(metadata, addr):
		return Metadata
	case addr.IsLinkLocalUnicast():
		return LinkLocal
	case addr.IsMulticast(), addr == broadcast:
		return Multicast
	case addr.IsLoopback():
		return Loopback
	}
	return Ordinary
}

// Rules are what an installation allows.
type Rules struct {
	// AllowLoopback lets loopback addresses be dialled, for development.
	AllowLoopback bool
	// APIServer are the addresses of the API server.
	APIServer []netip.AddrPort
}

// Refuse says why an address and port may not be dialled, as a noun; "" if they
// may.
func (r Rules) Refuse(target netip.AddrPort) string {
	class := Classify(target.Addr())
	if class != Ordinary && (class != Loopback || !r.AllowLoopback) {
		return class.String()
	}
	for _, server := range r.APIServer {
		if server.Port() == target.Port() && samePlace(server.Addr(), target.Addr()) {
			return "the cluster's API server"
		}
	}
	return ""
}

// samePlace reports whether two addresses lead to one place. All of loopback
// is one place: a server that listens on every address answers on each of it.
func samePlace(a, b netip.Addr) bool {
	if Classify(a) == Loopback && Classify(b) == Loopback {
		return true
	}
	for _, one := range append(Embedded(a), a.WithZone("")) {
		if one == b.WithZone("") || slices.Contains(Embedded(b), one) {
			return true
		}
	}
	return false
}
