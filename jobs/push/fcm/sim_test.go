package pushfcm_test

import (
	"errors"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim"
)

// TestSim has what the stand-in can do to a message, seen through the vendor.
func TestSim(t *testing.T) {
	sim, v := newSim(t, pushsim.Config{})
	for _, c := range []struct {
		token string
		want  push.Result
	}{
		{"good", push.Result{Outcome: push.Sent, Status: 200}},
		{"fid:good", push.Result{Outcome: push.Sent, Status: 200}},
		{"goaway-1", push.Result{Outcome: push.Sent, Status: 200}},
		{"expired-1", push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Status: 404, Code: "UNREGISTERED"}},
		{"fid:expired-1", push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Status: 404, Code: "UNREGISTERED"}},
		{"bad-1", push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Status: 400, Code: "INVALID_ARGUMENT"}},
		{"two words", push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Status: 400, Code: "INVALID_ARGUMENT"}},
		{"forbidden-1", push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Status: 403, Code: "SENDER_ID_MISMATCH"}},
		{"thirdparty-1", push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Status: 401, Code: "THIRD_PARTY_AUTH_ERROR"}},
		{"invalid-1", push.Result{Outcome: push.Unfit, Reason: push.Rejected, Status: 400, Code: "INVALID_ARGUMENT"}},
		{"internal-1", push.Result{Outcome: push.Transient, Reason: push.VendorError, Status: 500, Code: "INTERNAL"}},
		{"down-1", push.Result{Outcome: push.Transient, Reason: push.VendorError, Doubt: true, Status: 503, Code: "UNAVAILABLE"}},
		{"page-1", push.Result{Outcome: push.Transient, Reason: push.VendorError, Doubt: true, Status: 503}},
		{"quota-1", push.Result{Outcome: push.Wait, Reason: push.RateLimited, Status: 429, Code: "QUOTA_EXCEEDED", RetryAfter: time.Second}},
		{"quotaopen-1", push.Result{Outcome: push.Wait, Reason: push.RateLimited, Status: 429, Code: "QUOTA_EXCEEDED", RetryAfter: time.Minute}},
		{"busy-1", push.Result{Outcome: push.Wait, Reason: push.RateLimited, Status: 429, Code: "QUOTA_EXCEEDED", RetryAfter: time.Second}},
		{"busy-1", push.Result{Outcome: push.Sent, Status: 200}},
		{"error-1", push.Result{Outcome: push.Permanent, Reason: push.Rejected, Status: 200, Code: "InvalidRegistration"}},
	} {
		r, err := v.Send(t.Context(), message(c.token))
		if err != nil || (r.MessageID != "") != (r.Outcome == push.Sent) {
			t.Errorf("%s: got %+v and %v", c.token, r, err)
		}
		r.Message, r.MessageID = "", ""
		if r != c.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.token, r, c.want)
		}
	}
	if r, err := v.Send(t.Context(), message("quotadate-1")); err != nil || r.RetryAfter < time.Minute || r.RetryAfter > 2*time.Minute {
		t.Errorf("a date gave %+v and %v, want up to two minutes", r, err)
	}
	if n := sim.Counts().Tokens; n != 1 {
		t.Errorf("%d access tokens were fetched", n)
	}
	if sim.Delivered("fid:good", 7) != 1 || sim.Delivered("good", 7) != 1 {
		t.Errorf("counted %+v", sim.Counts())
	}
}

func TestSimTakesAndCuts(t *testing.T) {
	sim, v := newSim(t, pushsim.Config{})
	r, err := v.Send(t.Context(), message("drop-1"))
	var na *push.NoAnswerError
	if !errors.As(err, &na) || !na.Written || na.Timeout || na.Code != "reset" {
		t.Errorf("got %+v and %#v, want a reset after it was written", r, err)
	}
	if sim.Delivered("drop-1", 7) != 1 {
		t.Errorf("counted %+v", sim.Counts())
	}
	r, err = v.Send(t.Context(), message("html-1"))
	if !errors.As(err, &na) || na.Code != "not_json" || !na.Written {
		t.Errorf("a page got %+v and %v", r, err)
	}
}

func TestTest(t *testing.T) {
	sim, v := newSim(t, pushsim.Config{})
	r, err := v.Test(t.Context())
	if err != nil || r.Outcome != push.Sent {
		t.Errorf("got %+v and %v, want sent", r, err)
	}
	if c := sim.Counts(); c.Calls != 1 || c.Delivered != 0 {
		t.Errorf("counted %+v, want one call and nothing delivered", c)
	}
	sim.RevokeFCMKeys()
	if r, err = v.Test(t.Context()); err != nil || r.Outcome != push.Settings || r.Code != "invalid_grant" {
		t.Errorf("with a revoked key got %+v and %v, want settings", r, err)
	}
}
