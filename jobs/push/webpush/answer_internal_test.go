package pushweb

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushtest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The bodies are as the push services write them.
const (
	mozilla404  = `{"code":404,"errno":102,"error":"Not Found","message":"Request did not validate invalid token","more_info":"http://autopush.example/errors"}`
	mozilla410  = `{"code":410,"errno":106,"error":"Gone","message":"No such subscription"}`
	mozilla401  = `{"code":401,"errno":109,"error":"Unauthorized","message":"Request did not validate missing authorization header"}`
	mozillaKey  = `{"code":401,"errno":109,"error":"Unauthorized","message":"VAPID public key mismatch"}`
	mozillaTTL  = `{"code":400,"errno":112,"error":"Bad Request","message":"Invalid TTL header value"}`
	mozillaKeys = `{"code":400,"errno":110,"error":"Bad Request","message":"Invalid crypto headers"}`
	google403   = "<HTML>\n<HEAD><TITLE>Forbidden</TITLE></HEAD><BODY>the VAPID credentials in the authorization header do not correspond to the\n credentials used to create the subscriptions.</BODY></HTML>"
	html503     = "<html><head><title>503 Service\nUnavailable</title></head><body>sorry</body></html>"
)

type answerCase struct {
	name   string
	status int
	header string // lines, each ended by CR LF
	body   string
	want   push.Result // Status is filled in; Message has only to be contained
}

func answers() []answerCase {
	list := []answerCase{
		{"created", 201, "Location: https://push.example/m/m-1\r\n", "", push.Result{Outcome: push.Sent, MessageID: "m-1"}},
		{"apple's number", 201, "apns-id: 5F1D\r\n", "", push.Result{Outcome: push.Sent, MessageID: "5F1D"}},
		{"microsoft's number", 201, "X-WNS-Msg-ID: 77\r\n", "", push.Result{Outcome: push.Sent, MessageID: "77"}},
		{"plain", 200, "", "ok", push.Result{Outcome: push.Sent}},
		{"accepted", 202, "", "{}", push.Result{Outcome: push.Sent}},
		{"no content", 204, "", "", push.Result{Outcome: push.Sent}},
		{"long", 201, "", strings.Repeat("x", 1<<20), push.Result{Outcome: push.Sent}},

		{"mozilla, never heard of", 404, "", mozilla404, push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Code: "102", Message: "invalid token"}},
		{"mozilla, gone", 410, "", mozilla410, push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Code: "106", Message: "No such subscription"}},
		{"apple, gone", 410, "", `{"reason":"Unregistered"}`, push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Code: "Unregistered", Message: "Unregistered"}},
		{"google, gone", 410, "", "push subscription has unsubscribed or expired.\n", push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Message: "unsubscribed or expired."}},
		{"microsoft, gone", 410, "X-WNS-Status: dropped\r\nX-WNS-Error-Description: Channel expired\r\n", "", push.Result{Outcome: push.Dead, Reason: push.TokenExpired, Code: "dropped", Message: "Channel expired"}},

		{"google, another key", 403, "", google403, push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Message: "Forbidden"}},
		{"apple, another key", 403, "", `{"reason":"VapidPkHashMismatch"}`, push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Code: "VapidPkHashMismatch"}},
		{"mozilla, another key", 401, "", mozillaKey, push.Result{Outcome: push.Dead, Reason: push.Rejected, Guarded: true, Code: "109"}},
		{"another key, but not refused for it", 400, "", `{"reason":"VapidPkHashMismatch"}`, push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "VapidPkHashMismatch"}},

		{"mozilla, unauthorized", 401, "", mozilla401, push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Code: "109", Message: "missing authorization"}},
		{"apple, bad token", 403, "", `{"reason":"BadJwtToken"}`, push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Code: "BadJwtToken"}},
		{"forbidden without words", 403, "", "", push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused}},

		{"apple, topic", 400, "", `{"reason":"BadWebPushTopic"}`, push.Result{Outcome: push.Unfit, Reason: push.Rejected, Code: "BadWebPushTopic"}},
		{"apple, TTL", 400, "", `{"reason":"BadTtl"}`, push.Result{Outcome: push.Unfit, Reason: push.Rejected, Code: "BadTtl"}},
		{"mozilla, TTL", 400, "", mozillaTTL, push.Result{Outcome: push.Unfit, Reason: push.Rejected, Code: "112"}},
		{"mozilla, keys", 400, "", mozillaKeys, push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "110"}},
		{"google, bad", 400, "", "UnauthorizedRegistration", push.Result{Outcome: push.Permanent, Reason: push.Rejected, Message: "UnauthorizedRegistration"}},
		{"too large", 413, "", `{"reason":"PayloadTooLarge"}`, push.Result{Outcome: push.Unfit, Reason: push.Rejected, Code: "PayloadTooLarge"}},

		{"too many", 429, "", "", push.Result{Outcome: push.Wait, Reason: push.RateLimited}},
		{"too many, for a while", 429, "Retry-After: 7\r\n", "", push.Result{Outcome: push.Wait, Reason: push.RateLimited, RetryAfter: 7 * time.Second}},
		{"microsoft, too many", 406, "Retry-After: 9\r\nX-WNS-Status: channelthrottled\r\n", "", push.Result{Outcome: push.Wait, Reason: push.RateLimited, Code: "channelthrottled", RetryAfter: 9 * time.Second}},
		{"page of an error", 503, "", html503, push.Result{Outcome: push.Transient, Reason: push.VendorError, Message: "503 Service Unavailable"}},
		{"back at a time", 503, "Retry-After: 120\r\n", html503, push.Result{Outcome: push.Wait, Reason: push.VendorError, RetryAfter: 2 * time.Minute}},
		{"nonsense for a time", 500, "Retry-After: soon\r\n", "", push.Result{Outcome: push.Transient, Reason: push.VendorError}},
		{"later", 408, "Retry-After: 3\r\n", "", push.Result{Outcome: push.Transient, Reason: push.VendorError, RetryAfter: 3 * time.Second}},

		{"moved", 301, "Location: https://else.example/\r\n", "", push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused, Message: "redirected to https://else.example/"}},
		{"an object for an error", 400, "", `{"error":{"code":"E1","message":"잘못된 토큰\u0000입니다"}}`, push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "E1", Message: "잘못된 토큰 입니다"}},
		{"words without end", 400, "", `{"reason":"` + strings.Repeat("코", 100) + `","message":"` + strings.Repeat("말", 1000) + `"}`,
			push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: strings.Repeat("코", 21), Message: strings.Repeat("말", 166)}},
	}
	for _, status := range []int{402, 405, 411, 415, 422, 451, 499} {
		list = append(list, answerCase{"unknown", status, "", `{"reason":"NobodyKnows"}`,
			push.Result{Outcome: push.Permanent, Reason: push.Rejected, Code: "NobodyKnows", Message: "NobodyKnows"}})
	}
	for _, status := range []int{500, 501, 502, 504, 599, 408, 409, 425} {
		list = append(list, answerCase{"transient", status, "", "", push.Result{Outcome: push.Transient, Reason: push.VendorError}})
	}
	for _, status := range []int{300, 302, 303, 307, 308} {
		list = append(list, answerCase{"redirect", status, "", "", push.Result{Outcome: push.Settings, Reason: push.CredentialsRefused}})
	}
	return list
}

