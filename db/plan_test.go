package db

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"bongsu/db/dbtest"
)

// A tape keeps the statements that a store sends.
type tape struct {
	mu   sync.Mutex
	sent []statement
}

type statement struct {
	sql  string
	args []any
}

func (tp *tape) add(sql string, args []any) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	tp.sent = append(tp.sent, statement{sql, args})
}

func (tp *tape) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	tp.add(d.SQL, d.Args)
	return ctx
}
func (tp *tape) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (tp *tape) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (tp *tape) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	tp.add(d.SQL, d.Args)
}
func (tp *tape) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// of gives what f sends.
func (tp *tape) of(t *testing.T, f func() error) []statement {
	t.Helper()
	tp.mu.Lock()
	tp.sent = nil
	tp.mu.Unlock()
	ok(t, f())
	tp.mu.Lock()
	defer tp.mu.Unlock()
	if len(tp.sent) == 0 {
		t.Fatal("nothing was sent")
	}
	return tp.sent
}

// taped gives a store over url whose statements go to a tape.
func taped(t *testing.T, url string, worker bool) (*DB, *tape) {
	t.Helper()
	l := testLimits
	l.Worker = worker
	plain := must(Open(t.Context(), url, l))(t)
	defer plain.Close()
	cfg := plain.pool.Config()
	tp := &tape{}
	cfg.ConnConfig.Tracer = tp
	pool := must(pgxpool.NewWithConfig(t.Context(), cfg))(t)
	t.Cleanup(pool.Close)
	return &DB{pool: pool, limits: l}, tp
}

// big makes a database with one notice to n devices, half of them sent, some of
// each other kind, and nothing that the planner knows of it yet.
func big(t *testing.T, n int) (url string, notice int64) {
	t.Helper()
	url = dbtest.URL(t)
	db := must(Open(t.Context(), url, testLimits))(t)
	defer db.Close()
	seed(t, db, n)
	s := startScene(t, db, "t")
	exec(t, db, `INSERT INTO delivery (notice_id, device_id, status, attempts, fence, charged, sent_at, failed_at, wake_at, lease_until, reason, code)
		SELECT $1, i, x.status, 1, 1, CASE x.status WHEN 'pending' THEN (i % 20)::int % 2 ELSE 0 END,
			CASE x.status WHEN 'sent' THEN now() END, CASE x.status WHEN 'failed' THEN now() END,
			CASE WHEN i % 20 = 1 THEN now() END, CASE x.status WHEN 'sending' THEN now() + interval '1 minute' END,
			CASE x.status WHEN 'failed' THEN 'rejected' END, CASE x.status WHEN 'failed' THEN 'bad_token' END
		FROM generate_series(1, $2::int) i, LATERAL (SELECT CASE i % 20 WHEN 0 THEN 'failed' WHEN 1 THEN 'pending'
			WHEN 2 THEN 'sending' WHEN 3 THEN 'pending' ELSE 'sent' END AS status) x`, s.id, n)
	exec(t, db, `UPDATE notice_counter c SET total = d.total, pending = d.pending, retrying = d.retrying, sending = d.sending, sent = d.sent,
			failed = d.failed, attempts = d.total
		FROM (SELECT count(*) AS total, count(*) FILTER (WHERE status = 'pending' AND charged = 0) AS pending,
			count(*) FILTER (WHERE status = 'pending' AND charged > 0) AS retrying,
			count(*) FILTER (WHERE status = 'sending') AS sending, count(*) FILTER (WHERE status = 'sent') AS sent,
			count(*) FILTER (WHERE status = 'failed') AS failed FROM delivery) d
		WHERE c.notice_id = $1 AND c.shard = 0`, s.id)
	exec(t, db, `INSERT INTO notice_reason VALUES ($1, 0, 'failed', 'rejected', (SELECT count(*) FROM delivery WHERE status = 'failed'))`, s.id)
	s.counts()
	return url, s.id
}

