package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// addressOf gives the address that a request comes from, without the port: the other end
// of the connection, or, where that is a trusted proxy, the last address of
// X-Forwarded-For that is none. Whoever calls can write what he likes into the header,
// and each proxy adds at the right whom it heard from; so it is read from the right, and
// no further than the first that no trusted proxy vouches for. What is no address ends
// the reading.
func addressOf(remote string, forwarded []string, trusted []netip.Prefix) string {
	at, ok := parseAddress(remote)
	if !ok {
		return remote
	}
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, ok := parseAddress(strings.TrimSpace(hop))
		if !ok || !slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(at) }) {
			break
		}
		at = next
	}
	return at.String()
}

// parseAddress reads an address with or without a port, as the header and a connection
// have them: 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1], [2001:db8::1]:80.
func parseAddress(s string) (netip.Addr, bool) {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return a.Unmap().WithZone(""), err == nil
}

// networkOf gives what counts as one caller: an address of IPv4, and the 64 leading bits
// of one of IPv6, of which a single caller has as many as he likes.
func networkOf(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Is4() {
		return address
	}
	p, err := a.Prefix(64)
	if err != nil {
		return address
	}
	return p.String()
}

// hostOf gives the address that r came from, without the port.
func hostOf(r *http.Request) string { return stateOf(r.Context()).address }
