package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bongsu/db"
	"bongsu/jobs/push/pushsim"
)

// TestReplayOfTwentyThousand cancels a replay of 20,000 on its way, and has a second
// one pressed by two admins at once, paused, resumed, and its worker killed. Nothing
// moves after a press on pause or cancel has been answered, each total is exact, and
// each act is in the log once.
func TestReplayOfTwentyThousand(t *testing.T) {
	t.Parallel()
	const devices = 20_000
	s := newSite(t, pushsim.Config{Switches: pushsim.Switches{Latency: 5 * time.Millisecond, HonourKeys: true}})
	s.devices(devices, func(i int) string { return fmt.Sprintf("bad-%05d", i) })
	bases := []string{s.start(roleWeb).base, s.start(roleWeb).base}
	settings := []string{"BONGSU_REFUSAL_PAUSE=0"}
	worker := s.start(roleWorker, settings...)
	n := s.submits("replayed", http.StatusAccepted)
	s.finished(n.ID)
	admins := []*person{s.signsIn(bases[0], "one@example.com", db.Admin), s.signsIn(bases[1], "two@example.com", db.Admin)}
	plan := func(p *person) string {
		a := p.post("/archive/replays", "act", "all", "notice", fmt.Sprint(n.ID), "reason", "rejected")
		if !strings.Contains(a.body, "20,000 deliveries match: 20,000 will be put back") {
			t.Errorf("the plan: %d %s", a.status, a.body)
		}
		return a.at
	}

	first := admins[0].post(plan(admins[0]) + "/start").at
	stopped := s.stopsReplay(admins[0], first, "/cancel")
	s.finished(n.ID)
	if moved := s.count("SELECT replayed FROM replay WHERE state = 'cancelled'"); moved != stopped {
		t.Errorf("%d were put back by the cancelled run, it was %d when the press was answered", moved, stopped)
	}
	if again := s.count("SELECT count(*) FROM delivery WHERE generation = 2 AND status = 'failed'"); again != stopped {
		t.Errorf("%d have failed again, of %d put back", again, stopped)
	}

	s.no(s.sim.Mend("bad-"))
	runs := [2]string{}
	var both sync.WaitGroup
	for i, p := range admins {
		both.Go(func() { runs[i] = p.post(plan(p) + "/start").at })
	}
	both.Wait()
	if runs[0] != runs[1] || runs[0] == first {
		t.Fatalf("two admins at once began %v", runs)
	}
	stopped = s.stopsReplay(admins[1], runs[0], "/pause")
	worker.Signal(syscall.SIGSTOP)
	if a := admins[0].post(runs[0] + "/resume"); a.status != http.StatusOK {
		t.Errorf("resuming: %d", a.status)
	}
	s.dies(worker)
	if moved := s.count("SELECT replayed FROM replay WHERE state = 'pending'"); moved != stopped {
		t.Errorf("%d were put back, it was %d when the pause was answered", moved, stopped)
	}
	s.start(roleWorker, settings...)
	s.until("the replay is done", func() bool { return s.count("SELECT count(*) FROM replay WHERE state = 'done'") == 1 })
	if end := s.finished(n.ID); end.Counts != (apiCounts{Total: devices, Sent: devices}) {
		t.Errorf("at the end: %+v", end.Counts)
	}
	if odd := s.count("SELECT count(*) FROM replay WHERE state = 'done' AND (matched, replayed, skipped) <> ($1, $1, '{}')", devices); odd != 0 {
		t.Error("the totals of the run are not exact")
	}
	if acts := s.count(`SELECT count(DISTINCT (act, object)) * 100 + count(*) FROM audit WHERE object LIKE 'replay:%'`); acts != 505 {
		t.Errorf("the log has %d different acts and %d in all, want 5 and 5", acts/100, acts%100)
	}
	s.sound()
}

// stopsReplay presses pause or cancel while a run is on its way, and gives how far
// it had come when the press was answered. Nothing moves after that.
func (s *site) stopsReplay(p *person, run, press string) (moved int64) {
	s.t.Helper()
	id := strings.TrimPrefix(run, "/archive/replays/")
	replayed := func() int64 { return s.count("SELECT replayed FROM replay WHERE id = $1::text::bigint", id) }
	s.until("the replay is on its way", func() bool { return replayed() > 0 })
	a := p.post(run + press)
	moved = replayed()
	if a.status != http.StatusOK || a.took > time.Second {
		s.t.Errorf("%s: %d after %v", press, a.status, a.took)
	}
	if matched := s.count("SELECT matched FROM replay WHERE id = $1::text::bigint", id); moved >= matched {
		s.t.Fatalf("%s came too late: all %d were put back", press, matched)
	}
	time.Sleep(time.Second)
	if later := replayed(); later != moved {
		s.t.Errorf("%d more were put back after %s", later-moved, press)
	}
	return moved
}
