package pushfcm_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	pushfcm "bongsu/jobs/push/fcm"
)

// untouched is a host of FCM that no call should reach.
func untouched(t *testing.T) string {
	return h2c(t, func(http.ResponseWriter, *http.Request) { t.Error("a call left without an access token") })
}

// TestTokenEndpoint has what the token endpoint can answer.
func TestTokenEndpoint(t *testing.T) {
	settings := func(code string) push.Result {
		return push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Code: code}
	}
	wait := func(reason push.Reason, code string, retry time.Duration) push.Result {
		return push.Result{Outcome: push.Wait, Reason: reason, Code: code, RetryAfter: retry}
	}
	for _, c := range []struct {
		name         string
		status       int
		retry, body  string
		want         push.Result
		words        string
		statusIsNone bool
	}{
		{name: "invalid_grant", status: 400, body: `{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`,
			want: settings("invalid_grant"), words: "Invalid JWT Signature."},
		{name: "invalid_client", status: 401, body: `{"error":"invalid_client","error_description":"The OAuth client was not found."}`,
			want: settings("invalid_client"), words: "The OAuth client was not found."},
		{name: "invalid_scope", status: 400, body: `{"error":"invalid_scope"}`, want: settings("invalid_scope")},
		{name: "not found", status: 404, body: "<html><title>Error 404</title></html>", want: settings("token_http_404"), words: "Error 404"},
		{name: "redirect", status: 302, body: "", want: settings("token_http_302")},
		{name: "down", status: 503, body: "<html><title>Error 503</title></html>", want: wait(push.VendorError, "token_http_503", 0), words: "Error 503"},
		{name: "down for a time", status: 503, retry: "30", body: `{"error":"backend_error"}`, want: wait(push.VendorError, "backend_error", 30*time.Second)},
		{name: "broken", status: 500, body: `{"error":"internal_failure"}`, want: wait(push.VendorError, "internal_failure", 0)},
		{name: "too often", status: 429, retry: "20", body: `{"error":"rate_limit_exceeded"}`, want: wait(push.RateLimited, "rate_limit_exceeded", 20*time.Second)},
		{name: "page", status: 200, body: "<html>", want: wait(push.Timeout, "token_unreadable", 0), statusIsNone: true},
		{name: "no token", status: 200, body: `{}`, want: wait(push.Timeout, "token_unreadable", 0), statusIsNone: true},
		{name: "two lines", status: 200, body: `{"access_token":"a\r\nb","expires_in":3600}`, want: wait(push.Timeout, "token_unreadable", 0), statusIsNone: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokens := serveTokens(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.retry != "" {
					w.Header().Set("Retry-After", c.retry)
				}
				if c.status == 302 {
					w.Header().Set("Location", "https://other.example/")
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			v := newVendor(t, pushfcm.Config{Key: keyFor(t, tokens.url), URL: untouched(t), Timeout: 30 * time.Second})
			for range 3 {
				r, err := v.Send(t.Context(), message("token"))
				if err != nil || !strings.Contains(r.Message, c.words) || r.RetryAfter > c.want.RetryAfter || r.RetryAfter < c.want.RetryAfter-5*time.Second {
					t.Errorf("got %+v and %v", r, err)
				}
				want := c.want
				want.Message, want.RetryAfter = r.Message, r.RetryAfter
				if !c.statusIsNone {
					want.Status = c.status
				}
				if r != want {
					t.Errorf("got  %+v\nwant %+v", r, want)
				}
			}
			if n := tokens.asked.Load(); n != 1 {
				t.Errorf("it was asked %d times for three calls", n)
			}
		})
	}
}

func TestTokenEndpointIsGone(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, server.URL+"/token"), URL: untouched(t)})
	r, err := v.Send(t.Context(), message("token"))
	if err != nil || r.Outcome != push.Wait || r.Reason != push.Unreachable || r.Code != "token_refused" || r.Status != 0 || r.Doubt {
		t.Errorf("got %+v and %v, want to wait", r, err)
	}
}

