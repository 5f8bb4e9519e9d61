package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"bongsu/db/dbtest/faulttable"
	"bongsu/jobs/push/pushsim"
)

// envFaults makes the faults as long as they are described; without, they are as
// short as shows the same.
const envFaults = "BONGSU_TEST_FAULTS"

// lasts gives how long a fault lasts.
func lasts(short, long time.Duration) time.Duration {
	if os.Getenv(envFaults) == "long" {
		return long
	}
	return short
}

// A line is the way from the product to a part that it needs. It can be cut,
// made silent, slow or odd.
type line struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
	n     int
}

// newLine begins to lead to target, which is host:port or the path of a socket,
// until the test ends.
func newLine(t *testing.T, name, target string) *line {
	t.Helper()
	if strings.HasPrefix(target, "/") {
		target = relay(t, target)
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &line{t: t, proxy: toxiproxy.NewProxy(server, name, "127.0.0.1:0", target)}
	l.start()
	t.Cleanup(l.proxy.Stop)
	return l
}

// relay listens on a port and leads to a socket; a socket that is not there now
// ends the connection.
func relay(t *testing.T, socket string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", socket)
			if err != nil {
				_ = from.Close()
				continue
			}
			go pass(from, to)
			go pass(to, from)
		}
	}()
	return l.Addr().String()
}

func (l *line) start() {
	l.t.Helper()
	if err := l.proxy.Start(); err != nil {
		l.t.Fatal(err)
	}
}

// cut ends all connections and refuses new ones, until mend.
func (l *line) cut() { l.proxy.Stop() }

// hole makes the line a black hole both ways: nothing ends, and nothing comes.
func (l *line) hole() {
	l.toxic("upstream", `"type":"timeout","attributes":{"timeout":0}`)
	l.toxic("downstream", `"type":"timeout","attributes":{"timeout":0}`)
}

// slow delays all that comes back.
func (l *line) slow(d time.Duration) {
	l.toxic("downstream", fmt.Sprintf(`"type":"latency","attributes":{"latency":%d}`, d.Milliseconds()))
}

