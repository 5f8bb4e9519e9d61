package jobs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"bongsu/db"
	"bongsu/jobs/push"
)

// calls makes the vendor calls of one task: each claim is called at once, its
// result goes to the guard and the exchange, and its slot is free when that is
// committed. group is done when all are.
type calls struct {
	w     *Worker
	class class
	probe bool      // they try whether the vendor is back
	task  *taskSpan // nil: none of them has a span
	group sync.WaitGroup
}

// content is what a notice says, the same for all its devices.
type content struct {
	title, body, link string
	expiresAt         time.Time
	traceparent       *string // the trace that the notice was accepted in
}

func contentOf(n db.Notice) content {
	c := content{title: n.Title, body: n.Body, expiresAt: n.ExpiresAt, traceparent: n.Traceparent}
	if n.Link != nil {
		c.link = *n.Link
	}
	return c
}

// begin calls the vendor for each claim. asked is the time before the claims
// were asked for: by this process's clock their leases end one lease later.
func (c *calls) begin(claims []db.Claim, text content, asked time.Time) {
	last := asked.Add(c.w.cfg.Lease - c.w.cfg.CallTimeout)
	for _, claim := range claims {
		c.group.Add(1)
		go c.one(claim, text, last)
	}
}

// one makes one call, unless last has passed: then the call could outlive the
// lease, and the claim goes back.
func (c *calls) one(claim db.Claim, text content, last time.Time) {
	if !time.Now().Before(last) {
		c.w.release(claim)
		c.w.exchange.free(poolOf(claim.Scope), c.class, 1)
		c.group.Done()
		return
	}
	start := time.Now()
	result := push.ResultOf(c.w.send(message(claim, text)))
	v := verdict{claim: claim, result: result, started: start, took: time.Since(start),
		class: c.class, probe: c.probe, task: c.task, recorded: c.group.Done}
	c.task.called(v)
	c.w.lanes.of(claim.Scope).guard.judge(v)
}

// send makes one call. A call that was begun is brought to its end whatever
// becomes of its task; the vendor's own limit ends it. A panic in a vendor's
// package is an end that nobody knows, and stays with this delivery.
func (w *Worker) send(m push.Message) (r push.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("a vendor call panicked", "notice", m.NoticeID, "device", m.DeviceID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = &push.NoAnswerError{Written: true, Code: "panic", Err: fmt.Errorf("the call panicked: %v", p)}
		}
	}()
	v, ok := w.cfg.Vendors.For(m.Kind)
	if !ok {
		return notConfigured(m.Kind), nil
	}
	return v.Send(context.Background(), m)
}

func addressOf(a db.Address) push.Address {
	return push.Address{Kind: push.Kind(a.Kind), Token: a.Token, Environment: a.Environment, P256dh: a.P256dh, Auth: a.Auth}
}

// codeNotConfigured marks an answer that no vendor gave.
const codeNotConfigured = "not_configured"

// notConfigured is the answer where a vendor's settings are missing: the scope is
// paused, and nobody is charged.
func notConfigured(kind push.Kind) push.Result {
	return push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Code: codeNotConfigured,
		Message: "the settings of " + string(kind) + " are missing in this process"}
}

func message(c db.Claim, text content) push.Message {
	return push.Message{
		NoticeID: c.NoticeID, DeviceID: c.DeviceID, Key: c.VendorKey(), Address: addressOf(c.Address),
		Platform: c.Platform, Title: text.title, Body: text.body, Link: text.link,
		ExpiresAt: text.expiresAt, CollapseID: collapseID(c.NoticeID),
	}
}

// settle says what a vendor's answer means for the ledger. free: a failure is not
// charged, since the vendor is out of order.
func (w *Worker) settle(v verdict, free bool) db.Result {
	r := v.result
	out := db.Result{
		Claim: v.claim, StartedAt: v.started, Took: v.took, Outcome: string(r.Outcome), HTTP: r.Status, Doubt: r.Doubt,
		Disable: r.Outcome == push.Dead, DeadSince: r.DeadSince, Reason: string(r.Reason), Code: r.Code, Message: r.Message, MessageID: r.MessageID,
	}
	if r.Outcome == push.Unfit {
		out.Reason = string(push.ContentRefused)
	}
	exhausted := !free && v.claim.Charged+1 >= w.cfg.scheduleOf(v.claim.Scope).Attempts()
	out.Move = db.Next(out.Outcome, r.Doubt, w.cfg.Hold, exhausted)
	out.Move.Charged = out.Move.Charged && !free
	if out.Move.Status != "pending" {
		return out
	}
	if out.Move.Charged {
		delay, _ := w.cfg.scheduleOf(v.claim.Scope).Delay(v.claim.Charged+1, rand.Float64())
		out.Delay = max(delay, r.RetryAfter)
	} else {
		out.Delay = w.cfg.scheduleOf(v.claim.Scope).Wait(v.claim.Charged, r.RetryAfter, rand.Float64())
	}
	w.exchange.expectRetries(poolOf(v.claim.Scope), time.Now().Add(min(out.Delay, time.Minute)+retryExpected))
	return out
}

// retryExpected is how long after the time that a retry is due its slots are
// kept for it.
const retryExpected = 3 * time.Second