func TestTokenEndpointHangs(t *testing.T) {
	gone := make(chan struct{})
	tokens := serveTokens(t, func(http.ResponseWriter, *http.Request) { <-gone })
	t.Cleanup(func() { close(gone) })
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, tokens.url), URL: untouched(t), Timeout: 50 * time.Millisecond})
	r, err := v.Send(t.Context(), message("token"))
	if err != nil || r.Outcome != push.Wait || r.Reason != push.Timeout || r.Code != "token_timeout" || r.Doubt {
		t.Errorf("got %+v and %v, want to wait", r, err)
	}
}

// TestAssertionIsNotTold: the token endpoint may repeat what it was sent.
func TestAssertionIsNotTold(t *testing.T) {
	assertion := make(chan string, 1)
	tokens := serveTokens(t, func(w http.ResponseWriter, r *http.Request) {
		said := r.FormValue("assertion")
		assertion <- said
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"error":"invalid_request","error_description":"what is `+said+`?"}`)
	})
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, tokens.url), URL: untouched(t), Timeout: 30 * time.Second})
	r, err := v.Send(t.Context(), message("token"))
	said := <-assertion
	if err != nil || strings.Contains(r.Message, said[:40]) || !strings.Contains(r.Message, "what is [token]?") {
		t.Errorf("got %+v and %v", r, err)
	}
}

// TestRefusedToken: a 401 brings one fresh token and one more request.
func TestRefusedToken(t *testing.T) {
	for name, c := range map[string]struct {
		good     string // the token that FCM takes; the endpoint gives t1, t2, …
		body     string
		requests int
		want     push.Result
	}{
		"the second is good": {good: "t2", requests: 2, body: failure(401, "UNAUTHENTICATED", "no"),
			want: push.Result{Outcome: push.Sent, Status: 200, MessageID: "m"}},
		"none is": {requests: 2, body: failure(401, "UNAUTHENTICATED", "no"),
			want: push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Status: 401, Code: "UNAUTHENTICATED", Message: "no"}},
		"of Apple": {requests: 1, body: failure(401, "UNAUTHENTICATED", "no", fcmError("THIRD_PARTY_AUTH_ERROR")),
			want: push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Status: 401, Code: "THIRD_PARTY_AUTH_ERROR", Message: "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			given := 0
			tokens := serveTokens(t, func(w http.ResponseWriter, _ *http.Request) {
				given++
				_, _ = io.WriteString(w, `{"access_token":"t`+string(rune('0'+given))+`","expires_in":3600}`)
			})
			requests := 0
			url := h2c(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				if r.Header.Get("Authorization") == "Bearer "+c.good {
					_, _ = io.WriteString(w, `{"name":"projects/p/messages/m"}`)
					return
				}
				w.WriteHeader(401)
				_, _ = io.WriteString(w, c.body)
			})
			v := newVendor(t, pushfcm.Config{Key: keyFor(t, tokens.url), URL: url, Timeout: 30 * time.Second})
			r, err := v.Send(t.Context(), message("token"))
			if err != nil || r != c.want || requests != c.requests || given != c.requests {
				t.Errorf("got %+v and %v after %d requests with %d tokens", r, err, requests, given)
			}
			before := given
			if r, err = v.Send(t.Context(), message("token")); err != nil || r != c.want {
				t.Errorf("again got %+v and %v", r, err)
			}
			if requests != c.requests+1 || given != before {
				t.Errorf("the next took %d requests in all and %d tokens", requests, given)
			}
		})
	}
}

// TestRefusedTokenWithoutAnother: what the token endpoint says then is what counts.
func TestRefusedTokenWithoutAnother(t *testing.T) {
	given := 0
	tokens := serveTokens(t, func(w http.ResponseWriter, _ *http.Request) {
		if given++; given > 1 {
			w.WriteHeader(503)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"t1","expires_in":3600}`)
	})
	url := h2c(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
	v := newVendor(t, pushfcm.Config{Key: keyFor(t, tokens.url), URL: url, Timeout: 30 * time.Second})
	r, err := v.Send(t.Context(), message("token"))
	if err != nil || r.Outcome != push.Wait || r.Status != 503 || given != 2 {
		t.Errorf("got %+v and %v after %d exchanges, want to wait", r, err, given)
	}
	var none *push.NoAnswerError
	if errors.As(err, &none) {
		t.Error("a definite refusal came as none")
	}
}