// genericPlan gives the plan that PostgreSQL makes once for all arguments.
func genericPlan(t *testing.T, db *DB, st statement) string {
	t.Helper()
	conn := must(db.pool.Acquire(t.Context()))(t)
	defer conn.Release()
	sql, args := rewritten(t, conn.Conn(), st)
	exists := must(conn.Conn().Prepare(t.Context(), "", sql))(t)
	types := make([]string, len(args))
	for i, oid := range exists.ParamOIDs {
		if err := conn.QueryRow(t.Context(), `SELECT format_type($1, NULL)`, oid).Scan(&types[i]); err != nil {
			t.Fatal(err)
		}
	}
	nulls := strings.TrimSuffix(strings.Repeat("NULL, ", len(args)), ", ")
	text := "PREPARE plan AS " + sql
	explain := "EXPLAIN EXECUTE plan"
	if len(args) > 0 {
		text = fmt.Sprintf("PREPARE plan (%s) AS %s", strings.Join(types, ", "), sql)
		explain += "(" + nulls + ")"
	}
	_, err := conn.Conn().PgConn().Exec(t.Context(), "DEALLOCATE ALL; SET plan_cache_mode = force_generic_plan; "+text).ReadAll()
	ok(t, err)
	results, err := conn.Conn().PgConn().Exec(t.Context(), explain).ReadAll()
	ok(t, err)
	var b strings.Builder
	for _, row := range results[0].Rows {
		b.Write(row[0])
		b.WriteByte('\n')
	}
	ok(t, conn.Conn().DeallocateAll(t.Context()))
	return b.String()
}

// rewritten gives the statement with numbered arguments.
func rewritten(t *testing.T, conn *pgx.Conn, st statement) (string, []any) {
	t.Helper()
	if len(st.args) == 1 {
		if named, is := st.args[0].(pgx.StrictNamedArgs); is {
			sql, args, err := named.RewriteQuery(t.Context(), conn, st.sql, nil)
			ok(t, err)
			return sql, args
		}
	}
	return st.sql, st.args
}

func planned(sql string) bool {
	first := strings.ToUpper(strings.Fields(sql)[0])
	return first == "SELECT" || first == "WITH" || first == "UPDATE" || first == "INSERT"
}

func TestWorkersReadTheLedgerByItsIndexesAlone(t *testing.T) {
	url, notice := big(t, 100_000)
	db, tp := taped(t, url, true)
	ctx := t.Context()
	term := must(db.Lead(ctx, "feeder", 60e9))(t)
	var claims []Claim
	calls := map[string]func() error{
		"ClaimRange": func() (err error) {
			var b Batch
			b, err = db.ClaimRange(ctx, notice, 0, 500, 10, testLease, 0)
			claims = b.Claims
			return err
		},
		"ClaimDue":       func() error { _, err := db.ClaimDue(ctx, notice, 10, testLease, 0); return err },
		"Feeds":          func() error { _, err := db.Feeds(ctx); return err },
		"Progress":       func() error { _, err := db.Progress(ctx, notice); return err },
		"Archive":        func() error { _, err := db.Archive(ctx, ArchiveFilter{}, "", 50); return err },
		"Device":         func() error { _, err := db.DeviceDeliveries(ctx, 77, "", 50); return err },
		"DeviceEvents":   func() error { _, err := db.DeviceEvents(ctx, 77, "", 50); return err },
		"Why":            func() error { _, err := db.Why(ctx, notice, []int64{77, 78}); return err },
		"FreeLeases":     func() error { _, err := db.FreeLeases(ctx, term, testLease, false, 100); return err },
		"EndQuietRanges": func() error { return db.EndQuietRanges(ctx, term, testLease) },
		"EndRange":       func() error { _, err := db.EndRange(ctx, Ring{notice, 1, 1}); return err },
		"TakeRange":      func() error { _, err := db.TakeRange(ctx, Ring{notice, 1, 1}, 0); return err },
		"Status":         func() error { _, err := db.Status(ctx); return err },
		"FinishNotice":   func() error { _, err := db.FinishNotice(ctx, term, notice, 1); return err },
	}
	for name, call := range calls {
		wantIndexes(t, db, name, tp.of(t, call))
	}
	if len(claims) == 0 {
		t.Fatal("nothing was claimed")
	}
	for _, outcome := range []string{OutcomeSent, OutcomeDead} {
		wantIndexes(t, db, "Record "+outcome, tp.of(t, func() error {
			_, err := db.Record(ctx, []Result{resultOf(claims[0], outcome)}, 0)
			return err
		}))
	}
	sums(t, db, notice)
}

// wantIndexes fails where a statement reads a table that grows by another way than
// an index whose first column it names. Workers are told to prefer any index to
// a table, so one that is read from end to end counts as the table.
func wantIndexes(t *testing.T, db *DB, name string, sent []statement) {
	t.Helper()
	first := map[string]string{"delivery_device": "(device_id ", "device_pkey": "(id ", "device_audience": "(id ",
		"device_event_pkey": "(device_id ", "device_token": "(token_hash ", "device_installation": "(installation "}
	for _, st := range sent {
		if !planned(st.sql) {
			continue
		}
		plan := genericPlan(t, db, st)
		lines := strings.Split(plan, "\n")
		for i, line := range lines {
			m := scanOf.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			column := "(notice_id "
			if c, named := first[m[1]]; named {
				column = c
			}
			if m[1] == "" || !strings.Contains(lines[i+1], "Index Cond: (") || !strings.Contains(lines[i+1], column) {
				t.Errorf("%s reads the whole of %s:\n%s", name, m[2], plan)
			}
		}
	}
}

