package pushweb

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushtest"
)

func TestHeaders(t *testing.T) {
	v := plainVendor(t)
	server := pushtest.Serve(t, pushtest.Always(pushtest.HTTP(201, "", "")))
	m := message(server.URL)
	send := func(change func(*push.Message)) {
		t.Helper()
		other := m
		change(&other)
		if r, err := v.Send(t.Context(), other); err != nil || r.Outcome != push.Sent {
			t.Fatalf("got %+v and %v", r, err)
		}
	}
	send(func(*push.Message) {})
	send(func(m *push.Message) { m.Auth = "AAAAAAAAAAAAAAAAAAAAAA"; m.Title = "other" })
	send(func(m *push.Message) { m.CollapseID = "8"; m.ExpiresAt = time.Now().Add(-time.Hour) })
	send(func(m *push.Message) { m.CollapseID = ""; m.ExpiresAt = time.Time{} })
	got := server.Requests()
	for name, want := range map[string]string{
		"Content-Encoding": "^aes128gcm$", "Content-Type": "^application/octet-stream$", "Urgency": "^normal$",
		"Ttl": "^(2159[0-9]|21600)$", "Topic": "^[A-Za-z0-9_-]{32}$", "User-Agent": "^bongsu$",
		"Authorization": `^vapid t=[\w-]+\.[\w-]+\.[\w-]{86}, k=` + v.PublicKey() + "$",
	} {
		if h := got[0].Header.Get(name); !regexp.MustCompile(want).MatchString(h) {
			t.Errorf("%s is %q, want %s", name, h, want)
		}
	}
	topic := func(i int) string { return got[i].Header.Get("Topic") }
	if topic(0) != topic(1) || topic(0) == topic(2) || topic(3) != "" {
		t.Errorf("topics %q, %q, %q, %q: want one a notice, and none without a collapse id", topic(0), topic(1), topic(2), topic(3))
	}
	if got[0].Header.Get("Authorization") != got[1].Header.Get("Authorization") {
		t.Error("an origin's second call was signed anew")
	}
	if h := got[2].Header; h.Get("TTL") != "0" || h.Get("Urgency") != "high" {
		t.Errorf("an expired message has TTL %s and urgency %s", h.Get("TTL"), h.Get("Urgency"))
	}
	if h := got[3].Header; h.Get("TTL") != "2419200" {
		t.Errorf("a message without an end has TTL %s, want 28 days", h.Get("TTL"))
	}
}

func TestTTLIsCapped(t *testing.T) {
	now := time.Now()
	for left, want := range map[time.Duration]string{
		-time.Second: "0", 900 * time.Millisecond: "0", 90 * time.Second: "90", 28 * 24 * time.Hour: "2419200", 400 * 24 * time.Hour: "2419200",
	} {
		if got := seconds(ttl(now.Add(left), now)); got != want {
			t.Errorf("%v left: %s s, want %s", left, got, want)
		}
	}
}

func TestPayload(t *testing.T) {
	m := push.Message{NoticeID: 7, Title: `점검 "안내" <b>`, Body: "줄\n둘 🔥", Link: "https://example.com/?a=1&b=2", CollapseID: "n7"}
	got, err := encode(&m)
	want := `{"title":"점검 \"안내\" <b>","body":"줄\n둘 🔥","link":"https://example.com/?a=1&b=2","notice_id":7,"tag":"n7"}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s (%v)\nwant %s", got, err, want)
	}
	m.Link = ""
	if got, _ := encode(&m); strings.Contains(string(got), "link") || !json.Valid(got) {
		t.Errorf("without a link: %s", got)
	}
	w := plainVendor(t).Weigh(m)
	if plain, _ := encode(&m); w.Bytes != len(plain) || w.Max != 3993 {
		t.Errorf("weighs %+v, want %d of 3993", w, len(plain))
	}
}

// TestNotSent has the messages that end without a call.
func TestNotSent(t *testing.T) {
	v := plainVendor(t)
	server := pushtest.Serve(t, pushtest.Always(pushtest.HTTP(201, "", "")))
	for name, c := range map[string]struct {
		change func(*push.Message)
		want   push.Result
	}{
		"another host": {func(m *push.Message) { m.Token = "https://hidden.example/s/1" }, push.Result{Outcome: push.Permanent, Code: codeEndpoint}},
		"no endpoint":  {func(m *push.Message) { m.Token = "" }, push.Result{Outcome: push.Permanent, Code: codeEndpoint}},
		"bad key":      {func(m *push.Message) { m.P256dh = "hidden" }, push.Result{Outcome: push.Permanent, Code: codeKeys}},
		"bad secret":   {func(m *push.Message) { m.Auth = "hidden" }, push.Result{Outcome: push.Permanent, Code: codeKeys}},
		"too large":    {func(m *push.Message) { m.Body = strings.Repeat("가", 1400) }, push.Result{Outcome: push.Unfit, Code: codeTooLarge}},
	} {
		m := message(server.URL)
		c.change(&m)
		r, err := v.Send(t.Context(), m)
		if err != nil || r.Message == "" || strings.Contains(r.Message, "hidden") {
			t.Errorf("%s: got %+v and %v, want words that tell nothing of it", name, r, err)
		}
		c.want.Reason, r.Message = push.Rejected, ""
		if r != c.want {
			t.Errorf("%s: got %+v, want %+v", name, r, c.want)
		}
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestNewRefuses(t *testing.T) {
	pemBytes, _, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	p384 := "-----BEGIN EC PRIVATE KEY-----\nhidden\n-----END EC PRIVATE KEY-----\n"
	for name, c := range map[string]Config{
		"no key":           {Subject: subject},
		"no subject":       {Key: pemBytes},
		"mailto twice":     {Key: pemBytes, Subject: "mailto:mailto:push@example.com"},
		"nonsense key":     {Key: []byte("hidden"), Subject: subject},
		"zero key":         {Key: []byte(strings.Repeat("A", 43)), Subject: subject},
		"broken PEM":       {Key: []byte(p384), Subject: subject},
		"public key alone": {Key: []byte("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), Subject: subject},
		"bad host":         {Key: pemBytes, Subject: subject, Hosts: []string{"https://push.example"}},
		"negative timeout": {Key: pemBytes, Subject: subject, Timeout: -1},
		"negative calls":   {Key: pemBytes, Subject: subject, MaxInFlight: -1},
	} {
		if v, err := New(c); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %v and %v", name, v, err)
		}
	}
}

func TestUnknownHost(t *testing.T) {
	v := vendorWith(t, Config{Hosts: []string{"*.invalid"}}, options{})
	_, err := v.Send(t.Context(), message("https://no-such-host.invalid/subscription-1"))
	var na *push.NoAnswerError
	if !errors.As(err, &na) || na.Written || na.Code != "dns" || strings.Contains(err.Error(), "subscription-1") {
		t.Errorf("got %v, want dns, not written, without the endpoint", err)
	}
}
