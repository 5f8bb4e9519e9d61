package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"bongsu/db"
	"bongsu/jobs/push/pushsim"
)

// TestFaultNoWorker takes all workers away in mid-run. Notices are accepted
// nevertheless, within 60 s Status says that no worker is running, and one that is
// started goes on.
func TestFaultNoWorker(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t, pushsim.Config{Switches: pushsim.Switches{
		Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, HonourKeys: true}})
	s.devices(3_000, goodToken)
	base := s.start(roleWeb).base
	workers := []*proc{s.start(roleWorker, "BONGSU_RATE=1000"), s.start(roleWorker, "BONGSU_RATE=1000")}
	first := s.submits("before", http.StatusAccepted)
	s.told(500)
	for _, w := range workers {
		s.dies(w)
	}
	gone := time.Now()
	second := s.submits("during", http.StatusAccepted)
	admin := s.signsIn(base, "admin@example.com", db.Admin)
	s.until("Status says that no worker is running", func() bool {
		return strings.Contains(admin.get("/status").body, "/runbook/no-worker")
	})
	if known := time.Since(gone); known > 60*time.Second {
		t.Errorf("it was known after %v", known)
	}
	if page := admin.get(fmt.Sprintf("/notices/%d", second.ID)).body; !strings.Contains(page, "No worker is running") {
		t.Errorf("the notice's page does not say why it waits:\n%s", page)
	}
	s.start(roleWorker)
	recovered := s.goesOn()
	for _, id := range []int64{first.ID, second.ID} {
		if n := s.finished(id); n.Counts != (apiCounts{Total: 3_000, Sent: 3_000}) {
			t.Errorf("notice %d: %+v", id, n.Counts)
		}
	}
	s.sound()
	s.row("all workers killed in mid-run, two notices", 6_000, 0, recovered)
}

// TestFaultFeederFrozen freezes the process whose feeder has the turn, in mid-run,
// and thaws it when another has done the work: it writes nothing.
func TestFaultFeederFrozen(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t, pushsim.Config{Switches: pushsim.Switches{
		Latency: 30 * time.Millisecond, Jitter: 10 * time.Millisecond, HonourKeys: true}})
	s.devices(8_000, goodToken)
	s.start(roleWeb)
	settings := []string{"BONGSU_VENDOR_TIMEOUT=1s", "BONGSU_LEASE=7s", "BONGSU_RATE=800"}
	procs := []*proc{s.start(roleWorker, settings...), s.start(roleWorker, settings...)}
	n := s.submits("frozen feeder", http.StatusAccepted)
	s.told(1_000)
	var holder string
	var term int64
	s.no(s.pool.QueryRow(t.Context(), "SELECT holder, term FROM feeder").Scan(&holder, &term))
	var frozen *proc
	for _, p := range procs {
		if strings.Contains(holder, fmt.Sprintf("-%d-", p.Pid())) {
			frozen = p
		}
	}
	if frozen == nil {
		t.Fatalf("no process is the feeder %s", holder)
	}
	frozen.Signal(syscall.SIGSTOP)
	from := time.Now()
	s.until("another feeds", func() bool { return s.count("SELECT term FROM feeder") > term })
	taken := time.Since(from)
	if taken > 12*time.Second { // 6 s is what is promised; a busy machine needs longer
		t.Errorf("another took over after %v", taken)
	}
	n = s.finished(n.ID)
	ledger := s.ledger()
	frozen.Signal(syscall.SIGCONT)
	s.quits(frozen)
	if after := s.ledger(); after != ledger {
		t.Errorf("the thawed process changed the ledger from %s to %s", ledger, after)
	}
	if n.Counts != (apiCounts{Total: 8_000, Sent: 8_000}) {
		t.Errorf("counts: %+v", n.Counts)
	}
	s.sound()
	s.row("a feeder frozen at work, and thawed", 8_000, 0, taken)
}

// TestFaultPoison puts tasks into the queues that nobody can read. They are set
// aside with their reason, and the worker lives.
func TestFaultPoison(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t, plainVendor())
	s.devices(1_000, goodToken)
	base := s.start(roleWeb, "REDIS_URL="+s.ways.redis).base
	worker := s.start(roleWorker)
	client := asynq.NewClientFromRedisClient(s.redisClient())
	for i, kind := range []string{"notice:range", "notice:retry", "test:send", "device:import", "no:such"} {
		queue := map[string]string{"notice:retry": "retry", "device:import": "import"}[kind]
		if queue == "" {
			queue = "push"
		}
		_, err := client.Enqueue(asynq.NewTask(kind, []byte(`{"notice":`)), asynq.Queue(queue), asynq.MaxRetry(0), asynq.TaskID(fmt.Sprintf("poison-%d", i)))
		s.no(err)
	}
	admin := s.signsIn(base, "admin@example.com", db.Admin)
	s.until("they are set aside and shown", func() bool {
		return strings.Count(admin.get("/queues/push?state=archived").body, "poison-") > 0
	})
	n := s.submits("after the poison", http.StatusAccepted)
	s.allToldOnce(s.finished(n.ID), 1_000)
	if ended(worker) {
		t.Error("the worker died")
	}
	s.sound()
	s.row("tasks that nobody can read", 1_000, 0, 0)
}

