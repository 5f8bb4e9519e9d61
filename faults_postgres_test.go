package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bongsu/db"
	"bongsu/db/dbtest"
	"bongsu/db/pgserver"
)

// A postgres is a PostgreSQL of one test's own, which it may kill and start.
type postgres struct {
	t      *testing.T
	dir    string
	server *pgserver.Server
}

func newPostgres(t *testing.T) *postgres {
	t.Helper()
	dir, err := dbtest.MkdirData("bongsu-fault-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &postgres{t: t, dir: dir}
	p.start()
	t.Cleanup(p.stop)
	if _, _, err := db.Migrate(t.Context(), p.server.URL()); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *postgres) start() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), ends)
	defer cancel()
	var err error
	p.server, err = pgserver.Start(ctx, pgserver.Config{Dir: p.dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *postgres) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), ends)
	defer cancel()
	_ = p.server.Stop(ctx) // it may have been killed
}

// dies kills the server as a loss of power would.
func (p *postgres) dies() {
	p.t.Helper()
	killPostgres(p.t, p.dir)
	<-p.server.Done()
	p.stop()
}

// answers waits until the page process gives answers out of the database again.
func (s *site) answers() time.Duration {
	s.t.Helper()
	from := time.Now()
	s.until("the API answers", func() bool {
		_, err := s.api.ask(s.t.Context(), http.MethodGet, "/notices?limit=1", nil, &struct{}{})
		return err == nil
	})
	return time.Since(from)
}

// TestFaultPostgresAway cuts Postgres off in mid-run for longer than a lease. What
// the workers know then is written before any lease is freed, so nobody is called
// twice.
func TestFaultPostgresAway(t *testing.T) {
	for name, begin := range map[string]func(*line){"refused": (*line).cut, "a hole": (*line).hole} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFaultSite(t, plainVendor())
			s.devices(8_000, goodToken)
			s.start(roleWeb)
			settings := []string{"BONGSU_VENDOR_TIMEOUT=1s", "BONGSU_LEASE=7s", "BONGSU_RATE=1500"}
			s.start(roleWorker, settings...)
			s.start(roleWorker, settings...)
			n := s.submits("away", http.StatusAccepted)
			s.told(1_500)
			begin(s.lines.database)
			time.Sleep(lasts(9*time.Second, 40*time.Second))
			s.lines.database.mend()
			recovered := s.goesOn()
			s.answers()
			s.calledOnce(s.finished(n.ID), 8_000)
			s.sound()
			s.row("Postgres "+name+" for longer than a lease, in mid-run", 8_000, 0, recovered)
		})
	}
}

// calledOnce is allToldOnce where claims may have been granted in an answer that
// nobody got: no call was made under them, which the ledger cannot know, so it
// says of some that they were possibly told twice.
func (s *site) calledOnce(n apiNotice, devices int) {
	s.t.Helper()
	c := s.sim.Counts()
	if n.Counts != (apiCounts{Total: devices, Sent: devices}) || n.PossiblyTwice > 2*maxInFlight {
		s.t.Errorf("counts %+v, possibly twice %d", n.Counts, n.PossiblyTwice)
	}
	if c.Calls != int64(devices) || c.Unique != int64(devices) || c.Duplicates != 0 {
		s.t.Errorf("the stand-in had %+v", c)
	}
}

// TestFaultPostgresRestarted kills Postgres in mid-run and starts it again: the
// counts are exact, and nobody is called twice.
func TestFaultPostgresRestarted(t *testing.T) {
	t.Parallel()
	pg := newPostgres(t)
	s := newSiteOn(t, pg.server.URL(), plainVendor())
	s.throughLines()
	s.devices(8_000, goodToken)
	s.start(roleWeb)
	s.start(roleWorker, "BONGSU_RATE=1500")
	n := s.submits("restart", http.StatusAccepted)
	var recovered time.Duration
	for _, at := range []int64{1_500, 4_000} {
		s.told(at)
		pg.dies()
		time.Sleep(lasts(time.Second, 5*time.Second))
		pg.start()
		recovered = s.goesOn()
	}
	s.answers()
	s.calledOnce(s.finished(n.ID), 8_000)
	s.sound()
	s.row("Postgres killed twice in mid-run", 8_000, 0, recovered)
}

