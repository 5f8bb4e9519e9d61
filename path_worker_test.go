package main

import (
	"context"
	"net/http"
	"syscall"
	"testing"
)

// TestFaultWorkerStopped ends the worker with SIGTERM while it sends. It leaves with 0
// and nothing in doubt, and the next one goes on: nobody is told twice.
func TestFaultWorkerStopped(t *testing.T) {
	t.Parallel()
	s := newSite(t, plainVendor())
	s.devices(5_000, goodToken)
	s.start(roleWeb)
	worker := s.start(roleWorker)
	n := s.submits("stop", http.StatusAccepted)
	s.told(1_000)
	s.quits(worker)
	told := s.sim.Counts().Unique
	if held := s.count("SELECT count(*) FROM delivery WHERE status = 'sending'"); held != 0 || told >= 5_000 {
		t.Errorf("after the end %d claims are held, %d told", held, told)
	}
	s.start(roleWorker)
	s.allToldOnce(s.finished(n.ID), 5_000)
	s.sound()
	s.row("worker stopped with SIGTERM", 5_000, 0, 0)
}

// TestFaultWorkerFrozen stops a worker's clock until its claims are over and another
// worker has done its work. What it then knows is written nowhere, and it begins
// no further call.
func TestFaultWorkerFrozen(t *testing.T) {
	t.Parallel()
	s := newSite(t, plainVendor())
	s.devices(4_000, goodToken)
	s.start(roleWeb)
	settings := []string{"BONGSU_VENDOR_TIMEOUT=1s", "BONGSU_LEASE=7s", "BONGSU_MAX_IN_FLIGHT=64"}
	frozen := s.start(roleWorker, settings...)
	n := s.submits("freeze", http.StatusAccepted)
	s.told(500)
	frozen.Signal(syscall.SIGSTOP)
	s.start(roleWorker, settings...)
	n = s.finished(n.ID)
	if twice := s.sim.Counts().Duplicates; n.Counts.Sent != 4_000 || twice > 64 || int64(n.PossiblyTwice) < twice || n.PossiblyTwice == 0 {
		t.Errorf("%d sent, %d told twice, %d said to be possibly", n.Counts.Sent, twice, n.PossiblyTwice)
	}
	ledger, calls := s.ledger(), s.sim.Counts().Calls
	frozen.Signal(syscall.SIGCONT)
	s.quits(frozen) // by then it has recorded what it could
	if after := s.ledger(); after != ledger {
		t.Errorf("the frozen worker changed the ledger from %s to %s", ledger, after)
	}
	// A call that it was just beginning may still go out, and no other.
	if all := s.sim.Counts().Calls; all > 4_000+64 {
		t.Errorf("the frozen worker began %d calls over claims that had ended, %d calls in all", all-calls, all)
	}
	s.sound()
	s.row("worker frozen past its lease, and thawed", 4_000, 64, 0)
}

// allToldOnce wants that all of n devices were told, and each with one call.
func (s *site) allToldOnce(n apiNotice, devices int) {
	s.t.Helper()
	c := s.sim.Counts()
	late := s.unanswered()
	if n.Counts != (apiCounts{Total: devices, Sent: devices}) || int64(n.PossiblyTwice) > late {
		s.t.Errorf("counts %+v, possibly twice %d", n.Counts, n.PossiblyTwice)
	}
	if c.Calls > int64(devices)+late || c.Unique != int64(devices) || c.Duplicates > late {
		s.t.Errorf("the stand-in had %+v", c)
	}
}

// unanswered is how many calls reached the vendor and had no answer within their
// limit. A machine that is overloaded makes some; the vendor that forgets keys may
// then be called twice, and the ledger counts it.
func (s *site) unanswered() (n int64) {
	s.t.Helper()
	n = s.count(`SELECT count(*) FROM attempt WHERE doubt AND outcome <> 'lost'`)
	if n > 0 {
		s.t.Logf("%d calls had no answer in time", n)
	}
	return n
}

// ledger is a digest of all that results are written to.
func (s *site) ledger() (digest string) {
	s.t.Helper()
	s.no(s.pool.QueryRow(context.WithoutCancel(s.t.Context()), `
		SELECT concat_ws(' ',
			(SELECT md5(string_agg(d::text, ',' ORDER BY notice_id, device_id)) FROM delivery d),
			(SELECT md5(string_agg(a::text, ',' ORDER BY notice_id, device_id, fence)) FROM attempt a),
			(SELECT sum(sent) || '/' || sum(attempts) || '/' || sum(twice) FROM notice_counter))`).Scan(&digest))
	return digest
}
