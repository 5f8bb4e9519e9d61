package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"bongsu/db"
	"bongsu/db/childproc"
	"bongsu/db/dbtest"
	"bongsu/jobs/push/pushsim"
	"bongsu/jobs/redisserver/redistest"
	"bongsu/web"
)

// asProgram is the variable that makes the test binary run as the program
// itself: the tests start it as processes that they can kill.
const asProgram = "BONGSU_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	dbtest.Main(m)
}

// ends is how long a test waits for what must come. The machine may be busy.
const ends = 2 * time.Minute

// A site is one installation for one test: a database, a Redis, the stand-in,
// and as many processes of the product as the test starts.
type site struct {
	t     *testing.T
	url   string
	pool  *pgxpool.Pool // to look
	store *db.DB        // to set scenes
	redis *redistest.Redis
	sim   *pushsim.Server
	api   demoAPI // asks the page process that was started last

	lines *lines // nil: the processes go straight to what they need
	ways  struct{ database, redis, vendor string }
}

func newSite(t *testing.T, sim pushsim.Config) *site {
	t.Helper()
	return newSiteOn(t, dbtest.URL(t), sim)
}

// newSiteOn is newSite on a database that is there and migrated.
func newSiteOn(t *testing.T, url string, sim pushsim.Config) *site {
	t.Helper()
	s := &site{t: t, url: url, redis: redistest.New(t)}
	var err error
	s.pool, err = pgxpool.New(t.Context(), s.url)
	s.no(err)
	t.Cleanup(s.pool.Close)
	s.store, err = db.Open(t.Context(), s.url, db.Limits{MaxConns: 4, Wait: 5 * time.Second, Transaction: time.Minute, Lock: 5 * time.Second})
	s.no(err)
	t.Cleanup(s.store.Close)
	s.sim, err = pushsim.Start(sim)
	s.no(err)
	t.Cleanup(s.sim.Close)
	token, hash := web.NewToken()
	_, err = s.store.AddToken(t.Context(), "test", db.Admin, hash, commandActor())
	s.no(err)
	s.api.token = token
	s.ways.database, s.ways.redis, s.ways.vendor = s.url, s.redis.URL(), s.sim.URL()
	return s
}

// incidentVendor is the stand-in of the incident.
func incidentVendor(honours bool) pushsim.Config {
	return pushsim.Config{Switches: pushsim.Switches{
		Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, TransientShare: 0.03, HonourKeys: honours}}
}

// plainVendor takes everything, remembers no key, and answers after 30±10 ms.
func plainVendor() pushsim.Config { return pushsim.Config{Switches: pushsim.Default().Switches} }

