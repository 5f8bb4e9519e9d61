package pushweb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// MaxEndpoint is how long an endpoint may be, in bytes.
const MaxEndpoint = 2048

// DefaultHosts are the push services of the browsers in use.
func DefaultHosts() []string {
	return []string{
		"fcm.googleapis.com", "*.push.services.mozilla.com", "*.push.apple.com",
		"*.notify.windows.com", "*.push.samsungosp.com", "*.push.samsung.com",
	}
}

// EndpointError says why an endpoint is not posted to, in words for the field.
type EndpointError struct{ Words string }

func (e *EndpointError) Error() string { return "pushweb: endpoint: " + e.Words }

// Field gives the name of the bad field and the words to show beside it, for whoever
// must not import this package.
func (e *EndpointError) Field() (name, words string) { return "endpoint", e.Words }

// endpoints is the rule for the addresses that browsers hand in: each of them makes
// this server call somebody.
type endpoints struct {
	hosts        []string // in lower case; "*." before one: each below it
	allowPrivate bool
	resolver     *net.Resolver
}

func newEndpoints(hosts []string, allowPrivate bool) (endpoints, error) {
	if len(hosts) == 0 {
		hosts = DefaultHosts()
	}
	r := endpoints{allowPrivate: allowPrivate, resolver: net.DefaultResolver}
	for _, h := range hosts {
		bare := strings.TrimPrefix(h, "*.")
		if bare == "" || strings.ContainsAny(bare, "*/:@ ") || strings.HasPrefix(bare, ".") {
			return endpoints{}, fmt.Errorf("pushweb: the allowed host %q must be a bare host name, with *. before it or without", h)
		}
		r.hosts = append(r.hosts, strings.ToLower(h))
	}
	if allowPrivate {
		r.hosts = append(r.hosts, "localhost", "127.0.0.1", "::1")
	}
	return r, nil
}

// parse holds an endpoint against all of the rule that needs no network.
func (r *endpoints) parse(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	switch {
	case endpoint == "":
		return nil, &EndpointError{"is missing; copy it from the browser's subscription"}
	case len(endpoint) > MaxEndpoint:
		return nil, &EndpointError{fmt.Sprintf("has %d bytes; at most %d are taken", len(endpoint), MaxEndpoint)}
	case err != nil:
		return nil, &EndpointError{"is no URL; copy it from the browser's subscription"}
	case u.Scheme != "https" && (u.Scheme != "http" || !r.allowPrivate):
		return nil, &EndpointError{"must begin with https://"}
	case u.User != nil:
		return nil, &EndpointError{"must carry no user and no password"}
	case !r.allowed(strings.ToLower(u.Hostname())):
		return nil, &EndpointError{"is at a host that is not among the allowed push services"}
	case u.Port() != "" && u.Port() != "443" && !r.allowPrivate:
		return nil, &EndpointError{"must use the standard port 443"}
	case strings.Trim(u.Path, "/") == "":
		return nil, &EndpointError{"names a push service and no subscription there"}
	}
	u.Host, u.Fragment = strings.ToLower(u.Host), ""
	if u.Scheme == "https" {
		u.Host = strings.TrimSuffix(u.Host, ":443") // one origin in one spelling
	}
	return u, nil
}

func (r *endpoints) allowed(host string) bool {
	return slices.ContainsFunc(r.hosts, func(h string) bool {
		if below, ok := strings.CutPrefix(h, "*"); ok {
			return strings.HasSuffix(host, below) && len(host) > len(below)
		}
		return host == h
	})
}

// check is parse, and looks the host up.
func (r *endpoints) check(ctx context.Context, endpoint string) error {
	u, err := r.parse(endpoint)
	if err != nil || r.allowPrivate {
		return err
	}
	found, err := r.resolver.LookupNetIP(ctx, "ip", u.Hostname())
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return &EndpointError{"is at a host that does not exist"}
	case err != nil:
		return fmt.Errorf("pushweb: looking up the endpoint's host: %w", err)
	}
	for _, a := range found {
		if !Public(a) {
			return &EndpointError{"is at a host inside a private network"}
		}
	}
	return nil
}

// Rule gives the rule for endpoints without a vendor: hosts and allowPrivate are as in
// Config. Its error is an *EndpointError, or says that the look-up failed.
func Rule(hosts []string, allowPrivate bool) (func(ctx context.Context, endpoint string) error, error) {
	rule, err := newEndpoints(hosts, allowPrivate)
	if err != nil {
		return nil, err
	}
	return rule.check, nil
}

// Origin is what an endpoint's trouble is shared by: scheme, host and port, in one
// spelling. Empty for what is no URL with a host.
func Origin(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	}
	return strings.ToLower(u.Scheme) + "://" + host
}

// Public tells whether an address is one of the open Internet: no loopback, private,
// link-local, shared (100.64/10), multicast, reserved or documentation address, in
// IPv4, in IPv6, or the one inside the other.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if a.Is4() {
		return !within(a, reserved4)
	}
	if nat64.Contains(a) {
		b := a.As16()
		return Public(netip.AddrFrom4([4]byte(b[12:])))
	}
	return a.IsValid() && a.Zone() == "" && global6.Contains(a) && !within(a, reserved6)
}

func within(a netip.Addr, list []netip.Prefix) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	global6   = netip.MustParsePrefix("2000::/3") // all that is given out
	reserved6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
	reserved4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
		"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3")
)

func prefixes(list ...string) (out []netip.Prefix) {
	for _, p := range list {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}