// TestFaultPostgresAtSubmit submits while Postgres is away: within 10 s a page says
// what happened, what was typed is still there, and pressing again is safe. It is
// back by itself.
func TestFaultPostgresAtSubmit(t *testing.T) {
	for name, begin := range map[string]func(*line){"refused": (*line).cut, "a hole": (*line).hole} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFaultSite(t, plainVendor())
			s.devices(100, goodToken)
			base := s.start(roleWeb).base
			s.start(roleWorker)
			op := s.signsIn(base, "op@example.com", db.Operator)
			form := []string{"title", "Typed <title>", "body", "What was typed & kept", "category", "info"}
			begin(s.lines.database)
			for range 2 { // the second press finds the same
				a := op.post("/notices", form...)
				if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || a.took > 12*time.Second {
					t.Errorf("the page: %d after %v, Retry-After %q", a.status, a.took, a.header.Get("Retry-After"))
				}
				for _, want := range []string{"Typed &lt;title&gt;", "What was typed &amp; kept", "safe"} {
					if !strings.Contains(a.body, want) {
						t.Errorf("%q is not on the page:\n%s", want, a.body)
					}
				}
			}
			if _, status, took, _ := s.api.submit(t.Context(), text("api")); status != http.StatusServiceUnavailable || took > 12*time.Second {
				t.Errorf("the API: %d after %v", status, took)
			}
			s.lines.database.mend()
			recovered := s.answers()
			if recovered > 15*time.Second {
				t.Errorf("back after %v", recovered)
			}
			if a := op.post("/notices", form...); a.status != http.StatusOK || !strings.HasPrefix(a.at, "/notices/") {
				t.Errorf("pressing again: %d at %s", a.status, a.at)
			}
			if n := s.count("SELECT count(*) FROM notice"); n != 1 {
				t.Errorf("%d notices", n)
			}
			s.finished(s.count("SELECT max(id) FROM notice"))
			s.sound()
			s.row("Postgres "+name+" at submit", 100, 0, recovered)
		})
	}
}

// TestFaultPostgresHole lets everybody ask a process whose Postgres is a black hole,
// for a while: each answer comes within its limit, nothing grows without bound, and
// it is back by itself.
func TestFaultPostgresHole(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t, plainVendor())
	s.devices(100, goodToken)
	base := s.start(roleWeb).base
	s.start(roleWorker)
	admin := s.signsIn(base, "admin@example.com", db.Admin)
	id := s.submits("hole", http.StatusAccepted).ID
	s.finished(id)
	pages := []string{"/notices", "/notices/new", fmt.Sprintf("/notices/%d", id), fmt.Sprintf("/notices/%d/progress", id),
		fmt.Sprintf("/notices/%d/deliveries", id), "/imports", "/devices", "/archive", "/queues", "/users", "/tokens", "/audit",
		"/settings", "/account", "/status", "/status/live", "/runbook", "/runbook/database-down", "/healthz", "/readyz", "/metrics",
		"/api/v1/notices", "/api/v1/devices?user=x", "/api/v1/archive", "/api/v1/imports/1", "/signin"}
	s.lines.database.hole()
	var grown [2]float64 // goroutines early and late
	end := time.Now().Add(lasts(25*time.Second, 5*time.Minute))
	for round := 0; time.Now().Before(end); round++ {
		var all sync.WaitGroup
		for _, path := range pages {
			all.Go(func() {
				a := s.asks(admin, base, path)
				known := a.status == http.StatusOK || a.status == http.StatusServiceUnavailable
				if !known || a.took > 11*time.Second {
					t.Errorf("%s: %d after %v: %.200s", path, a.status, a.took, a.body)
				}
			})
		}
		all.Wait()
		grown[min(round, 1)] = gauge(t, base, "go_goroutines")
	}
	t.Logf("goroutines after the first round %.0f, at the end %.0f; connections to Postgres %d", grown[0], grown[1],
		s.count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"))
	if grown[1] > 2*grown[0]+50 {
		t.Errorf("goroutines grew from %.0f to %.0f", grown[0], grown[1])
	}
	s.lines.database.mend()
	recovered := s.answers()
	if recovered > 15*time.Second {
		t.Errorf("back after %v", recovered)
	}
	for _, path := range pages {
		if a := s.asks(admin, base, path); a.status >= http.StatusInternalServerError || a.status == 0 {
			t.Errorf("after its return %s: %d %.200s", path, a.status, a.body)
		}
	}
	s.sound()
	s.row("Postgres a hole, and everybody asks", 100, 0, recovered)
}

// asks asks a page as a person, or the API with the token.
func (s *site) asks(p *person, base, path string) (a answer) {
	if !strings.HasPrefix(path, "/api/") {
		return p.get(path)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, base+path, nil)
	if err != nil {
		return answer{body: err.Error()}
	}
	req.Header.Set("Authorization", "Bearer "+s.api.token)
	began := time.Now()
	resp, err := p.http.Do(req)
	if err != nil {
		return answer{body: err.Error(), took: time.Since(began)}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{body: err.Error(), took: time.Since(began)}
	}
	return answer{status: resp.StatusCode, body: string(raw), took: time.Since(began)}
}

// gauge reads a number out of a process's metrics.
func gauge(t *testing.T, base, name string) float64 {
	t.Helper()
	resp, err := http.Get(base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(raw)
	if m == nil {
		t.Fatalf("%s is not in the metrics", name)
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
