package pushtest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"bongsu/jobs/push"
)

// testOneCall wants one request for each Send, also where the connection was
// used before and breaks: a client library may repeat the request by itself.
func testOneCall(t *testing.T, setup Setup) {
	for name, end := range map[string]func(*Conn){
		"closed": func(*Conn) {},
		"reset":  (*Conn).Reset,
	} {
		t.Run(name, func(t *testing.T) {
			server := Serve(t, func(c *Conn) {
				if _, ok := c.Request(); ok && c.Say(HTTP(200, setup.SentHeader, setup.Sent)) {
					c.Request()
					end(c)
				}
			})
			vendor := setup.New(t, server.URL, ample)
			if _, err := vendor.Send(t.Context(), Message("first")); err != nil {
				t.Fatal(err)
			}
			r, err := vendor.Send(t.Context(), Message("second"))
			if na := noAnswer(t, r, err); !na.Written {
				t.Errorf("got %+v, want written", *na)
			}
			if n := len(server.Requests()); n != 2 {
				t.Errorf("the server read %d requests for two calls", n)
			}
		})
	}
	t.Run("connection kept", func(t *testing.T) {
		var mu sync.Mutex
		conns := 0
		answer := Always(HTTP(503, "", strings.Repeat("busy ", 1000)))
		server := Serve(t, func(c *Conn) {
			mu.Lock()
			conns++
			mu.Unlock()
			answer(c)
		})
		vendor := setup.New(t, server.URL, ample)
		for range 5 {
			if _, err := vendor.Send(t.Context(), Message("token")); err != nil {
				t.Fatal(err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if conns != 1 {
			t.Errorf("five calls took %d connections: the answers were not read to the end", conns)
		}
	})
}

// testRedirect wants a redirect to be an answer, not a way to go.
func testRedirect(t *testing.T, setup Setup) {
	other := Serve(t, Always(HTTP(200, setup.SentHeader, setup.Sent)))
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := Serve(t, Always(HTTP(status, "Location: "+other.URL+"\r\n", "")))
		r, err := setup.New(t, server.URL, ample).Send(t.Context(), Message("token"))
		if err != nil || r.Outcome != push.Settings || r.Status != status {
			t.Errorf("%d: got %+v and %v, want settings", status, r, err)
		}
		oneRequest(t, server)
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("the other host got %d requests", n)
	}
}

// testMessage wants what is posted to be what was written.
func testMessage(t *testing.T, setup Setup) {
	server := Serve(t, Always(HTTP(200, setup.SentHeader, setup.Sent)))
	vendor := setup.New(t, server.URL, ample)
	texts := []string{
		"점검 안내 🔥", `quotes " and \ and '`, "lines\nand\ttabs\r\x00\x01\x1f\x7f", "</script>&<!--",
		"\u2028\u2029\uFEFF", "가" /* not composed */, strings.Repeat("긴 글 ", 200),
	}
	for i, text := range texts {
		m := Message(fmt.Sprintf("token-%d-\"\\", i))
		m.Title, m.Body, m.Key = text, text+"!", fmt.Sprintf("n7-d%d-k1", i)
		r, err := vendor.Send(t.Context(), m)
		if err != nil || r.Outcome != push.Sent || r.MessageID != "m-1" {
			t.Fatalf("got %+v and %v, want sent as m-1", r, err)
		}
		got := server.Requests()[i]
		token, title, body, err := setup.Fields(got.Body)
		if err != nil || token != m.Token || title != m.Title || body != m.Body {
			t.Errorf("posted %q, %q, %q (%v), want %q, %q, %q", token, title, body, err, m.Token, m.Title, m.Body)
		}
		if got.Method != http.MethodPost || !strings.Contains(fmt.Sprint(got.Header), setup.Secret) {
			t.Errorf("%s with %v, want POST with the credential", got.Method, got.Header)
		}
	}
	light, heavy := vendor.Weigh(push.Message{Title: "a"}), vendor.Weigh(push.Message{Title: strings.Repeat("가", 1000)})
	if light.Max <= 0 || heavy.Bytes-light.Bytes < 3*1000-1 || heavy.Max != light.Max {
		t.Errorf("a short message weighs %+v, a long one %+v", light, heavy)
	}
	if c := vendor.Credential(); c.Scope == "" || len(c.Fingerprint) != 12 || strings.Contains(setup.Secret, c.Fingerprint) {
		t.Errorf("tells %+v of its credential", c)
	}
}

// testAtOnce wants many calls at once to get each its own answer.
func testAtOnce(t *testing.T, setup Setup) {
	const senders, each = 32, 20
	server := Serve(t, func(c *Conn) {
		for {
			r, ok := c.Request()
			if !ok {
				return
			}
			token, _, _, err := setup.Fields(r.Body)
			if err != nil || !c.Say(HTTP(400, "", `{"error":{"code":"for-`+strings.TrimPrefix(token, "token-")+`"}}`)) {
				return
			}
		}
	})
	vendor := setup.New(t, server.URL, ample)
	errs := make(chan error, senders)
	for i := range senders {
		go func() {
			var all error
			for j := range each {
				name := fmt.Sprintf("%d-%d", i, j)
				r, err := vendor.Send(t.Context(), Message("token-"+name))
				if err != nil || r.Code != "for-"+name {
					all = errors.Join(all, fmt.Errorf("%s got %+v and %w", name, r, err))
				}
			}
			errs <- all
		}()
	}
	for range senders {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := len(server.Requests()); n != senders*each {
		t.Errorf("the server read %d requests for %d calls", n, senders*each)
	}
}