func plainVendor(t *testing.T) *Vendor {
	return vendorWith(t, Config{AllowPrivate: true}, options{})
}

func TestAnswers(t *testing.T) {
	v := plainVendor(t)
	for _, c := range answers() {
		t.Run(c.name+" "+http.StatusText(c.status), func(t *testing.T) {
			server := pushtest.Serve(t, pushtest.Always(pushtest.HTTP(c.status, c.header, c.body)))
			r, err := v.Send(t.Context(), message(server.URL))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(r.Message, c.want.Message) || len(r.Message) > 500 {
				t.Errorf("the message is %q, want %q in it", r.Message, c.want.Message)
			}
			c.want.Status, c.want.Message, r.Message = c.status, "", ""
			if r != c.want {
				t.Errorf("got  %+v\nwant %+v", r, c.want)
			}
			if n := len(server.Requests()); n != 1 {
				t.Errorf("%d requests for one call", n)
			}
		})
	}
}

func TestRetryAfterAsADate(t *testing.T) {
	at := time.Now().UTC().Add(2 * time.Minute).Format(http.TimeFormat)
	for status, outcome := range map[int]push.Outcome{429: push.Wait, 503: push.Wait} {
		server := pushtest.Serve(t, pushtest.Always(pushtest.HTTP(status, "Retry-After: "+at+"\r\n", "")))
		r, err := plainVendor(t).Send(t.Context(), message(server.URL))
		if err != nil || r.Outcome != outcome || r.RetryAfter < time.Minute || r.RetryAfter > 2*time.Minute {
			t.Errorf("%d: got %+v and %v", status, r, err)
		}
	}
}

func TestRefusedTokenIsNotUsedAgain(t *testing.T) {
	for status, kept := range map[int]bool{401: false, 403: false, 400: true, 503: true} {
		v := plainVendor(t)
		server := pushtest.Serve(t, pushtest.Always(pushtest.HTTP(status, "", "")))
		for range 2 {
			if _, err := v.Send(t.Context(), message(server.URL)); err != nil {
				t.Fatal(err)
			}
		}
		sent := server.Requests()
		if same := sent[0].Header.Get("Authorization") == sent[1].Header.Get("Authorization"); same != kept {
			t.Errorf("after %d the same token was used again: %v, want %v", status, same, kept)
		}
	}
}

// TestWordsTellNoSecret has a push service that writes all it was sent into its answer.
func TestWordsTellNoSecret(t *testing.T) {
	v := plainVendor(t)
	var said string
	server := pushtest.Serve(t, func(c *pushtest.Conn) {
		r, ok := c.Request()
		if ok {
			said = "no: " + r.Header.Get("Authorization") + " " + rfcUaPublic + " " + rfcAuth + " for subscription-1"
			c.Say(pushtest.HTTP(400, "", `{"reason":"subscription-1","message":"`+said+`"}`))
		}
	})
	endpoint := server.URL + "/subscription-1"
	r, err := v.Send(t.Context(), message(endpoint))
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := strings.Cut(strings.TrimPrefix(said, "no: vapid t="), ",")
	for _, secret := range []string{token, v.PublicKey(), rfcUaPublic, rfcAuth, "subscription-1", endpoint} {
		if len(secret) < 8 || strings.Contains(r.Code+r.Message, secret) {
			t.Errorf("%q is told in %q and %q", secret, r.Code, r.Message)
		}
	}
	if !strings.HasPrefix(r.Message, "no: vapid") {
		t.Errorf("the words went with the secrets: %q", r.Message)
	}
}
