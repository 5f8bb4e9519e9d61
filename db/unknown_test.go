package db

import (
	"errors"
	"sync/atomic"
	"testing"
)

// held gives a notice of which n deliveries are unknown, finished.
func held(t *testing.T, n int) *scene {
	t.Helper()
	s := newScene(t, n)
	c := s.claim(n)
	for i := range c[:n/2] { // half of them by a call in doubt, half by a dead holder
		r := resultOf(c[i], OutcomeTransient)
		r.Move = Next(OutcomeTransient, true, true, false)
		r.HTTP, r.Reason, r.Doubt = 0, "timeout", true
		s.write(r)
	}
	s.leasesEnd()
	s.free(true)
	s.want("held", Counts{Unknown: int64(n)})
	s.finish()
	return s
}

func (s *scene) resolve(action string, devices []int64) int64 {
	s.Helper()
	return must(s.db.ResolveUnknown(s.Context(), s.id, action, devices, someone))(s)
}

func (s *scene) state() string {
	s.Helper()
	n, _, err := s.db.Notice(s.Context(), s.id)
	ok(s, err)
	return n.State
}

func TestUnknownIsMarkedSent(t *testing.T) {
	s := held(t, 10)
	if n := s.resolve(MarkSent, []int64{1, 2, 9, 777}); n != 3 {
		t.Fatalf("%d marked, want 3", n)
	}
	s.want("three marked", Counts{Unknown: 7, Sent: 3})
	if n := s.resolve(MarkSent, []int64{1, 2, 9}); n != 0 {
		t.Fatalf("%d marked again", n)
	}
	if n := s.resolve(MarkSent, nil); n != 7 {
		t.Fatalf("%d marked, want the other 7", n)
	}
	s.want("all marked", Counts{Sent: 10})
	if s.state() != Finished {
		t.Fatalf("the notice is %s", s.state())
	}
	if n := ask[int](t, s.db, `SELECT count(*) FROM audit WHERE act = 'notice.unknown.mark_sent'`); n != 2 {
		t.Fatalf("%d audit rows, want one for each act that moved something", n)
	}
	if p := must(s.db.Progress(t.Context(), s.id))(t); len(p.Reasons) != 0 {
		t.Fatalf("reasons: %+v", p.Reasons)
	}
}

func TestUnknownIsResentUnderTheOldKey(t *testing.T) {
	s := held(t, 10)
	if n := s.resolve(Resend, []int64{1, 10}); n != 2 {
		t.Fatalf("%d resent, want 2", n)
	}
	s.want("two resent", Counts{Unknown: 8, Pending: 1, Retrying: 1})
	if s.state() != Sending {
		t.Fatalf("the notice is %s", s.state())
	}
	c := s.due(10)
	if len(c) != 2 || c[0].KeyNo != 1 || c[1].KeyNo != 1 || c[0].Generation != 1 {
		t.Fatalf("claimed: %+v", c)
	}
	s.record(OutcomeSent, c...)
	if got := s.counts(); got.Twice != 2 {
		t.Fatalf("%d possibly told twice, want 2", got.Twice)
	}
	s.want("sent", Counts{Unknown: 8, Sent: 2})
	s.finish()
}

func TestUnknownIsResolvedOnceWhoeverPresses(t *testing.T) {
	for _, action := range []string{Resend, MarkSent} {
		s := held(t, 40)
		var moved atomic.Int64
		together(8, func(i int) {
			a := action
			if i == 7 { // one presses the other button
				a = map[string]string{Resend: MarkSent, MarkSent: Resend}[action]
			}
			n, err := s.db.ResolveUnknown(t.Context(), s.id, a, nil, someone)
			if err != nil {
				t.Error(err)
			}
			moved.Add(n)
		})
		if moved.Load() != 40 {
			t.Fatalf("%d moved, want 40", moved.Load())
		}
		if c := s.counts(); c.Unknown != 0 || c.Sent+c.Open() != 40 || c.Sent != 0 && c.Sent != 40 {
			t.Fatalf("counts: %+v", c)
		}
		if n := ask[int](t, s.db, `SELECT count(*) FROM audit WHERE act LIKE 'notice.unknown.%'`); n != 1 {
			t.Fatalf("%d audit rows", n)
		}
	}
}

func TestUnknownIsRefusedWhereItMakesNoSense(t *testing.T) {
	s := newScene(t, 2)
	s.claim(2)
	s.leasesEnd()
	s.free(true)
	_, _, err := s.db.CancelNotice(t.Context(), s.id, someone)
	ok(t, err)
	_, err = s.db.ResolveUnknown(t.Context(), s.id, Resend, nil, someone)
	wantConflict(t, err, "wrong_state", s.id)
	s.want("refused", Counts{Unknown: 2})
	var invalid *InvalidError
	if _, err := s.db.ResolveUnknown(t.Context(), s.id, "forget", nil, someone); !errors.As(err, &invalid) {
		t.Fatalf("another action: %v", err)
	}
	if _, err := s.db.ResolveUnknown(t.Context(), 999, MarkSent, nil, someone); !errors.Is(err, ErrNotFound) {
		t.Fatalf("another notice: %v", err)
	}
	if n := s.resolve(MarkSent, nil); n != 2 {
		t.Fatalf("%d marked", n)
	}
	s.want("marked although cancelled", Counts{Sent: 2})
}
