package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"bongsu/db"
)

// Many pages within two seconds cost one look, and the next two seconds one more.
func TestBadgeLooksOnceInTwoSeconds(t *testing.T) {
	x := newRig(t, func(d *Deps) { d.Limits.Fresh = 2 * time.Second })
	var looks atomic.Int64
	real := x.server.watch.look
	x.server.watch.look = func(ctx context.Context) (db.Status, error) {
		looks.Add(1)
		return real(ctx)
	}
	session := x.session(db.Operator)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if a := x.send("GET", "/notices", "", withCookie(session)); a.status != 200 || !strings.Contains(string(a.body), `id="badge"`) {
				t.Errorf("%d without a badge", a.status)
			}
		})
	}
	wg.Wait()
	if n := looks.Load(); n != 1 {
		t.Errorf("20 pages at once cost %d looks", n)
	}
	x.clock.forward(1900 * time.Millisecond)
	x.send("GET", "/devices", "", withCookie(x.session(db.Admin)))
	if n := looks.Load(); n != 1 {
		t.Errorf("a page after 1.9 s makes it %d looks", n)
	}
	x.clock.forward(200 * time.Millisecond)
	x.send("GET", "/notices", "", withCookie(session))
	if n := looks.Load(); n != 2 {
		t.Errorf("a page after 2.1 s makes it %d looks", n)
	}
}

// A look that hangs in the database keeps no page longer than the badge's limit,
// and the page says that it does not know.
func TestLookThatHangsKeepsNoPage(t *testing.T) {
	const wait = 100 * time.Millisecond
	x := newRig(t, func(d *Deps) { d.Limits.Badge, d.Limits.Look = wait, 5*time.Second })
	session := x.session(db.Operator)
	tx, err := x.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE feeder IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	for range 3 {
		start := time.Now()
		a := x.send("GET", "/notices", "", withCookie(session))
		if took := time.Since(start); a.status != 200 || took > wait+2*time.Second || !strings.Contains(string(a.body), "Status: not known") {
			t.Errorf("after %s: %d %s", took, a.status, a.body)
		}
	}
	if n := x.count("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'feeder'::regclass"); n > 1 {
		t.Errorf("%d looks hang at once", n)
	}
	_ = tx.Rollback(t.Context())
	eventually(t, "the badge knows again", func() bool {
		return !strings.Contains(string(x.send("GET", "/notices", "", withCookie(session)).body), "Status: not known")
	})
}

// A look that fails fails no page.
func TestLookThatFailsFailsNoPage(t *testing.T) {
	x := newRig(t)
	session := x.session(db.Operator)
	x.server.watch.look = func(context.Context) (db.Status, error) { return db.Status{}, errors.New("a bug") }
	if a := x.send("GET", "/notices", "", withCookie(session)); a.status != 200 || !strings.Contains(string(a.body), "Status: not known") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// An act is seen in the badge of the next page, however young the last look is.
func TestActIsSeenAtOnce(t *testing.T) {
	x := newRig(t, func(d *Deps) { d.Limits.Fresh = time.Hour })
	x.sql(`UPDATE vendor SET state = 'paused', reason = 'credentials_refused', since = now()`)
	session := x.session(db.Admin)
	if a := x.send("GET", "/notices", "", withCookie(session)); !strings.Contains(string(a.body), "/runbook/vendor-credentials") {
		t.Errorf("no banner: %s", a.body)
	}
	x.send("POST", "/vendor/resume", "", withCookie(session), withHeader("Content-Type", "application/x-www-form-urlencoded"))
	if a := x.send("GET", "/notices", "", withCookie(session)); strings.Contains(string(a.body), "/runbook/vendor-credentials") {
		t.Error("the banner is there still")
	}
}

func TestTroubleBeginsAndEnds(t *testing.T) {
	c := &clock{}
	w := &watch{now: c.now, fresh: time.Hour}
	refused := &pgconn.PgError{Code: "57P03"}
	step := func(what string, err error, want db.Cause) (since time.Time) {
		t.Helper()
		c.forward(time.Second)
		w.noted(err)
		o := w.outlook()
		if o.trouble != want {
			t.Errorf("%s: trouble %q, want %q", what, o.trouble, want)
		}
		return o.since
	}
	first := step("refused", refused, db.Away)
	if again := step("refused again", context.DeadlineExceeded, db.Away); !again.Equal(first) {
		t.Errorf("it began at %s, then at %s", first, again)
	}
	step("a row that is not there says nothing", db.ErrNotFound, db.Away)
	step("a client that left says nothing", context.Canceled, db.Away)
	step("an answer", nil, db.NoCause)
	if later := step("refused", refused, db.Away); !later.After(first) {
		t.Error("the second time began with the first")
	}
	step("an answer", nil, db.NoCause)
	step("a refused write", &pgconn.PgError{Code: "25006"}, db.ReadOnly)
	step("a read that succeeds", nil, db.ReadOnly)
	w.saw(db.Status{ReadOnly: true}, nil)
	step("a look that sees it", nil, db.ReadOnly)
	w.saw(db.Status{}, nil)
	step("a look that sees the primary", nil, db.NoCause)
	full := step("a full disk", &pgconn.PgError{Code: "53100"}, db.DiskFull)
	if again := step("a read that succeeds", nil, db.DiskFull); !again.Equal(full) {
		t.Error("it began again")
	}
	c.forward(fullFor)
	step("a minute later", nil, db.NoCause)
}

// A queue that hangs is asked for no longer than its limit.
func TestQueuesThatHangAreLeft(t *testing.T) {
	x := newSite(t, db.Admin, hangingQueues{})
	x.server.limits.Queue = 100 * time.Millisecond
	start := time.Now()
	if v := x.get("/queues"); v.status != http.StatusOK || time.Since(start) > 5*time.Second || !strings.Contains(v.text("main"), "Nothing is lost") {
		t.Errorf("after %s: %d %s", time.Since(start), v.status, v.text("main"))
	}
}

// hangingQueues answers when its caller's time is over twice.
type hangingQueues struct{ QueueInspector }

func (hangingQueues) Queues(ctx context.Context) ([]Queue, error) {
	<-ctx.Done()
	time.Sleep(200 * time.Millisecond) // the queue's client has limits of its own, not ours
	return nil, errors.New("too late")
}
