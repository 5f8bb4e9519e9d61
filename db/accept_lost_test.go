package db

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"bongsu/db/dbtest"
)

// A cutter is a TCP proxy before PostgreSQL that can cut the connection at the
// next COMMIT: after it has been passed on and answered, or before.
type cutter struct {
	net.Listener
	network, server string
	armed           atomic.Int32 // 1: swallow the answer of the next COMMIT; 2: swallow the COMMIT
	cuts            atomic.Int32
}

const (
	cutAnswer = 1
	cutCommit = 2
)

// newCutter gives a proxy and the URL of the database through it.
func newCutter(t *testing.T, target string) (*cutter, string) {
	t.Helper()
	cfg := must(pgconn.ParseConfig(target))(t)
	c := &cutter{Listener: must(net.Listen("tcp", "127.0.0.1:0"))(t)}
	c.network, c.server = pgconn.NetworkAddress(cfg.Host, cfg.Port)
	u := url.URL{Scheme: "postgres", User: url.UserPassword(cfg.User, cfg.Password), Host: c.Addr().String(),
		Path: "/" + cfg.Database, RawQuery: "sslmode=disable"}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		for {
			client, err := c.Accept()
			if err != nil {
				return
			}
			go c.serve(client)
		}
	}()
	return c, u.String()
}

func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(c.network, c.server)
	if err != nil {
		return
	}
	defer server.Close()
	var cut atomic.Bool
	go func() {
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil || cut.Load() {
				return // the server has answered the COMMIT, nobody hears it
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if bytes.Contains(bytes.ToLower(buf[:n]), []byte("commit\x00")) {
			switch mode := c.armed.Swap(0); mode {
			case cutCommit:
				c.cuts.Add(1)
				return
			case cutAnswer:
				c.cuts.Add(1)
				cut.Store(true)
			}
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
		if cut.Load() {
			_, _ = io.Copy(io.Discard, client) // until the other half hangs up
			return
		}
	}
}

func throughCutter(t *testing.T) (*DB, *cutter) {
	t.Helper()
	c, through := newCutter(t, dbtest.URL(t))
	db := must(Open(t.Context(), through, testLimits))(t)
	t.Cleanup(db.Close)
	ok(t, db.Ping(t.Context()))
	return db, c
}

func TestG1LostAnswerOfACommitIsLookedUpByTheKey(t *testing.T) {
	db, c := throughCutter(t)
	for _, key := range []*ClientKey{nil, {TokenID: 1, Key: "k"}} {
		c.armed.Store(cutAnswer)
		before := c.cuts.Load()
		a, err := db.AcceptNotice(t.Context(), Draft{Title: "t", Body: "b"}, someone, key, time.Hour)
		ok(t, err)
		if c.cuts.Load() != before+1 {
			t.Fatal("the connection was not cut")
		}
		if a.Replayed || a.Notice.Title != "t" {
			t.Fatalf("acceptance: %+v", a)
		}
		again := must(db.AcceptNotice(t.Context(), Draft{Title: "t", Body: "b"}, someone, key, time.Hour))(t)
		if again.Notice.ID != a.Notice.ID || !again.Replayed {
			t.Fatalf("again: %+v", again)
		}
	}
	if n := ask[int](t, db, `SELECT count(*) FROM notice`); n != 2 {
		t.Fatalf("%d notices", n)
	}
}

func TestG1CommitThatNeverArrivedStoresNothingAndSaysSo(t *testing.T) {
	db, c := throughCutter(t)
	c.armed.Store(cutCommit)
	_, err := db.AcceptNotice(t.Context(), Draft{Title: "t", Body: "b"}, someone, nil, time.Hour)
	if !Unavailable(err) || c.cuts.Load() != 1 {
		t.Fatalf("after %d cuts: %v, want an error that says the database was away", c.cuts.Load(), err)
	}
	if n := ask[int](t, db, `SELECT count(*) FROM notice`); n != 0 {
		t.Fatalf("%d notices", n)
	}
	if a := must(db.AcceptNotice(t.Context(), Draft{Title: "t", Body: "b"}, someone, nil, time.Hour))(t); a.Replayed {
		t.Fatal("pressing again found a notice that was never stored")
	}
}