// scanOf finds a scan of a table that grows, and its index.
var scanOf = regexp.MustCompile(`Scan (?:Backward )?(?:using (\w+) )?on (delivery|attempt|device|device_event)(?: |$)`)

// buffers tells how many pages f's statements touch.
func buffers(t *testing.T, db *DB, sent []statement) (n int) {
	t.Helper()
	for _, st := range sent {
		if !planned(st.sql) {
			continue
		}
		raw := ask[[]byte](t, db, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+st.sql, st.args...)
		var plans []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		ok(t, json.Unmarshal(raw, &plans))
		n += plans[0].Plan.Hit + plans[0].Plan.Read
	}
	return n
}

func TestPagesCostTheSameForALargeAudience(t *testing.T) {
	cost := map[int]map[string]int{}
	for _, n := range []int{1000, 100_000} {
		url, notice := big(t, n)
		db, tp := taped(t, url, false)
		exec(t, db, `INSERT INTO device_event (device_id, what, by) SELECT 1 + i % $1::int, 'tags', 'import:1' FROM generate_series(1, 3 * $1) i`, n)
		exec(t, db, `DELETE FROM delivery WHERE device_id IN (90, 91)`)
		exec(t, db, `VACUUM ANALYZE`)
		ctx := t.Context()
		cost[n] = map[string]int{}
		for name, call := range map[string]func() error{
			"progress":        func() error { _, err := db.Progress(ctx, notice); return err },
			"notice":          func() error { _, _, err := db.Notice(ctx, notice); return err },
			"archive":         func() error { _, err := db.Archive(ctx, ArchiveFilter{Reason: "rejected"}, "", 50); return err },
			"archive, next":   func() error { _, err := db.Archive(ctx, ArchiveFilter{}, cursor{notice, 400}.String(), 50); return err },
			"archive, count":  func() error { _, err := db.ArchiveCount(ctx, ArchiveFilter{Reason: "rejected"}); return err },
			"device":          func() error { _, err := db.DeviceDeliveries(ctx, 80, "", 50); return err },
			"device, events":  func() error { _, err := db.DeviceEvents(ctx, 80, "", 50); return err },
			"why":             func() error { _, err := db.Why(ctx, notice, []int64{80, 90, 91}); return err },
			"failed ones":     func() error { _, err := db.Deliveries(ctx, notice, "failed", "", 50); return err },
			"ledger's status": func() error { _, err := db.Status(ctx); return err },
		} {
			cost[n][name] = buffers(t, db, tp.of(t, call))
		}
	}
	for name, small := range cost[1000] {
		large := cost[100_000][name]
		t.Logf("%s: %d pages for 1,000 devices, %d for 100,000", name, small, large)
		if large > 2*small+40 {
			t.Errorf("%s touches %d pages for 1,000 devices and %d for 100,000", name, small, large)
		}
	}
}

func TestAStepOfAWorkerCostsTheSameForALargeAudience(t *testing.T) {
	cost := map[int]map[string]int{}
	for _, n := range []int{1000, 100_000} {
		url, notice := big(t, n)
		db, tp := taped(t, url, true)
		exec(t, db, `UPDATE delivery SET wake_at = now() + interval '1 hour' WHERE wake_at IS NOT NULL AND device_id > 400`)
		exec(t, db, `VACUUM ANALYZE`)
		ctx := t.Context()
		term := must(db.Lead(ctx, "feeder", 60e9))(t)
		cost[n] = map[string]int{}
		for name, call := range map[string]func() error{
			"ClaimRange": func() error { _, err := db.ClaimRange(ctx, notice, 400, 900, 10, testLease, 0); return err },
			"ClaimDue":   func() error { _, err := db.ClaimDue(ctx, notice, 10, testLease, 0); return err },
			"Feeds":      func() error { _, err := db.Feeds(ctx); return err },
			"KeepPace":   func() error { return db.KeepPace(ctx, term) },
		} {
			cost[n][name] = buffers(t, db, tp.of(t, call))
		}
	}
	for name, small := range cost[1000] {
		if large := cost[100_000][name]; large > 2*small+40 {
			t.Errorf("%s touches %d pages for 1,000 devices and %d for 100,000", name, small, large)
		}
	}
}
