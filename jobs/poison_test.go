package jobs

import (
	"context"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim"
)

// oddVendor answers some tokens as no vendor should.
type oddVendor struct{ push.Vendor }

func (v oddVendor) Send(ctx context.Context, m push.Message) (push.Result, error) {
	switch {
	case strings.HasPrefix(m.Token, "panic-"):
		panic("boom")
	case strings.HasPrefix(m.Token, "nul-"):
		return push.Result{Outcome: push.Permanent, Reason: push.Rejected, Status: 400, Message: "words with \x00 in it"}, nil
	case strings.HasPrefix(m.Token, "foreign-"):
		return push.Result{Outcome: push.Permanent, Reason: "no_such_reason", Status: 400}, nil
	}
	return v.Vendor.Send(ctx, m)
}

// A call that panics, and a result that the ledger refuses, stay with their own
// delivery: the worker lives and all others are told.
func TestPoisonStaysAlone(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(300, func(i int) string {
		switch i {
		case 50:
			return "panic-1"
		case 100:
			return "nul-1"
		}
		return good(i)
	})
	h.process(func(c *Config) {
		c.Schedule = push.Schedule{100 * time.Millisecond}
		c.Vendors = FixedTo(oddVendor{h.vendor(c.CallTimeout)})
	})
	n := h.accept("poison")
	_, c := h.finished(n.ID, time.Minute)
	if c.Sent != 298 || c.Failed != 2 {
		t.Fatalf("counts: %+v", c)
	}
	if got := one[string](h, `SELECT reason FROM delivery WHERE status = 'failed' AND attempts = 1`); got != "rejected" {
		t.Errorf("the refused words ended as %s", got)
	}
	if got := one[string](h, `SELECT reason || ' ' || code FROM delivery WHERE status = 'failed' AND attempts = 2`); got != "unreachable panic" {
		t.Errorf("the panic ended as %s", got)
	}
}

// A result that the ledger never takes is given up; its lease frees it.
func TestResultThatIsNeverTakenHoldsNobodyUp(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(300, func(i int) string {
		if i == 50 {
			return "foreign-1"
		}
		return good(i)
	})
	h.process(func(c *Config) {
		c.Lease = 1 * time.Second
		c.CallTimeout = 500 * time.Millisecond
		c.Vendors = FixedTo(oddVendor{h.vendor(c.CallTimeout)})
	})
	n := h.accept("foreign")
	_, c := h.finished(n.ID, time.Minute)
	if c.Sent != 299 || c.Failed != 1 {
		t.Fatalf("counts: %+v", c)
	}
	if got := one[string](h, `SELECT reason FROM delivery WHERE status = 'failed'`); got != "outcome_unknown" {
		t.Errorf("ended as %s", got)
	}
}
