package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"bongsu/db"
)

// A refusal is a PostgreSQL that is there and does not do what it is asked.
type refusal struct {
	begin   func(*site) (end func())
	message string // of the runbook
	says    string // in the answer to a submit
}

// refusals, by name. Each is PostgreSQL's own answer, with its own code.
var refusals = map[string]refusal{
	"read-only after a failover": {begin: (*site).readOnly, message: "database-read-only", says: "takes no writes"},
	"with a full disk":           {begin: (*site).diskFull, message: "disk-full", says: "disk is full"},
	"out of connections":         {begin: (*site).crowded, message: "database-connections", says: "no connection left"},
}

// TestFaultPostgresRefuses has PostgreSQL refuse in mid-run. A submit is told why
// and what was typed is kept, Status names it, no attempt is charged and no result
// lost, and all goes on by itself.
func TestFaultPostgresRefuses(t *testing.T) {
	for name, fault := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pg := newPostgres(t)
			s := newSiteOn(t, pg.server.URL(), plainVendor())
			s.throughLines()
			s.devices(6_000, goodToken)
			base := s.start(roleWeb).base
			s.start(roleWorker, "BONGSU_RATE=1500")
			op := s.signsIn(base, "op@example.com", db.Admin)
			n := s.submits("refused", http.StatusAccepted)
			s.told(1_500)
			end := fault.begin(s)
			began := time.Now()
			a := op.post("/notices", "title", "Typed <title>", "body", "What was typed & kept", "category", "info")
			if a.status != http.StatusServiceUnavailable || a.took > 12*time.Second || a.header.Get("Retry-After") == "" {
				t.Errorf("a submit: %d after %v", a.status, a.took)
			}
			for _, want := range []string{"Typed &lt;title&gt;", "What was typed &amp; kept", fault.says, "/runbook/" + fault.message} {
				if !strings.Contains(a.body, want) {
					t.Errorf("%q is not in the answer to a submit, at %s:\n%s", want, a.at, a.body)
				}
			}
			s.until("Status names it", func() bool { return strings.Contains(op.get("/status").body, "/runbook/"+fault.message) })
			time.Sleep(time.Until(began.Add(lasts(5*time.Second, 30*time.Second))))
			end()
			recovered := s.goesOn()
			s.answers()
			s.calledOnce(s.finished(n.ID), 6_000)
			s.sound()
			if n := s.count("SELECT count(*) FROM delivery WHERE charged > 1"); n != 0 {
				t.Errorf("%d deliveries were charged for what the database refused", n)
			}
			s.row("Postgres "+name+", in mid-run", 6_000, 0, recovered)
		})
	}
}

// readOnly makes every session one that only reads, as on a standby. Those that
// there are at its end stay so: who does not connect anew never gets out.
func (s *site) readOnly() (end func()) {
	s.newSessions("ALTER DATABASE %s SET default_transaction_read_only = on")
	s.lines.database.cut()
	s.lines.database.mend()
	return func() { s.newSessions("ALTER DATABASE %s RESET default_transaction_read_only") }
}

// newSessions changes the settings that sessions from now on begin with.
func (s *site) newSessions(sql string) {
	var name string
	s.no(s.pool.QueryRow(s.t.Context(), "SELECT current_database()").Scan(&name))
	tx, err := s.pool.BeginTx(s.t.Context(), pgx.TxOptions{AccessMode: pgx.ReadWrite})
	s.no(err)
	_, err = tx.Exec(s.t.Context(), fmt.Sprintf(sql, pgx.Identifier{name}.Sanitize()))
	s.no(err)
	s.no(tx.Commit(s.t.Context()))
}

// diskFull has each table refuse writes with the code of a full disk.
func (s *site) diskFull() (end func()) {
	s.exec(`CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`)
	s.exec(`DO $$ DECLARE t regclass; BEGIN
		FOR t IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
			EXECUTE format('CREATE TRIGGER disk_full BEFORE INSERT OR UPDATE OR DELETE ON %s EXECUTE FUNCTION disk_full()', t);
		END LOOP; END $$`)
	return func() { s.exec("DROP FUNCTION disk_full() CASCADE") }
}

// crowded takes every connection that PostgreSQL has, those of the processes too.
func (s *site) crowded() (end func()) {
	full, done, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.lines.database.cut() // what frees up is taken at once
	go func() {
		defer close(ended)
		var held []*pgx.Conn
		var once sync.Once
		defer func() {
			for _, c := range held {
				_ = c.Close(s.t.Context())
			}
		}()
		for {
			c, err := pgx.Connect(s.t.Context(), s.url)
			if err == nil {
				held = append(held, c)
				continue
			}
			once.Do(func() { close(full) })
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	<-full
	s.lines.database.mend()
	return func() { close(done); <-ended }
}
