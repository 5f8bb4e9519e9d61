package web

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"bongsu/db"
	"bongsu/db/dbtest"
)

// ended is a server whose log a test reads, and whose submits can be held up.
type ended struct {
	t      *testing.T
	server *Server
	pool   *pgxpool.Pool
	base   string
	token  string
	mu     sync.Mutex
	log    bytes.Buffer
}

func (e *ended) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log.Write(b)
}

func (e *ended) logged() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log.String()
}

func newEnded(t *testing.T, handler time.Duration) *ended {
	t.Helper()
	e := &ended{t: t, pool: dbtest.New(t)}
	store, err := db.Open(t.Context(), e.pool.Config().ConnString(),
		db.Limits{MaxConns: 8, Wait: 5 * time.Second, Transaction: 10 * time.Second, Lock: 9 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	var hash []byte
	e.token, hash = NewToken()
	if _, err := store.AddToken(t.Context(), "t", db.Operator, hash, db.Actor{ID: "command", Name: "t", Role: db.Admin}); err != nil {
		t.Fatal(err)
	}
	e.server = New(Deps{Pages: store, Log: slog.New(slog.NewTextHandler(e, nil)), Limits: Limits{Handler: handler},
		Expiry: time.Hour, Version: "test", Now: time.Now})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.base = "http://" + l.Addr().String()
	go func() { _ = e.server.Serve(l) }()
	t.Cleanup(func() { _ = e.server.http.Close() })
	return e
}

// hold keeps submits waiting in the database until the returned function is called.
func (e *ended) hold() (release func()) {
	e.t.Helper()
	tx, err := e.pool.Begin(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := tx.Exec(e.t.Context(), "LOCK TABLE notice IN SHARE MODE"); err != nil {
		e.t.Fatal(err)
	}
	return func() { _ = tx.Commit(context.WithoutCancel(e.t.Context())) }
}

func (e *ended) submit(ctx context.Context, title string) (status int) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+"/api/v1/notices", strings.NewReader(fmt.Sprintf(`{"title":%q,"body":"b"}`, title)))
	if err != nil {
		e.t.Error(err)
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+e.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// until waits for what is written beside the answer.
func (e *ended) until(what string, ok func() bool) {
	e.t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			e.t.Fatalf("it did not come that %s; the log:\n%s", what, e.logged())
		}
	}
}

func (e *ended) waiting() bool {
	var n int
	err := e.pool.QueryRow(e.t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'notice'::regclass
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&n)
	return err == nil && n > 0
}

func (e *ended) metrics() string {
	e.t.Helper()
	resp, err := http.Get(e.base + "/metrics")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, _ = b.ReadFrom(resp.Body)
	return b.String()
}

// The three ends of a submit, each told apart in the log with the notice, and in the
// metrics; the notice is accepted in each.
func TestThreeEndsOfASubmit(t *testing.T) {
	const route = `route="POST /api/v1/notices"`
	for _, c := range []struct {
		end     string
		handler time.Duration
		bring   func(e *ended, leave context.CancelFunc)
		status  int
	}{
		{endLeft, 10 * time.Second, func(_ *ended, leave context.CancelFunc) { leave() }, 0},
		{endLate, time.Second, func(*ended, context.CancelFunc) { time.Sleep(1200 * time.Millisecond) }, 503},
		{endStopping, 10 * time.Second, func(e *ended, _ context.CancelFunc) {
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			if err := e.server.Shutdown(ctx); err == nil {
				e.t.Error("the shutdown says that nothing was left")
			}
		}, 0},
	} {
		t.Run(c.end, func(t *testing.T) {
			e := newEnded(t, c.handler)
			release := e.hold()
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			answer := make(chan int, 1)
			go func() { answer <- e.submit(ctx, c.end) }()
			e.until("the submit waits", e.waiting)
			c.bring(e, leave)
			if status := <-answer; status != c.status {
				t.Errorf("answered %d, want %d", status, c.status)
			}
			e.until("the request's line is there", func() bool {
				return strings.Contains(e.logged(), "ended="+c.end)
			})
			if c.end != endStopping { // nobody can ask it any more
				want := fmt.Sprintf(`bongsu_http_requests_ended_early_total{end="%s",%s} 1`, c.end, route)
				if m := e.metrics(); !strings.Contains(m, want) {
					t.Errorf("the metrics lack %s", want)
				}
			}
			release()
			e.until("the acceptance is told with its notice", func() bool {
				for line := range strings.Lines(e.logged()) {
					if strings.Contains(line, "accepted after its client left") && strings.Contains(line, "ended="+c.end) && strings.Contains(line, "notice=1") {
						return true
					}
				}
				return false
			})
			var n int
			if err := e.pool.QueryRow(t.Context(), "SELECT count(*) FROM notice").Scan(&n); err != nil || n != 1 {
				t.Errorf("%d notices: %v", n, err)
			}
		})
	}
}

// A submit that is answered names its notice in its line of log, and so does each
// act on it.
func TestLogNamesWhatARequestWasAbout(t *testing.T) {
	e := newEnded(t, 10*time.Second)
	if status := e.submit(t.Context(), "about"); status != http.StatusAccepted {
		t.Fatalf("answered %d", status)
	}
	e.until("the line names the notice", func() bool {
		return strings.Contains(e.logged(), `route="POST /api/v1/notices" status=202`) && strings.Contains(e.logged(), "notice=1")
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.base+"/api/v1/notices/1/cancel", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+e.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	e.until("the act names the notice", func() bool {
		for line := range strings.Lines(e.logged()) {
			if strings.Contains(line, `route="POST /api/v1/notices/{id}/cancel"`) && strings.Contains(line, "notice=1") {
				return true
			}
		}
		return false
	})
}
