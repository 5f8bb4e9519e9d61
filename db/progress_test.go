package db

import (
	"errors"
	"testing"
	"time"
)

func TestNextDueIsThatOfARetryThatWaits(t *testing.T) {
	s := newScene(t, 3)
	due := func() *time.Time {
		t.Helper()
		return must(s.db.Progress(t.Context(), s.id))(t).NextDue
	}
	if at := due(); at != nil {
		t.Fatalf("due at %v, nothing was tried yet", at)
	}
	s.record(OutcomeTransient, s.claim(2)...)
	exec(t, s.db, `UPDATE delivery SET wake_at = now() + device_id * interval '1 hour' WHERE wake_at IS NOT NULL`)
	want := ask[time.Time](t, s.db, `SELECT min(wake_at) FROM delivery WHERE status = 'pending'`)
	if at := due(); at == nil || !at.Equal(want) {
		t.Fatalf("due at %v, want %v", at, want)
	}
	exec(t, s.db, `UPDATE delivery SET wake_at = now() WHERE device_id = 1`)
	s.due(1) // its wake time is now the end of its lease
	want = ask[time.Time](t, s.db, `SELECT wake_at FROM delivery WHERE device_id = 2`)
	if at := due(); at == nil || !at.Equal(want) {
		t.Fatalf("due at %v while another is under way, want %v", at, want)
	}
	if _, err := s.db.Progress(t.Context(), 999); !errors.Is(err, ErrNotFound) {
		t.Fatalf("progress of no notice: %v", err)
	}
}

func TestG7PartsAddUpInEverySnapshotWhileWorkersWrite(t *testing.T) {
	s := newScene(t, 1500)
	var errs [4]error
	stop := make(chan struct{})
	polled := make(chan int, 1)
	go func() {
		n := 0
		defer func() { polled <- n }()
		for ; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			p, err := s.db.Progress(t.Context(), s.id)
			c := p.Counts
			if err != nil || c.Pending+c.Retrying+c.Sending+c.Sent+c.Failed+c.Skipped+c.Unknown != 1500 || c.Total != 1500 ||
				c.Pending < 0 || c.Retrying < 0 || c.Sending < 0 {
				t.Errorf("a poll saw %+v, %v", c, err)
				return
			}
			var reasons int64
			for _, r := range p.Reasons {
				reasons += r.N
			}
			if reasons != c.Failed+c.Skipped+c.Unknown {
				t.Errorf("a poll saw reasons %+v beside %+v", p.Reasons, c)
			}
		}
	}()
	together(4, func(i int) { errs[i] = drain(s, i) })
	close(stop)
	ok(t, errors.Join(errs[:]...))
	if n := <-polled; n < 5 {
		t.Fatalf("only %d polls", n)
	}
	s.want("drained", Counts{Sent: 1200, Failed: 300})
}

// drain has every first attempt sent, but each fifth device refused.
func drain(s *scene, shard int) error {
	for {
		b, err := s.db.ClaimRange(s.Context(), s.id, 0, 1<<40, 16, testLease, shard)
		if err != nil {
			return err
		}
		var results []Result
		for _, c := range b.Claims {
			outcome := OutcomeSent
			if c.DeviceID%5 == 0 {
				outcome = OutcomeDead
			}
			results = append(results, resultOf(c, outcome))
		}
		if _, err := s.db.Record(s.Context(), results, shard); err != nil {
			return err
		}
		_, c, err := s.db.Notice(s.Context(), s.id)
		if err != nil || c.Pending == 0 {
			return err
		}
	}
}
