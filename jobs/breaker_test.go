package jobs

import (
	"testing"
	"time"

	"bongsu/db"
	"bongsu/jobs/push"
)

// tried is the answer to a device's attempt-th attempt, begun at second start.
func tried(attempt, start int, outcome push.Outcome) verdict {
	return verdict{claim: db.Claim{NoticeID: 7, DeviceID: int64(start), Attempts: attempt, Charged: attempt - 1}, started: second(start),
		result: push.Result{Outcome: outcome, Status: 503}}
}

func second(n int) time.Time { return time.Unix(int64(1000+n), 0) }

func TestBreaker(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(i int) verdict
		backs  bool // the ledger says that many wait
		trips  int
	}{
		{"39 failures are too few", func(i int) verdict {
			if i < 39 {
				return tried(1, i, push.Transient)
			}
			return tried(1, i, push.Sent)
		}, true, 0},
		{"40 failures open it", func(i int) verdict { return tried(1, i, push.Transient) }, true, 3},
		{"nine in ten open it", func(i int) verdict {
			if i%10 == 5 {
				return tried(1, i, push.Sent)
			}
			return tried(1, i, push.Transient)
		}, true, 3},
		{"eight in ten do not", func(i int) verdict {
			if i%5 == 0 {
				return tried(1, i, push.Sent)
			}
			return tried(1, i, push.Transient)
		}, true, 0},
		{"retries are not judged", func(i int) verdict { return tried(2, i, push.Transient) }, true, 0},
		{"refusals are answers", func(i int) verdict { return tried(1, i, push.Permanent) }, true, 0},
		{"429 is an answer", func(i int) verdict { return tried(1, i, push.Wait) }, true, 0},
		{"few wait", func(i int) verdict { return tried(1, i, push.Transient) }, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			now, opened := second(0), 0
			b := &breaker{now: func() time.Time { return now }, trip: func(string) bool {
				if c.backs {
					opened++
				}
				return c.backs
			}}
			for i := range 120 {
				now = second(i + 1)
				b.saw(c.answer(i))
			}
			if opened != c.trips {
				t.Errorf("opened %d times, want %d", opened, c.trips)
			}
		})
	}
}

// What failed while the breaker opened, and was begun before, is not charged; what
// is begun later is judged anew.
func TestBreakerFreesWhatWasUnderWay(t *testing.T) {
	now := second(100)
	b := &breaker{now: func() time.Time { return now }, trip: func(string) bool { return true }}
	for i := range breakerWindow - 1 {
		if b.saw(tried(1, i, push.Transient)) {
			t.Fatalf("the %d-th is free", i)
		}
	}
	if !b.saw(tried(1, 50, push.Transient)) {
		t.Error("the one that opened it is charged")
	}
	for _, c := range []struct {
		v    verdict
		free bool
	}{
		{tried(1, 60, push.Transient), true},
		{tried(3, 60, push.Transient), true},
		{tried(1, 60, push.Sent), false},
		{tried(1, 101, push.Transient), false},
	} {
		if free := b.saw(c.v); free != c.free {
			t.Errorf("attempt %d begun at %v, %s: free %v", c.v.claim.Attempts, c.v.started.Unix()-1000, c.v.result.Outcome, free)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name       string
		share      float64
		outcome    func(i int) push.Outcome
		keep       int // answers until devices are kept; 0: never
		pause      int // until calls are paused
		afterAgree bool
	}{
		{"all 410", 0.5, func(int) push.Outcome { return push.Dead }, 201, 501, false},
		{"all 400", 0.5, func(int) push.Outcome { return push.Permanent }, 0, 501, false},
		{"all 403", 0.5, func(int) push.Outcome { return push.Suspect }, 0, 501, false},
		{"a quarter is enough where it is set", 0.25, func(int) push.Outcome { return push.Permanent }, 0, 251, false},
		{"half is not more than half", 0.5, func(i int) push.Outcome { return [2]push.Outcome{push.Sent, push.Permanent}[i%2] }, 0, 0, false},
		{"a fifth of 410 is not more than a fifth", 0.5, func(i int) push.Outcome { return map[bool]push.Outcome{true: push.Dead, false: push.Sent}[i%5 == 0] }, 0, 0, false},
		{"failures are no refusals", 0.5, func(int) push.Outcome { return push.Transient }, 0, 0, false},
		{"off", 0, func(int) push.Outcome { return push.Dead }, 0, 0, false},
		{"agreed to", 0.5, func(int) push.Outcome { return push.Dead }, 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, paused, i := 0, 0, 0
			g := &refusals{share: c.share, now: time.Now,
				keep:  func(string) bool { kept = i + 1; return true },
				pause: func(string) bool { paused = i + 1; return true }}
			if c.afterAgree {
				g.learn(2, true, false, 7)
			}
			withheld := 0
			for i = range 3000 {
				if g.saw(tried(1, i, c.outcome(i))) {
					withheld++
				}
			}
			if kept != c.keep || paused != c.pause {
				t.Errorf("devices kept at %d, paused at %d; want %d and %d", kept, paused, c.keep, c.pause)
			}
			if withheld != 0 {
				t.Errorf("%d devices were kept here, and the ledger sees to that", withheld)
			}
		})
	}
}

// While the ledger cannot be told, the process keeps the devices itself, and tells
// it again and again.
func TestRefusalsKeepDevicesWhereTheLedgerCannotBeTold(t *testing.T) {
	now, tries := time.Now(), 0
	g := &refusals{share: 0.5, now: func() time.Time { return now }, pause: func(string) bool { return true }}
	g.keep = func(string) bool {
		if tries++; !g.saw(tried(1, 0, push.Dead)) {
			t.Error("not kept while the ledger is being told")
		}
		return tries == 3
	}
	defer func() {
		for range 4 {
			now = now.Add(guardAgain)
			g.saw(tried(1, 1, push.Dead))
		}
		if tries != 3 || g.saw(tried(1, 2, push.Dead)) {
			t.Errorf("told %d times, want until it was heard", tries)
		}
	}()
	withheld := 0
	for i := range 1000 {
		if g.saw(tried(1, i, push.Dead)) {
			withheld++
		}
	}
	if withheld != 1000-200 {
		t.Errorf("%d devices were kept, want 800", withheld)
	}
}

// An admin's words reach the guard: after Try now it looks anew, after an
// agreement it leaves the notices there were alone and no later one.
func TestRefusalsLearn(t *testing.T) {
	pauses, now := 0, 0
	g := &refusals{share: 0.5, now: func() time.Time { now++; return second(now) }, keep: func(string) bool { return true },
		pause: func(string) bool { pauses++; return true }}
	feed := func(notice int64, n int) {
		for i := range n {
			v := tried(1, i, push.Permanent)
			v.claim.NoticeID = notice
			g.saw(v)
		}
	}
	g.learn(1, true, false, 0)
	feed(7, 600)
	g.learn(1, true, false, 0) // a look from before the pause
	feed(7, 600)
	if pauses != 1 {
		t.Fatalf("paused %d times", pauses)
	}
	g.learn(2, false, false, 0)
	g.learn(3, true, false, 0) // Try now
	feed(7, 500)
	if pauses != 1 {
		t.Fatal("paused by answers from before")
	}
	feed(7, 1)
	if pauses != 2 {
		t.Fatal("not paused again")
	}
	g.learn(5, true, false, 7) // paused and agreed to between two looks
	feed(7, 2000)
	if pauses != 2 {
		t.Fatal("paused for a notice that was agreed to")
	}
	feed(8, 501)
	if pauses != 3 {
		t.Fatal("not paused for a later notice")
	}
}
