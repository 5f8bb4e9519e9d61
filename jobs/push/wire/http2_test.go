package wire_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"golang.org/x/net/http2"

	"bongsu/jobs/push"
	"bongsu/jobs/push/wire"
)

// serveOne takes one HTTP/2 connection without TLS, reads one request to its end
// and lets end say what comes of it.
func serveOne(t *testing.T, end func(framer *http2.Framer, stream uint32) error) (url string, done chan error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	done = make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			done <- err
			return
		}
		defer conn.Close()
		done <- readOne(conn, end)
	}()
	return "http://" + ln.Addr().String() + "/", done
}

func readOne(conn net.Conn, end func(*http2.Framer, uint32) error) error {
	if _, err := io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface))); err != nil {
		return err
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		return err
	}
	for {
		f, err := framer.ReadFrame()
		if err != nil {
			return err
		}
		if data, ok := f.(*http2.DataFrame); ok && data.StreamEnded() {
			if err := end(framer, data.StreamID); err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, conn) // until the client goes
			return nil
		}
	}
}

// TestUnprocessed tells what told nobody from what may have.
func TestUnprocessed(t *testing.T) {
	for _, c := range []struct {
		name        string
		end         func(*http2.Framer, uint32) error
		unprocessed bool
		code        string
	}{
		{"refused stream", func(f *http2.Framer, stream uint32) error {
			return f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		}, true, "goaway"},
		{"goaway before it", func(f *http2.Framer, _ uint32) error { return f.WriteGoAway(0, http2.ErrCodeNo, nil) }, true, "goaway"},
		{"reset stream", func(f *http2.Framer, stream uint32) error { return f.WriteRSTStream(stream, http2.ErrCodeInternal) }, false, "reset"},
		{"goaway of an error", func(f *http2.Framer, _ uint32) error { return f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil) }, true, "goaway"},
		{"goaway after it, then the end", func(f *http2.Framer, stream uint32) error {
			return errors.Join(f.WriteGoAway(stream, http2.ErrCodeNo, nil), io.EOF)
		}, false, "closed"},
	} {
		for _, kind := range []string{"body", "plain"} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				url, done := serveOne(t, c.end)
				transport := &http.Transport{Protocols: new(http.Protocols)}
				transport.Protocols.SetUnencryptedHTTP2(true)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, io.NopCloser(bytes.NewReader([]byte("x"))))
				if err != nil {
					t.Fatal(err)
				}
				var body *wire.Body
				if kind == "body" {
					body = wire.NewBody(req, []byte("x"))
				}
				resp, err := transport.RoundTrip(req)
				if err == nil {
					resp.Body.Close()
					t.Fatal("it was answered")
				}
				if got := wire.Unprocessed(err); got != c.unprocessed {
					t.Errorf("%v: unprocessed is %v", err, got)
				}
				var na *push.NoAnswerError
				if !errors.As(wire.NoAnswer(t.Context(), err, true, wire.Hider{}), &na) || na.Code != c.code {
					t.Errorf("%v: got %+v, want %s", err, na, c.code)
				}
				if body != nil && !body.Written() {
					t.Error("the body did not leave")
				}
				transport.CloseIdleConnections()
				if err := <-done; err != nil && !errors.Is(err, io.EOF) {
					t.Error(err)
				}
			})
		}
	}
}
