package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFaultClientLeavesAnywhere closes the connection of a submit at 50 random
// moments: while the request is being sent, while the server works, while it
// answers. Each time there is one notice, and the log has its number, or there is
// none; and pressing again leads to the one.
func TestFaultClientLeavesAnywhere(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t, plainVendor())
	p := s.start(roleWeb)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	host := strings.TrimPrefix(p.base, "http://")
	answered, stored := 0, 0
	for i := range 50 {
		body := fmt.Sprintf(`{"title":"leaves-%02d","body":%q}`, i, strings.Repeat("말 ", 400))
		request := fmt.Sprintf("POST /api/v1/notices HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			host, s.api.token, len(body), body)
		conn, err := net.Dial("tcp", host)
		s.no(err)
		sent := len(request)
		if i%3 == 0 { // it leaves while it sends
			sent = random.IntN(len(request))
		}
		_, err = io.WriteString(conn, request[:sent])
		s.no(err)
		time.Sleep(time.Duration(random.Int64N(int64(12 * time.Millisecond))))
		if i%7 == 6 && sent == len(request) { // it stays for the beginning of the answer
			if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				_ = resp.Body.Close()
				answered++
			}
		}
		s.no(conn.(*net.TCPConn).SetLinger(0)) // a reset, as from a closed lid
		s.no(conn.Close())
	}
	s.until("the database has done what it was at", func() bool {
		return s.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND pid <> pg_backend_pid() AND state IN ('active', 'idle in transaction')`) == 0
	})
	for i := range 50 {
		title := fmt.Sprintf("leaves-%02d", i)
		n := s.count("SELECT count(*) FROM notice WHERE title = $1", title)
		if n > 1 {
			t.Errorf("%s: %d notices", title, n)
		}
		if n == 0 {
			continue
		}
		stored++
		id := s.count("SELECT id FROM notice WHERE title = $1", title)
		s.until(fmt.Sprintf("the log names notice %d", id), func() bool {
			log, err := os.ReadFile(p.log)
			s.no(err)
			return strings.Contains(string(log), fmt.Sprintf("notice=%d\n", id)) || strings.Contains(string(log), fmt.Sprintf("notice=%d ", id))
		})
		if parts := s.count("SELECT count(*) FROM notice_counter WHERE notice_id = $1", id); parts == 0 {
			t.Errorf("notice %d is half of one", id)
		}
	}
	t.Logf("%d of 50 are stored, %d were answered", stored, answered)
	if stored == 0 || stored == 50 {
		t.Errorf("%d of 50 are stored: the moments do not differ", stored)
	}
	s.sound()
}
