package pushweb

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
)

func TestPublic(t *testing.T) {
	for _, a := range []string{"8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "223.255.255.255",
		"2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::808:808"} {
		if !Public(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as private", a)
		}
	}
	for _, a := range []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
		"169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1",
		"203.0.113.1", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::127.0.0.1", "fe80::1", "fec0::1", "fc00::1", "fd12:3456::1", "ff02::1", "2001:db8::1", "2002:7f00:1::", "2001::1", "100::1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:100.64.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::808:808",
		"2606:4700::1111%eth0",
	} {
		if Public(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as public", a)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address counts as public")
	}
}

func TestParseEndpoint(t *testing.T) {
	rule, err := newEndpoints([]string{"push.example", "*.wild.example"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for endpoint, words := range map[string]string{
		"https://push.example/s/1":                      "",
		"https://PUSH.example:443/s/1":                  "",
		"https://a.wild.example/s":                      "",
		"https://a.b.wild.example/s?k=v":                "",
		"":                                              "is missing",
		"http://push.example/s/1":                       "https://",
		"//push.example/s/1":                            "https://",
		"https://push.example":                          "no subscription",
		"https://push.example/":                         "no subscription",
		"https://user:pw@push.example/s":                "no user",
		"https://push.example:8443/s":                   "port 443",
		"https://wild.example/s":                        "not among",
		"https://evilwild.example/s":                    "not among",
		"https://push.example.evil.test/s":              "not among",
		"https://push.example./s":                       "not among",
		"https://push.example@evil.test/s":              "no user",
		"https://127.0.0.1/s":                           "not among",
		"https://[::1]/s":                               "not among",
		"https://localhost/s":                           "not among",
		"https://push.example/%zz":                      "no URL",
		"https://push.example/\r\nX: y":                 "no URL",
		"https://push.example/" + longPath(100):         "",
		"https://push.example/" + longPath(MaxEndpoint): "at most 2048",
	} {
		_, err := rule.parse(endpoint)
		var bad *EndpointError
		switch {
		case words == "" && err != nil:
			t.Errorf("%q: %v", endpoint, err)
		case words != "" && (!errors.As(err, &bad) || !strings.Contains(bad.Words, words)):
			t.Errorf("%.80q: got %v, want %q", endpoint, err, words)
		}
	}
}

// TestOneSpelling: what is signed for and what trouble is shared by are the same.
func TestOneSpelling(t *testing.T) {
	v := vendorWith(t, Config{Hosts: []string{"push.example"}}, options{})
	for _, endpoint := range []string{"https://push.example/s/1", "https://PUSH.example:443/s/2#f", "HTTPS://push.Example/s/3"} {
		m := message(endpoint)
		c, err := v.prepare(&m)
		if err != nil {
			t.Fatal(err)
		}
		if aud, _, _ := claims(t, v.signer, c.token); aud != "https://push.example" || c.origin != aud || Origin(endpoint) != aud {
			t.Errorf("%s: signed for %s, goes to %s, shared by %s", endpoint, aud, c.origin, Origin(endpoint))
		}
		if c.url.Fragment != "" {
			t.Errorf("%s keeps its fragment", endpoint)
		}
	}
}

func longPath(n int) string { return strings.Repeat("x", n) }

func TestHosts(t *testing.T) {
	for _, bad := range []string{"", "*.", "*", "https://push.example", "push.example/x", "push.example:443", "a.*.example", "u@push.example"} {
		if _, err := newEndpoints([]string{bad}, false); err == nil {
			t.Errorf("the host %q was taken", bad)
		}
	}
	rule, err := newEndpoints(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", "wns2-par02p.notify.windows.com"} {
		if !rule.allowed(host) {
			t.Errorf("%s is not allowed", host)
		}
	}
	if rule.allowed("googleapis.com") || rule.allowed("storage.googleapis.com") {
		t.Error("more of Google than its push service is allowed")
	}
}

func TestOrigin(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://Push.Example:443/a": "https://push.example", "https://push.example/b": "https://push.example",
		"http://127.0.0.1:8080/wp/x": "http://127.0.0.1:8080", "nothing": "", "https://%zz/": "", "": "",
	} {
		if got := Origin(endpoint); got != want {
			t.Errorf("%q: %q, want %q", endpoint, got, want)
		}
	}
}

// nameServer answers each question for an IPv4 address with addr, and that there is
// none of IPv6.
func nameServer(t *testing.T, addr string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-ended }) // closed once
	go func() {
		defer close(ended)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if _, err := conn.WriteTo(dnsAnswer(buf[:n], netip.MustParseAddr(addr)), from); err != nil {
				return
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// dnsAnswer writes the answer of RFC 1035 to a query with one question.
func dnsAnswer(query []byte, addr netip.Addr) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	kind := binary.BigEndian.Uint16(query[end+1:])
	out := append([]byte(nil), query[:end+5]...)
	out[2], out[3] = 0x81, 0x80 // an answer, without an error
	copy(out[4:12], []byte{0, 1, 0, 0, 0, 0, 0, 0})
	if kind != 1 {
		return out
	}
	out[7] = 1
	out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)
	return append(out, addr.AsSlice()...)
}

func vendorWith(t *testing.T, c Config, o options) *Vendor {
	t.Helper()
	pemBytes, _, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	c.Key, c.Subject = pemBytes, subject
	v, err := newVendor(c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

func message(endpoint string) push.Message {
	return push.Message{NoticeID: 7, DeviceID: 11, Title: "title", Body: "body", CollapseID: "7",
		ExpiresAt: time.Now().Add(6 * time.Hour),
		Address:   push.Address{Kind: push.KindWebPush, Token: endpoint, P256dh: rfcUaPublic, Auth: rfcAuth}}
}

func TestPrivateAddressIsRefused(t *testing.T) {
	for _, addr := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.1.1"} {
		v := vendorWith(t, Config{Hosts: []string{"push.example"}}, options{resolver: nameServer(t, addr)})
		err := v.CheckEndpoint(t.Context(), "https://push.example/s/1")
		var bad *EndpointError
		if !errors.As(err, &bad) || !strings.Contains(bad.Words, "private network") {
			t.Errorf("%s at registration: got %v", addr, err)
		}
		// A name that led elsewhere when it was registered is refused at the dial.
		_, err = v.Send(t.Context(), message("https://push.example/s/1"))
		var na *push.NoAnswerError
		if !errors.As(err, &na) || na.Written || na.Timeout || na.Code != codePrivate {
			t.Errorf("%s at the dial: got %v", addr, err)
		}
	}
}

func TestPublicAddressIsTaken(t *testing.T) {
	v := vendorWith(t, Config{Hosts: []string{"push.example"}}, options{resolver: nameServer(t, "8.8.8.8")})
	if err := v.CheckEndpoint(t.Context(), "https://push.example/s/1"); err != nil {
		t.Error(err)
	}
}

func TestLookupThatFailsIsNoFaultOfTheEndpoint(t *testing.T) {
	broken := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no network")
	}}
	v := vendorWith(t, Config{Hosts: []string{"push.example"}}, options{resolver: broken})
	err := v.CheckEndpoint(t.Context(), "https://push.example/s/1")
	var bad *EndpointError
	if err == nil || errors.As(err, &bad) {
		t.Errorf("got %v, want an error that is no EndpointError", err)
	}
}
