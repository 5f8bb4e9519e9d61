package pushtest

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
)

// noAnswer wants a call to have ended without an answer.
func noAnswer(t *testing.T, r push.Result, err error) *push.NoAnswerError {
	t.Helper()
	var na *push.NoAnswerError
	if !errors.As(err, &na) {
		t.Fatalf("got the result %+v and the error %v, want a *push.NoAnswerError", r, err)
	}
	if r != (push.Result{}) {
		t.Errorf("an error came with the result %+v", r)
	}
	return na
}

// testNoAnswer has the ways in which a connection can fail.
func testNoAnswer(t *testing.T, setup Setup) {
	scripts := []struct {
		name   string
		script Script
	}{
		{"cut after the request", func(c *Conn) { c.Request() }},
		{"reset after the request", func(c *Conn) { c.Request(); c.Reset() }},
		{"cut within the head", func(c *Conn) { c.Request(); c.Say("HTTP/1.1 200 OK\r\nContent-Le") }},
		{"cut within the body", func(c *Conn) { c.Request(); c.Say("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{") }},
		{"not HTTP", func(c *Conn) { c.Request(); c.Say("+OK nonsense\r\n\r\n") }},
		{"not HTTP, with what is secret", func(c *Conn) { c.Request(); c.Say(setup.Secret + " no-answer-token\r\n\r\n") }},
	}
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			server := Serve(t, s.script)
			r, err := setup.New(t, server.URL, ample).Send(t.Context(), Message("no-answer-token"))
			na := noAnswer(t, r, err)
			if !na.Written || na.Timeout || na.Code == "" {
				t.Errorf("got %+v, want written, not by a limit, with a code", *na)
			}
			discreet(t, setup, err.Error(), "no-answer-token")
			oneRequest(t, server)
		})
	}
	t.Run("cut before the request", func(t *testing.T) {
		server := Serve(t, (*Conn).Reset)
		r, err := setup.New(t, server.URL, ample).Send(t.Context(), Message("token"))
		if na := noAnswer(t, r, err); na.Timeout {
			t.Errorf("got %+v, want no limit to have ended it", *na)
		}
	})
	t.Run("refused", func(t *testing.T) {
		r, err := setup.New(t, deadURL(t), ample).Send(t.Context(), Message("token"))
		if na := noAnswer(t, r, err); na.Written || na.Timeout || na.Code == "" {
			t.Errorf("got %+v, want not written, not by a limit, with a code", *na)
		}
	})
	t.Run("echo of what is secret", func(t *testing.T) {
		echo := HTTP(400, "", `{"code":"echo-token","message":"no `+setup.Secret+` and echo-token"}`)
		server := Serve(t, Always(echo))
		r, err := setup.New(t, server.URL, ample).Send(t.Context(), Message("echo-token"))
		if err != nil {
			t.Fatal(err)
		}
		discreet(t, setup, r.Code+r.Message, "echo-token")
	})
}

// discreet wants neither the credential nor the address in what is kept.
func discreet(t *testing.T, setup Setup, words, address string) {
	t.Helper()
	for _, secret := range []string{setup.Secret, address} {
		if strings.Contains(words, secret) {
			t.Errorf("%q is told in %q", secret, words)
		}
	}
}

func oneRequest(t *testing.T, server *Server) {
	t.Helper()
	if n := len(server.Requests()); n != 1 {
		t.Errorf("the server read %d requests for one call", n)
	}
}

// deadURL is where nobody listens.
func deadURL(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	return "http://" + ln.Addr().String() + "/v1/send"
}

// trickle says text, then one byte each 100 ms until the peer or the test goes.
func trickle(text string) Script {
	return func(c *Conn) {
		if _, ok := c.Request(); !ok || !c.Say(text) {
			return
		}
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-c.server.Gone:
				return
			case <-tick.C:
				if !c.Say("x") {
					return
				}
			}
		}
	}
}

// testLimits wants calls to end in time whatever the server does.
func testLimits(t *testing.T, setup Setup) {
	hang := func(c *Conn) {
		c.Request()
		<-c.server.Gone
	}
	for name, script := range map[string]Script{
		"hang":             hang,
		"trickle the head": trickle("HTTP/1.1 200 OK\r\nX-Slow: "),
		"trickle the body": trickle("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			server := Serve(t, script)
			vendor := setup.New(t, server.URL, limit)
			start := time.Now()
			r, err := vendor.Send(t.Context(), Message("token"))
			if took := time.Since(start); took < limit || took > limit+slack {
				t.Errorf("it took %v, want %v and no more than %v above", took, limit, slack)
			}
			if na := noAnswer(t, r, err); !na.Written || !na.Timeout {
				t.Errorf("got %+v, want written and ended by a limit", *na)
			}
			oneRequest(t, server)
		})
	}
	t.Run("trickle after a refusal", func(t *testing.T) {
		server := Serve(t, trickle("HTTP/1.1 404 Not Found\r\nContent-Length: 1000\r\n\r\n"))
		r, err := setup.New(t, server.URL, limit).Send(t.Context(), Message("token"))
		if err != nil || r.Status != 404 {
			t.Errorf("got %+v and %v, want the status that came in time", r, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := Serve(t, func(c *Conn) {
			c.Request()
			cancel()
			<-c.server.Gone
		})
		start := time.Now()
		r, err := setup.New(t, server.URL, ample).Send(ctx, Message("token"))
		if na := noAnswer(t, r, err); !na.Written || na.Timeout {
			t.Errorf("got %+v, want written and not ended by a limit", *na)
		}
		if took := time.Since(start); took > slack {
			t.Errorf("it went on for %v", took)
		}
	})
	t.Run("cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		server := Serve(t, Always(HTTP(200, setup.SentHeader, setup.Sent)))
		r, err := setup.New(t, server.URL, ample).Send(ctx, Message("token"))
		if na := noAnswer(t, r, err); na.Written {
			t.Errorf("got %+v, want not written", *na)
		}
		if n := len(server.Requests()); n != 0 {
			t.Errorf("the server read %d requests", n)
		}
	})
}
