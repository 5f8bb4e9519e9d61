package pushsim_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"bongsu/jobs/push/pushsim"
)

// BenchmarkCall measures the stand-in with a client that does next to nothing:
// each of 256 connections says the same call and reads to the end of the head.
func BenchmarkCall(b *testing.B) {
	s, err := pushsim.Start(pushsim.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	u, err := url.Parse(s.URL())
	if err != nil {
		b.Fatal(err)
	}
	const conns = 256
	body := `{"notice_id":1,"device_id":2,"token":"bench-device-token","title":"title","body":"body"}`
	call := fmt.Sprintf("POST /send HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	var all sync.WaitGroup
	for i := range conns {
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		share := (b.N + i) / conns
		all.Go(func() {
			r := bufio.NewReader(conn)
			for range share {
				if _, err := conn.Write([]byte(call)); err != nil {
					b.Error(err)
					return
				}
				resp, err := http.ReadResponse(r, nil)
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := r.Discard(int(resp.ContentLength)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if n := s.Counts().Delivered; n != int64(b.N) {
		b.Errorf("%d of %d calls were taken", n, b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