// TestFaultReplay has two admins press at once, at two processes, and kills the
// worker half-way. Each delivery is replayed once; the totals are exact.
func TestFaultReplay(t *testing.T) {
	t.Parallel()
	const devices = 6_000
	s := newFaultSite(t, pushsim.Config{Switches: pushsim.Switches{Latency: 10 * time.Millisecond, HonourKeys: true}})
	s.devices(devices, func(i int) string { return fmt.Sprintf("bad-%05d", i) })
	bases := []string{s.start(roleWeb).base, s.start(roleWeb).base}
	settings := []string{"BONGSU_REFUSAL_PAUSE=0", "BONGSU_RATE=2000", "BONGSU_VENDOR_TIMEOUT=1s", "BONGSU_LEASE=7s"}
	worker := s.start(roleWorker, settings...)
	n := s.submits("replayed", http.StatusAccepted)
	if n := s.finished(n.ID); n.Counts.Failed != devices {
		t.Fatalf("counts: %+v", n.Counts)
	}
	s.no(s.sim.Mend("bad-"))
	admins := []*person{s.signsIn(bases[0], "one@example.com", db.Admin), s.signsIn(bases[1], "two@example.com", db.Admin)}
	var both sync.WaitGroup
	for i := range 4 { // each presses twice
		both.Go(func() {
			plan := admins[i%2].post("/archive/replays", "act", "all", "notice", fmt.Sprint(n.ID))
			a := admins[i%2].post(plan.at + "/start")
			if a.status != http.StatusOK || !strings.HasPrefix(a.at, "/archive/replays/") {
				t.Errorf("pressed: %d at %s", a.status, a.at)
			}
		})
	}
	both.Wait()
	if runs := s.count("SELECT count(*) FROM replay"); runs != 1 {
		t.Errorf("%d runs of the same deliveries", runs)
	}
	s.told(1_500)
	s.dies(worker)
	s.start(roleWorker, settings...)
	recovered := s.goesOn()
	s.until("all replays are done", func() bool { return s.count("SELECT count(*) FROM replay WHERE state <> 'done'") == 0 })
	s.until("all are told", func() bool { return s.count("SELECT count(*) FROM delivery WHERE status = 'sent'") == devices })
	s.finished(n.ID)
	if again := s.count("SELECT count(*) FROM delivery WHERE generation <> 2"); again != 0 {
		t.Errorf("%d were not replayed once", again)
	}
	if moved := s.count("SELECT sum(replayed) FROM replay"); moved != devices {
		t.Errorf("the replays say that they moved %d", moved)
	}
	if odd := s.count("SELECT count(*) FROM replay r WHERE matched <> replayed + (SELECT coalesce(sum(v::bigint), 0) FROM jsonb_each_text(skipped) x (k, v))"); odd != 0 {
		t.Errorf("%d replays do not add up", odd)
	}
	s.sound()
	s.row("replay pressed by two admins, killed half-way", devices, 0, recovered)
}

// TestFaultManyFailures has more failures than asynq would keep: the archive shows
// them all.
func TestFaultManyFailures(t *testing.T) {
	t.Parallel()
	const failures = 10_500
	s := newFaultSite(t, pushsim.Config{})
	s.devices(failures, func(i int) string { return fmt.Sprintf("bad-%05d", i) })
	s.start(roleWeb)
	s.start(roleWorker, "BONGSU_REFUSAL_PAUSE=0")
	n := s.submits("failures", http.StatusAccepted)
	if n := s.finished(n.ID); n.Counts != (apiCounts{Total: failures, Failed: failures}) {
		t.Errorf("counts: %+v", n.Counts)
	}
	all, err := s.api.archive(t.Context(), n.ID)
	s.no(err)
	seen := map[int64]bool{}
	for _, d := range all {
		seen[d.DeviceID] = true
	}
	if len(all) != failures || len(seen) != failures {
		t.Errorf("the archive lists %d, %d of them different", len(all), len(seen))
	}
	s.sound()
	s.row("more than 10,000 permanent failures", 0, 0, 0)
}

// TestFaultSignedOutWithPolls signs somebody out while their polls are under way,
// held up in the database: none of them brings the session back.
func TestFaultSignedOutWithPolls(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t, plainVendor())
	s.devices(10, goodToken)
	base := s.start(roleWeb).base
	n := s.submits("polled", http.StatusAccepted)
	op := s.signsIn(base, "op@example.com", db.Operator)
	poll := fmt.Sprintf("/notices/%d/progress", n.ID)
	if a := op.get(poll); a.status != http.StatusOK {
		t.Fatalf("the poll: %d", a.status)
	}
	s.lines.database.slow(300 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var polls sync.WaitGroup
	for i := range 20 {
		polls.Go(func() {
			time.Sleep(time.Duration(i) * 50 * time.Millisecond)
			for ctx.Err() == nil {
				op.get(poll)
			}
		})
	}
	time.Sleep(700 * time.Millisecond)
	if a := op.post("/signout"); a.status != http.StatusOK {
		t.Errorf("signing out: %d %s", a.status, a.body)
	}
	out := op.do(http.MethodGet, poll, nil)
	polls.Wait()
	s.lines.database.mend()
	for range 5 {
		if a := op.get("/notices"); a.at != "/signin" {
			t.Errorf("after signing out /notices leads to %s", a.at)
		}
	}
	if out.at != "/signin" && out.status != http.StatusUnauthorized {
		t.Errorf("a poll after signing out: %d at %s", out.status, out.at)
	}
}
