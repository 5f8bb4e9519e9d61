package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"bongsu/db/dbtest/faulttable"
	"bongsu/jobs/push/pushsim"
)

// envSeed plays one schedule of random faults again.
const envSeed = "BONGSU_TEST_SEED"

// scheduleSlots is how many calls a worker of a schedule may have under way.
const scheduleSlots = 32

// TestFaultSchedules plays random faults in random order while three notices are
// sent by two workers: workers killed and frozen, lines cut, silent and slow, Redis
// emptied and stopped, the vendor out of order. Whatever came, every device was
// told, once or as often as nobody could know, and the ledger is sound. The seed of
// a run is in its name.
func TestFaultSchedules(t *testing.T) {
	first, runs := uint64(time.Now().UnixNano()%1_000_000), 2
	if os.Getenv(envFaults) == "long" {
		runs = 100
	}
	if raw := os.Getenv(envSeed); raw != "" {
		seed, err := strconv.ParseUint(raw, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", envSeed, err)
		}
		first, runs = seed, 1
	}
	for i := range runs {
		seed := first + uint64(i)
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			playSchedule(t, seed)
		})
	}
}

func playSchedule(t *testing.T, seed uint64) {
	const devices, notices = 500, 3
	honours := seed%2 == 0
	s := newFaultSite(t, pushsim.Config{Seed: seed, Switches: pushsim.Switches{
		Latency: 30 * time.Millisecond, Jitter: 20 * time.Millisecond, TransientShare: 0.02, HonourKeys: honours}})
	s.devices(devices, goodToken)
	s.start(roleWeb)
	x := &schedule{s: s, seed: seed, settings: []string{"BONGSU_VENDOR_TIMEOUT=500ms", "BONGSU_LEASE=6s", "BONGSU_RATE=300",
		fmt.Sprintf("BONGSU_MAX_IN_FLIGHT=%d", scheduleSlots), "BONGSU_RETRY_DELAYS=500ms,1s,2s", "BONGSU_BREAKER_BACKLOG=50"}}
	x.workers = []*proc{s.start(roleWorker, x.settings...), s.start(roleWorker, x.settings...)}
	var ids []int64
	for i := range notices {
		ids = append(ids, s.submits(fmt.Sprintf("schedule %d", i), http.StatusAccepted).ID)
	}
	s.told(100)
	x.play()
	from := time.Now()
	s.answers()
	for _, id := range ids {
		n := s.finished(id)
		if n.Counts.Sent+n.Counts.Failed != devices || n.Counts.Total != devices {
			t.Errorf("notice %d: %+v", id, n.Counts)
		}
	}
	recovered := time.Since(from)
	s.sound()
	// A schedule may use up all attempts of a delivery: then it has failed, with its
	// reason, in the archive, and is not lost.
	failed := s.count("SELECT count(*) FROM delivery WHERE status = 'failed' AND reason IS NOT NULL AND charged = 4")
	if all := s.count("SELECT count(*) FROM delivery WHERE status = 'failed'"); all != failed {
		t.Errorf("%d have failed, %d of them after their schedule", all, failed)
	}
	told := s.count("SELECT count(*) FROM delivery WHERE status = 'sent'")
	c := s.sim.Counts()
	allowed := s.count("SELECT coalesce(sum(twice), 0) FROM notice_counter")
	if honours {
		allowed = 0
	}
	row := faulttable.Row{Fault: "random: " + x.story(), Test: t.Name(), Calls: c.Calls, Sent: c.Unique, Twice: c.Duplicates, Allowed: allowed,
		Lost: max(0, told-c.Unique) + devices*notices - told - failed, Recovered: recovered}
	if row.Twice > row.Allowed || row.Lost != 0 {
		t.Errorf("%+v", row)
	}
	faulttable.Add(t, row)
}

// A schedule is what befalls one installation: a track of events for each part, all
// at the same time.
type schedule struct {
	s        *site
	seed     uint64
	settings []string
	workers  []*proc
	mu       sync.Mutex
	counts   map[string]int
}

