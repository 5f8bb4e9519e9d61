package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"
	"github.com/jackc/pgx/v5"

	"bongsu/db"
	"bongsu/jobs/push/pushsim"
	"bongsu/web"
)

// onCall is somebody who is called because a part is down, and reads what the
// pages say: Status, the badge, and the runbook's page that it leads to.
type onCall struct {
	*browser
	base string
}

// TestBrowserStatus takes each part away in turn, and reads as somebody on call
// does. Where envDocs is set, the pictures in docs are made anew.
func TestBrowserStatus(t *testing.T) {
	s := newSite(t, pushsim.Config{Token: "the-right-one", Switches: pushsim.Default().Switches})
	s.devices(50, goodToken)
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Admin, web.HashPassword("correct horse battery"), commandActor())
	s.no(err)
	pages := s.start(roleWeb, "REDIS_URL="+s.redis.URL())
	worker := s.start(roleWorker)
	o := &onCall{newBrowser(t), pages.base}
	o.signsIn()
	o.reads("all well", "database", "ok")

	o.loses(s)
	o.losesQueue(s)
	o.losesWorkers(s, worker)
	o.losesVendor(s)
}

func (o *onCall) signsIn() {
	o.t.Helper()
	o.open(o.base + "/")
	o.at("/signin")
	o.write("#email", "kim@example.com")
	o.write("#password", "correct horse battery")
	o.click("#signin button[type=submit]")
	o.at("/notices")
}

// reads waits until Status shows the part in the state, and the badge of a page
// of its own says so.
func (o *onCall) reads(badge, part, state string) {
	o.t.Helper()
	o.until("Status says "+part+" "+state, func() bool {
		o.open(o.base + "/status")
		return strings.Contains(o.textOf("#part-"+part), state) && (badge == "" || strings.Contains(o.textOf("#badge"), badge))
	})
}

// follows presses What to do in the part's row and reads the runbook's page.
func (o *onCall) follows(part, title, says string) {
	o.t.Helper()
	o.click("#part-" + part + ` a[href^="/runbook/"]`)
	o.at("/runbook/")
	o.says("h1", title)
	o.says("dl.runbook", says)
}

// picture writes what the tab shows to a file in docs, where envDocs is set.
func (o *onCall) picture(name string) {
	o.t.Helper()
	if os.Getenv(envDocs) == "" {
		return
	}
	o.draws(filepath.Join("docs", name), false)
}

// hidesPlaces keeps where the test runs out of a picture of Status.
func (b *browser) hidesPlaces() {
	b.eval(`() => document.querySelectorAll("#part-redis small").forEach((e) => {
		e.textContent = e.textContent.replace(/unix \S+:/, "tcp redis:6379:");
	})`)
}

// loses takes the database away while a notice is being written, and gives it
// back. What was typed is still there, and pressing again sends it once.
func (o *onCall) loses(s *site) {
	o.t.Helper()
	o.open(o.base + "/notices/new")
	o.write("#title", "Payments rest tonight")
	o.write("#body", "From 23:00 to 01:00.")
	back := s.databaseAway()
	o.click("#compose .acts > button[type=submit]")
	o.says("#banner", "again is safe")
	o.says("#banner", "It has been so since")
	o.picture("submit-database-down.png")
	if o.eval(`() => document.querySelector("#title").value`) != "Payments rest tonight" {
		o.t.Error("what was typed is gone")
	}
	submitting := o.page
	page, err := o.page.Browser().Page(proto.TargetCreateTarget{URL: "about:blank"})
	o.no(err)
	o.page = page.Timeout(ends)
	o.reads("", "database", "down")
	o.says("#part-workers", "unknown")
	o.picture("status-database-down.png")
	o.follows("database", "The database does not answer", "Leave Bongsu running")
	o.picture("runbook-database-down.png")

	back()
	o.reads("", "database", "ok")
	o.no(page.Close())
	o.page = submitting
	o.click("#compose .acts > button[type=submit]")
	o.until("the notice's page is shown", func() bool {
		at := o.eval("() => location.pathname")
		return strings.HasPrefix(at, "/notices/") && at != "/notices/new"
	})
	if n := s.count("SELECT count(*) FROM notice"); n != 1 {
		o.t.Errorf("%d notices came of it", n)
	}
	s.putOff(o.eval("() => location.pathname"))
}

// putOff leaves the notice, whose calls the stand-in refuses, for later.
func (s *site) putOff(path string) {
	s.t.Helper()
	var id int64
	_, err := fmt.Sscanf(path, "/notices/%d", &id)
	s.no(err)
	s.until("the vendor is paused", func() bool { return s.count("SELECT count(*) FROM vendor WHERE state = 'paused'") == 1 })
	_, _, err = s.store.PauseNotice(s.t.Context(), id, commandActor())
	s.no(err)
	s.until("no call is under way", func() bool { return s.count("SELECT count(*) FROM delivery WHERE status = 'sending'") == 0 })
	s.no(s.store.ResumeVendor(s.t.Context(), "http", commandActor()))
}

// losesQueue takes Redis away and gives it back.
func (o *onCall) losesQueue(s *site) {
	o.t.Helper()
	s.redis.Stop()
	o.reads("sending waits: queue away", "redis", "down")
	o.says("#part-redis", "nothing is lost")
	o.picture("status-redis-down.png")
	o.follows("redis", "The queue (Redis) does not answer", "start an empty one under the same address")
	o.picture("runbook-redis-down.png")
	s.redis.Start()
	o.reads("all well", "redis", "ok")
}

// losesWorkers kills the only worker. It counts as gone within a minute.
func (o *onCall) losesWorkers(s *site, worker *proc) {
	o.t.Helper()
	s.dies(worker)
	o.reads("sending waits: no worker", "workers", "down")
	o.says("#status .empty", "No worker is running.")
	o.says("#status-workers", "gone")
	o.picture("status-no-worker.png")
	o.follows("workers", "No worker is running", "bongsu serve --role worker")
	o.picture("runbook-no-worker.png")
	s.start(roleWorker)
	o.reads("all well", "workers", "ok")
}

// losesVendor lets a vendor that refuses our credentials be called.
func (o *onCall) losesVendor(s *site) {
	o.t.Helper()
	s.submits("refused", http.StatusAccepted)
	o.reads("sending waits: vendor refuses us", "vendor", "paused")
	o.says("main > section .note-bad", "The vendor refuses our credentials")
	o.picture("status-vendor-paused.png")
	o.follows("vendor", "The vendor refuses our credentials", "it is read again within seconds")
	o.picture("runbook-vendor-credentials.png")
}

// databaseAway has PostgreSQL refuse everybody this database, until back is
// called.
func (s *site) databaseAway() (back func()) {
	s.t.Helper()
	cfg, err := pgx.ParseConfig(s.url)
	s.no(err)
	name := pgx.Identifier{cfg.Database}.Sanitize()
	cfg.Database = "postgres"
	ctx := context.WithoutCancel(s.t.Context()) // back may be a cleanup
	admin, err := pgx.ConnectConfig(ctx, cfg)
	s.no(err)
	s.t.Cleanup(func() { _ = admin.Close(ctx) })
	do := func(sql string, args ...any) {
		_, err := admin.Exec(ctx, sql, args...)
		s.no(err)
	}
	do("ALTER DATABASE " + name + " WITH ALLOW_CONNECTIONS false")
	do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = " + "'" + strings.Trim(name, `"`) + "'")
	return func() { do("ALTER DATABASE " + name + " WITH ALLOW_CONNECTIONS true") }
}
