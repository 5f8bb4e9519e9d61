package pushweb

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"bongsu/jobs/push"

	"golang.org/x/net/http2"
)

// serveOne speaks HTTP/2 without TLS with one peer: it reads one whole request, does
// as end says, and closes. The channel gives how often a request came.
func serveOne(t *testing.T, end func(*http2.Framer, uint32) error) (url string, done <-chan error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	ended := make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			ended <- err
			return
		}
		defer conn.Close()
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(conn, preface); err != nil || !bytes.Equal(preface, []byte(http2.ClientPreface)) {
			ended <- errors.Join(err, errors.New("no preface"))
			return
		}
		f := http2.NewFramer(conn, conn)
		if err := f.WriteSettings(); err != nil {
			ended <- err
			return
		}
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				ended <- err
				return
			}
			if data, ok := frame.(*http2.DataFrame); ok && data.StreamEnded() {
				ended <- end(f, data.StreamID)
				return
			}
		}
	}()
	return "http://" + ln.Addr().String() + "/wp/subscription-1", ended
}

// TestToldNobody: a push service that ends the connection before the call, or refuses
// it, has told nobody; one that ends it after the call may have. Neither is called again.
func TestToldNobody(t *testing.T) {
	for name, c := range map[string]struct {
		end     func(*http2.Framer, uint32) error
		written bool
	}{
		"GOAWAY before it": {func(f *http2.Framer, _ uint32) error { return f.WriteGoAway(0, http2.ErrCodeNo, nil) }, false},
		"GOAWAY after it":  {func(f *http2.Framer, id uint32) error { return f.WriteGoAway(id, http2.ErrCodeNo, nil) }, true},
		"refused":          {func(f *http2.Framer, id uint32) error { return f.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, false},
		"reset":            {func(f *http2.Framer, id uint32) error { return f.WriteRSTStream(id, http2.ErrCodeInternal) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			url, done := serveOne(t, c.end)
			v := vendorWith(t, Config{AllowPrivate: true, Timeout: time.Minute}, options{plain2: true})
			_, err := v.Send(t.Context(), message(url))
			var na *push.NoAnswerError
			if !errors.As(err, &na) || na.Written != c.written || na.Timeout {
				t.Errorf("got %#v, want written %v", err, c.written)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
