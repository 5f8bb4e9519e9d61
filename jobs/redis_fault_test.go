package jobs

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bongsu/db"
	"bongsu/jobs/push/pushsim"
)

// slow is a vendor that makes a notice to a few thousand last some seconds, and
// that honours no key: a second call would be seen.
var slow = pushsim.Config{Switches: pushsim.Switches{Latency: 100 * time.Millisecond, Jitter: 20 * time.Millisecond}}

func (h *house) redisClient() *redis.Client {
	h.t.Helper()
	opts, err := redis.ParseURL(h.redis.URL())
	h.no(err)
	c := redis.NewClient(opts)
	h.t.Cleanup(func() { _ = c.Close() })
	return c
}

// midRun waits until part of a notice is sent and part is not.
func (h *house) midRun(id int64, sent int64) {
	h.t.Helper()
	_, c := h.until(id, time.Minute, "under way", func(_ db.Notice, c db.Counts) bool { return c.Sent >= sent })
	if c.Sent == c.Total && c.Open() == 0 && c.Total > 0 {
		h.t.Fatalf("the notice was through before the fault: %+v", c)
	}
}

// allOnce checks that n devices were told, each by one call.
func (h *house) allOnce(id int64, n int64) {
	h.t.Helper()
	_, c := h.counts(id)
	if c.Sent != n || c.Total != n || c.Twice != 0 {
		h.t.Errorf("counts: %+v, want %d sent", c, n)
	}
	if got := h.sim.Counts(); got.Calls != n || got.Duplicates != 0 {
		h.t.Errorf("the stand-in had %d calls and %d duplicates, want %d and 0", got.Calls, got.Duplicates, n)
	}
}

func TestG8RedisEmptied(t *testing.T) {
	for _, fault := range []string{"flushall", "restarted empty"} {
		t.Run(fault, func(t *testing.T) {
			h := newHouse(t, slow)
			h.devices(6000, good)
			h.process(nil)
			n := h.accept("emptied")
			h.midRun(n.ID, 1000)
			h.no(h.redisClient().FlushAll(t.Context()).Err())
			if fault == "restarted empty" {
				h.redis.Stop()
				h.redis.Start()
			}
			h.finished(n.ID, time.Minute)
			h.allOnce(n.ID, 6000)
		})
	}
}

// Tasks that were rung and that nobody has begun are rung again when Redis has
// lost them.
func TestG8TasksLostBeforeTheyBegan(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(2000, good)
	w, _, _ := h.process(nil)
	w.Stop()
	n := h.accept("lost")
	h.eventually(20*time.Second, "rung", func() bool {
		return one[int](h, `SELECT count(*) FROM notice_range WHERE rung_at IS NOT NULL`) == 4
	})
	h.no(h.redisClient().FlushAll(t.Context()).Err())
	h.process(nil)
	h.finished(n.ID, time.Minute)
	h.allOnce(n.ID, 2000)
}

// While Redis is away notices are accepted, and the ledger says since when
// sending waits; when it is back they go out by themselves.
func TestG2RedisDownAtSubmit(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(500, good)
	h.process(nil)
	h.redis.Stop()
	var ids []int64
	for i := range 5 {
		start := time.Now()
		ids = append(ids, h.accept(fmt.Sprint("down ", i)).ID)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("accepting took %v", took)
		}
	}
	h.eventually(20*time.Second, "known to be down", func() bool {
		s, err := h.db.Status(t.Context())
		h.no(err)
		return s.QueueDownSince != nil
	})
	if got := h.sim.Counts().Calls; got != 0 {
		t.Fatalf("%d calls without a queue", got)
	}
	h.redis.Start()
	back := time.Now()
	for _, id := range ids {
		h.finished(id, time.Minute)
		_, c := h.counts(id)
		if c.Sent != 500 {
			t.Errorf("notice %d: %+v", id, c)
		}
	}
	if wait := h.sim.Counts().FirstCallAt.Sub(back); wait > 10*time.Second {
		t.Errorf("the first call came %v after Redis was back", wait)
	}
	if got := h.sim.Counts(); got.Calls != 2500 || got.Duplicates != 0 {
		t.Errorf("stand-in: %+v", got)
	}
}

// eventually polls ok until it holds, or fails after limit.
func (h *house) eventually(limit time.Duration, what string, ok func() bool) {
	h.t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			h.t.Fatalf("not %s after %v", what, limit)
		}
		<-tick.C
	}
}
