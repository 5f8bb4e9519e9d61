package pushhttp_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	pushhttp "bongsu/jobs/push/http"
	"bongsu/jobs/push/pushtest"
)

func TestWire(t *testing.T) {
	server := pushtest.Serve(t, pushtest.Always(pushtest.HTTP(200, "", "{}")))
	v := newVendor(t, server.URL, time.Minute)
	m := pushtest.Message("tok")
	m.ExpiresAt = m.ExpiresAt.In(time.FixedZone("KST", 9*60*60))
	if _, err := v.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	m.Link = ""
	if _, err := v.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := server.Requests()
	want := `{"notice_id":7,"device_id":11,"token":"tok","platform":"android","title":"title","body":"body",` +
		`"link":"https://example.com/7","expires_at":"2030-01-02T03:04:05Z","collapse_id":"7"}`
	if string(got[0].Body) != want {
		t.Errorf("posted %s\nwant   %s", got[0].Body, want)
	}
	if strings.Contains(string(got[1].Body), "link") {
		t.Errorf("an empty link was posted: %s", got[1].Body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Authorization": "Bearer " + bearer,
		"Idempotency-Key": "n7-d11-k1", "User-Agent": "bongsu", "Accept-Encoding": "",
	} {
		if h := got[0].Header.Get(name); h != want {
			t.Errorf("%s is %q, want %q", name, h, want)
		}
	}
}

func TestUnknownHost(t *testing.T) {
	v := newVendor(t, "http://no-such-host.invalid/send", time.Minute)
	_, err := v.Send(t.Context(), pushtest.Message("tok"))
	var na *push.NoAnswerError
	if !errors.As(err, &na) || na.Written || na.Code != "dns" {
		t.Errorf("got %#v, want dns, not written", err)
	}
}

func TestUntrustedCertificate(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = quiet(t)
	server.StartTLS()
	defer server.Close()
	_, err := newVendor(t, server.URL, time.Minute).Send(t.Context(), pushtest.Message("tok"))
	var na *push.NoAnswerError
	if !errors.As(err, &na) || na.Written || na.Timeout || na.Code != "tls" {
		t.Errorf("got %#v, want tls, not written", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]pushhttp.Config{
		"no URL":           {},
		"no host":          {URL: "http:///send"},
		"other scheme":     {URL: "ftp://example.com/"},
		"bad escape":       {URL: "http://example.com/hidden%zz"},
		"password":         {URL: "http://user:hidden@example.com/"},
		"line in token":    {URL: "http://example.com/", Token: "hidden\nX: y"},
		"Hangul in token":  {URL: "http://example.com/", Token: "hidden값"},
		"negative timeout": {URL: "http://example.com/", Timeout: -1},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := pushhttp.New(c)
			if err == nil {
				t.Fatalf("made %v", v)
			}
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("%q tells what it was given", err)
			}
		})
	}
}

func TestWeigh(t *testing.T) {
	for given, max := range map[int]int{0: 4096, 100: 100} {
		v, err := pushhttp.New(pushhttp.Config{URL: "http://example.com/", PayloadBytes: given})
		if err != nil {
			t.Fatal(err)
		}
		want := push.Weight{Bytes: 3 + 6 + 1, Max: max}
		if got := v.Weigh(push.Message{Title: "abc", Body: "점검", Link: "/"}); got != want {
			t.Errorf("with %d bytes got %+v, want %+v", given, got, want)
		}
	}
}

func TestErrorWordsAreKept(t *testing.T) {
	body, err := json.Marshal(map[string]any{"error": "the device has no app"})
	if err != nil {
		t.Fatal(err)
	}
	server := pushtest.Serve(t, pushtest.Always(pushtest.HTTP(404, "", string(body))))
	r, err := newVendor(t, server.URL, time.Minute).Send(t.Context(), pushtest.Message("tok"))
	if err != nil || r.Code != "" || r.Message != "the device has no app" {
		t.Errorf("got %+v and %v, want a sentence as the message and no code", r, err)
	}
}