// toxic troubles one direction, as toxiproxy describes it.
func (l *line) toxic(direction, what string) {
	l.t.Helper()
	l.n++
	_, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"name":"t%d","stream":%q,%s}`, l.n, direction, what)))
	if err != nil {
		l.t.Fatal(err)
	}
}

// mend makes the line as it was.
func (l *line) mend() {
	l.t.Helper()
	l.proxy.Toxics.ResetToxics(l.t.Context())
	if !l.proxy.Enabled {
		l.start()
	}
}

// addr is where the line begins.
func (l *line) addr() string { return l.proxy.Listen }

// lines are the ways of an installation to what it needs.
type lines struct{ database, redis, vendor *line }

// newFaultSite is newSite with a line to each part, by which the processes go.
// What the test itself asks goes past them.
func newFaultSite(t *testing.T, sim pushsim.Config) *site {
	t.Helper()
	s := newSite(t, sim)
	s.throughLines()
	return s
}

// throughLines has the processes that are started from now on go by lines.
func (s *site) throughLines() {
	s.t.Helper()
	s.lines = &lines{}
	s.lines.database, s.ways.database = lineTo(s.t, "database", s.url)
	s.lines.redis, s.ways.redis = lineTo(s.t, "redis", s.redis.URL())
	s.lines.vendor, s.ways.vendor = lineTo(s.t, "vendor", s.sim.URL())
}

// lineTo makes a line to what a URL names, and gives the URL by it.
func lineTo(t *testing.T, name, raw string) (*line, string) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	target := u.Host
	q := u.Query()
	switch host := q.Get("host"); {
	case strings.HasPrefix(host, "/"): // PostgreSQL's way to name the folder of a socket
		port := q.Get("port")
		if port == "" {
			port = "5432"
		}
		target = host + "/.s.PGSQL." + port
		q.Del("host")
		q.Del("port")
		u.RawQuery = q.Encode()
	case u.Scheme == "unix":
		target, u.Scheme, u.Path = u.Path, "redis", "/0"
	}
	l := newLine(t, name, target)
	u.Host = l.addr()
	return l, u.String()
}

// row adds to the table of faults what the stand-in and the ledger say now:
// devices is how many should have been told, allowed how many of them twice at
// most, recovered how long it took from the fault's end until it went on.
func (s *site) row(fault string, devices, allowed int64, recovered time.Duration) {
	s.t.Helper()
	c := s.sim.Counts()
	allowed += s.unanswered()
	r := faulttable.Row{Fault: fault, Test: s.t.Name(), Calls: c.Calls, Sent: c.Unique, Twice: c.Duplicates, Allowed: allowed,
		Lost: devices - c.Unique, Recovered: recovered}
	if r.Twice > allowed || r.Lost != 0 {
		s.t.Errorf("%s: %d told twice (at most %d), %d lost", fault, r.Twice, allowed, r.Lost)
	}
	faulttable.Add(s.t, r)
}

// sound wants the ledger to hold what it promises after any fault: each delivery
// once, each at its end with a reason or waiting with a time, the counts those of
// the rows, nothing under way, no more told twice than it says.
func (s *site) sound() {
	s.t.Helper()
	for what, sql := range map[string]string{
		"deliveries under way": `SELECT count(*) FROM delivery WHERE status = 'sending'`,
		"deliveries that wait for nothing": `SELECT count(*) FROM delivery d JOIN notice n ON n.id = d.notice_id
			WHERE d.status = 'pending' AND (n.settled_at IS NOT NULL OR d.wake_at IS NULL AND NOT EXISTS (
				SELECT FROM notice_range r WHERE r.notice_id = d.notice_id AND r.done_at IS NULL
					AND d.device_id BETWEEN r.first_id AND r.last_id))`,
		"notices whose counts are not those of their rows": `SELECT count(*) FROM (
				SELECT notice_id, status, count(*) AS n FROM delivery GROUP BY 1, 2) d
			FULL JOIN (SELECT notice_id, x.status, x.n FROM (SELECT notice_id, sum(pending + retrying) AS pending, sum(sending) AS sending,
					sum(sent) AS sent, sum(failed) AS failed, sum(skipped) AS skipped, sum(unknown) AS unknown
				FROM notice_counter GROUP BY 1) c
				CROSS JOIN LATERAL (VALUES ('pending', pending), ('sending', sending), ('sent', sent), ('failed', failed),
					('skipped', skipped), ('unknown', unknown)) x (status, n) WHERE x.n <> 0) c USING (notice_id, status)
			WHERE d.n IS DISTINCT FROM c.n`,
		"notices whose total is not the sum of its parts": `SELECT count(*) FROM (SELECT FROM notice_counter GROUP BY notice_id
			HAVING sum(total) <> sum(pending + retrying + sending + sent + failed + skipped + unknown)) x`,
		"attempts that nobody counted": `SELECT count(*) FROM (SELECT notice_id, device_id, count(*) AS n FROM attempt GROUP BY 1, 2) a
			JOIN delivery d USING (notice_id, device_id) WHERE a.n > d.attempts`,
		"sent ones without an attempt that was": `SELECT count(*) FROM delivery d WHERE status = 'sent' AND NOT EXISTS (
			SELECT FROM attempt a WHERE a.notice_id = d.notice_id AND a.device_id = d.device_id AND a.outcome = 'sent')`,
	} {
		if n := s.count(sql); n != 0 {
			s.t.Errorf("%d %s", n, what)
		}
	}
	if twice, said := s.sim.Counts().Duplicates, s.count(`SELECT coalesce(sum(twice), 0) FROM notice_counter`); twice > said {
		s.t.Errorf("%d were told twice, and the ledger says at most %d", twice, said)
	}
}