func (s *site) no(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// A proc is a process of the product.
type proc struct {
	*childproc.Process
	base string // of its pages; empty for a worker
	log  string
}

// start starts a process with the role and, over the presets, these settings.
// One with pages is ready when start returns. It ends with the test.
func (s *site) start(role string, settings ...string) *proc {
	s.t.Helper()
	p := &proc{log: filepath.Join(s.t.TempDir(), "log")}
	env := append(ownedEnv(os.Environ()), asProgram+"=1", "DATABASE_URL="+s.ways.database, "BONGSU_VENDOR_URL="+s.ways.vendor)
	if role != roleWeb {
		env = append(env, "REDIS_URL="+s.ways.redis)
	}
	addr, err := freeAddr()
	s.no(err)
	env = append(append(env, "BONGSU_ADDR="+addr), settings...)
	log, err := os.Create(p.log)
	s.no(err)
	defer log.Close()
	program, err := os.Executable()
	s.no(err)
	p.Process, err = childproc.Start(childproc.Command{
		Path: program, Args: []string{"serve", "--role", role}, Env: env, Log: log, DeathSignal: syscall.SIGKILL})
	s.no(err)
	s.t.Cleanup(func() { s.end(p) })
	if role != roleWorker {
		p.base = "http://" + addr
		s.api.base = p.base + "/api/v1"
		ctx, cancel := context.WithTimeout(s.t.Context(), ends)
		defer cancel()
		s.no(p.Await(ctx, func(ctx context.Context) error { return isReady(ctx, p.base) }))
	}
	return p
}

func isReady(ctx context.Context, base string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

// end stops p, and shows what it logged where the test has failed.
func (s *site) end(p *proc) {
	p.Signal(syscall.SIGCONT)
	err := p.Stop(context.Background(), childproc.Step{Signal: syscall.SIGTERM, Wait: 30 * time.Second})
	if err != nil {
		s.t.Errorf("%v", err)
	}
	raw, err := os.ReadFile(p.log)
	if bytes.Contains(raw, []byte("WARNING: DATA RACE")) {
		s.t.Error("a process found a data race")
	}
	if s.t.Failed() && err == nil {
		s.t.Logf("the end of what process %d logged:\n%s", p.Pid(), raw[max(0, len(raw)-4000):])
	}
}

// quits asks p to end with SIGTERM, and wants it to leave with 0.
func (s *site) quits(p *proc) {
	s.t.Helper()
	p.Signal(syscall.SIGTERM)
	s.until("the process has ended", func() bool { return ended(p) })
	if err := p.Err(); err != nil {
		s.t.Errorf("after SIGTERM the process ended with %v", err)
	}
}

// dies kills p.
func (s *site) dies(p *proc) {
	p.Signal(syscall.SIGKILL)
	<-p.Done()
}

func ended(p *proc) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// until waits for ok, or fails the test.
func (s *site) until(what string, ok func() bool) {
	s.t.Helper()
	s.no(poll(s.t.Context(), ends, 2*time.Millisecond, what, func() (bool, error) { return ok(), nil }))
}

// told waits until the stand-in has told more than n devices.
func (s *site) told(n int64) {
	s.t.Helper()
	s.until(fmt.Sprintf("%d devices are told", n), func() bool { return s.sim.Counts().Unique > n })
}

// devices makes n devices whose tokens token gives.
func (s *site) devices(n int, token func(i int) string) {
	s.t.Helper()
	s.no(s.store.SeedDevices(s.t.Context(), n, func(i int) db.DeviceInput {
		return db.DeviceInput{Token: token(i), Platform: "android"}
	}))
}

func goodToken(i int) string { return fmt.Sprintf("good-%05d", i) }

// incidentToken has one expired and one unreachable device in each hundred.
func incidentToken(i int) string { return fmt.Sprintf("%s%05d", kind(i), i) }

// text is a notice's content with this title.
func text(title string) map[string]any { return map[string]any{"title": title, "body": "body"} }

// submits sends content and wants this status.
func (s *site) submits(title string, want int) apiNotice {
	s.t.Helper()
	n, status, took, err := s.api.submit(s.t.Context(), text(title))
	s.no(err)
	if status != want {
		s.t.Fatalf("the submit was answered with %d, want %d", status, want)
	}
	s.t.Logf("submit answered %d after %s", status, took)
	return n
}

// finished waits until the notice is finished, and wants its parts to add up at
// every look.
func (s *site) finished(id int64) (n apiNotice) {
	s.t.Helper()
	var last atomic.Pointer[apiNotice]
	err := poll(s.t.Context(), ends, 50*time.Millisecond, "the notice is finished", func() (bool, error) {
		n, err := s.api.notice(s.t.Context(), id)
		last.Store(&n)
		if err == nil && n.Counts.parts() != n.Counts.Total {
			return false, fmt.Errorf("the parts do not add up: %+v", n.Counts)
		}
		return n.State == "finished", err
	})
	n = *last.Load()
	if err != nil {
		s.t.Fatalf("%v: %+v", err, n)
	}
	s.t.Logf("%s: %+v, possibly twice %d; stand-in: %+v", n.State, n.Counts, n.PossiblyTwice, s.sim.Counts())
	return n
}

// count gives the number that a query answers.
func (s *site) count(sql string, args ...any) (n int64) {
	s.t.Helper()
	s.no(s.pool.QueryRow(s.t.Context(), sql, args...).Scan(&n))
	return n
}