// play plays all tracks to their ends, and leaves everything mended.
func (x *schedule) play() {
	lines := x.s.lines
	var tracks sync.WaitGroup
	tracks.Go(func() { x.track(1, x.onLine("pg", lines.database)) })
	tracks.Go(func() { x.track(2, append(x.onLine("redis", lines.redis), x.onRedis()...)) })
	tracks.Go(func() { x.track(3, append(x.onLine("vendor", lines.vendor), x.onVendor()...)) })
	x.track(4, x.onWorkers())
	tracks.Wait()
	for i, p := range x.workers { // one that started while Postgres was away has ended; what watches it starts it again
		if ended(p) {
			x.workers[i] = x.s.start(roleWorker, x.settings...)
		}
	}
}

// An event troubles something for d.
type event struct {
	name string
	run  func(r *rand.Rand, d time.Duration)
}

// track plays two of the events, at random times, for random lengths.
func (x *schedule) track(n uint64, events []event) {
	r := rand.New(rand.NewPCG(x.seed, n))
	for range 2 {
		time.Sleep(time.Duration(r.Int64N(int64(2 * time.Second))))
		e := events[r.IntN(len(events))]
		x.mu.Lock()
		if x.counts == nil {
			x.counts = map[string]int{}
		}
		x.counts[e.name]++
		x.mu.Unlock()
		e.run(r, 200*time.Millisecond+time.Duration(r.Int64N(int64(2*time.Second))))
	}
}

func (x *schedule) onLine(name string, l *line) []event {
	during := func(begin func()) func(*rand.Rand, time.Duration) {
		return func(_ *rand.Rand, d time.Duration) {
			begin()
			time.Sleep(d)
			l.mend()
		}
	}
	return []event{
		{name + " cut", during(l.cut)},
		{name + " silent", during(l.hole)},
		{name + " slow", during(func() { l.slow(150 * time.Millisecond) })},
	}
}

func (x *schedule) onRedis() []event {
	client := x.s.redisClient()
	return []event{
		{"redis emptied", func(*rand.Rand, time.Duration) { _ = client.FlushAll(x.s.t.Context()).Err() }},
		{"redis frozen", func(_ *rand.Rand, d time.Duration) { x.s.redis.Freeze(); time.Sleep(d); x.s.redis.Thaw() }},
		{"redis restarted empty", func(*rand.Rand, time.Duration) { x.s.redis.StartEmpty() }},
	}
}

func (x *schedule) onVendor() []event {
	during := func(set func(*pushsim.Switches, bool)) func(*rand.Rand, time.Duration) {
		return func(_ *rand.Rand, d time.Duration) {
			_ = x.s.sim.Update(func(s *pushsim.Switches) { set(s, true) })
			time.Sleep(d)
			_ = x.s.sim.Update(func(s *pushsim.Switches) { set(s, false) })
		}
	}
	return []event{
		{"vendor 503", during(func(s *pushsim.Switches, on bool) { s.Outage = on })},
		{"vendor 429", during(func(s *pushsim.Switches, on bool) { s.RateLimit = map[bool]time.Duration{true: time.Second}[on] })},
	}
}

func (x *schedule) onWorkers() []event {
	return []event{
		{"worker killed", func(r *rand.Rand, d time.Duration) {
			i := r.IntN(2)
			x.s.dies(x.workers[i])
			time.Sleep(d / 2)
			x.workers[i] = x.s.start(roleWorker, x.settings...)
		}},
		{"worker stopped", func(r *rand.Rand, _ time.Duration) {
			i := r.IntN(2)
			x.workers[i].Signal(syscall.SIGTERM)
			<-x.workers[i].Done()
			x.workers[i] = x.s.start(roleWorker, x.settings...)
		}},
		{"worker frozen", func(r *rand.Rand, d time.Duration) {
			p := x.workers[r.IntN(2)]
			p.Signal(syscall.SIGSTOP)
			time.Sleep(4 * d) // past its lease, or not
			p.Signal(syscall.SIGCONT)
		}},
	}
}

// story names what befell it.
func (x *schedule) story() (s string) {
	for _, name := range []string{"worker killed", "worker stopped", "worker frozen", "pg cut", "pg silent", "pg slow", "redis cut",
		"redis silent", "redis slow", "redis emptied", "redis frozen", "redis restarted empty", "vendor cut", "vendor silent", "vendor slow",
		"vendor 503", "vendor 429"} {
		for range x.counts[name] {
			if s != "" {
				s += ", "
			}
			s += name
		}
	}
	return s
}
