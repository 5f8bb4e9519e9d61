package web

import (
	"net/netip"
	"strings"
	"testing"

	"bongsu/db"
)

func TestAddressBehindProxies(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
	for _, c := range []struct {
		name, remote string
		forwarded    []string
		trusted      []netip.Prefix
		want         string
	}{
		{"no proxy", "192.0.2.1:4000", nil, trusted, "192.0.2.1"},
		{"nobody is trusted", "10.0.0.1:4000", []string{"192.0.2.1"}, nil, "10.0.0.1"},
		{"a caller who is no proxy lies", "192.0.2.1:4000", []string{"198.51.100.7"}, trusted, "192.0.2.1"},
		{"one proxy", "10.0.0.1:4000", []string{"192.0.2.1"}, trusted, "192.0.2.1"},
		{"two proxies", "10.0.0.1:4000", []string{"192.0.2.1, 10.0.0.2"}, trusted, "192.0.2.1"},
		{"the caller wrote the first himself", "10.0.0.1:4000", []string{"198.51.100.7, 192.0.2.1"}, trusted, "192.0.2.1"},
		{"he wrote that he is a proxy", "10.0.0.1:4000", []string{"198.51.100.7, 10.9.9.9", "192.0.2.1"}, trusted, "192.0.2.1"},
		{"two lines", "10.0.0.1:4000", []string{"198.51.100.7", "192.0.2.1,10.0.0.2"}, trusted, "192.0.2.1"},
		{"all are proxies", "10.0.0.1:4000", []string{"10.0.0.3, 10.0.0.2"}, trusted, "10.0.0.3"},
		{"no address", "10.0.0.1:4000", []string{"192.0.2.1, unknown"}, trusted, "10.0.0.1"},
		{"no address behind a proxy", "10.0.0.1:4000", []string{"' OR 1=1, 10.0.0.2"}, trusted, "10.0.0.2"},
		{"an empty header", "10.0.0.1:4000", []string{""}, trusted, "10.0.0.1"},
		{"with a port", "10.0.0.1:4000", []string{"192.0.2.1:81"}, trusted, "192.0.2.1"},
		{"IPv6", "[2001:db8:1::5]:4000", []string{"[2001:db8:2::7]:81"}, trusted, "2001:db8:2::7"},
		{"IPv4 as IPv6", "[::ffff:10.0.0.1]:4000", []string{"::ffff:192.0.2.1"}, trusted, "192.0.2.1"},
		{"a socket", "@", []string{"192.0.2.1"}, trusted, "@"},
	} {
		if got := addressOf(c.remote, c.forwarded, c.trusted); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for address, want := range map[string]string{"192.0.2.1": "192.0.2.1", "2001:db8:2:3:4::7": "2001:db8:2:3::/64", "@": "@"} {
		if got := networkOf(address); got != want {
			t.Errorf("the network of %s is %s, want %s", address, got, want)
		}
	}
}

// Behind a trusted proxy guesses of one caller cost another nothing, and the log of acts
// has the caller's address.
func TestSignInsBehindAProxyAreToldApart(t *testing.T) {
	x := newRig(t, func(d *Deps) { d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	x.withPassword(db.Operator)
	guess := func(from string) answer {
		return x.send("POST", "/signin", "email=operator@example.com&password=guess", withHeader("Content-Type", "application/x-www-form-urlencoded"),
			withHeader("X-Forwarded-For", from))
	}
	for range 6 {
		guess("203.0.113.9, 192.0.2.1")
	}
	if a := guess("203.0.113.10, 192.0.2.1"); !strings.Contains(string(a.body), "oo many failed tries") {
		t.Errorf("who writes another first address is let off: %d %s", a.status, a.body)
	}
	if a := guess("192.0.2.2"); !strings.Contains(string(a.body), "password is wrong") {
		t.Errorf("another caller: %d %s", a.status, a.body)
	}
	if n := x.count("SELECT count(*) FROM audit WHERE act = 'signin' AND result = 'refused' AND detail->>'address' = '192.0.2.1'"); n != 5 {
		t.Errorf("%d refusals with the caller's address, want 5", n)
	}
}
