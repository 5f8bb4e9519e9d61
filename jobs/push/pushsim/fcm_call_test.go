package pushsim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push/pushsim"
)

// sendFCM posts a body to a project with an access token; both may be wrong.
func (c *client) sendFCM(project, token, body string) reply {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost,
		strings.TrimSuffix(c.url, "/send")+"/v1/projects/"+project+"/messages:send", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.GetBody = nil
	return c.do(req)
}

// toToken is a message of notice 5.
func toToken(token string) string {
	return `{"message":{"token":` + quoted(token) + `,"notification":{"title":"t","body":"b"},"data":{"notice_id":"5"}}}`
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// TestFCMChecks has what FCM refuses, and in which order.
func TestFCMChecks(t *testing.T) {
	_, c, a := startFCM(t, pushsim.Config{})
	access := c.access(a)
	if r := c.sendFCM("p1", "", "nonsense"); r.status != 401 || !strings.Contains(r.body, "missing required") {
		t.Errorf("without a token got %+v", r)
	}
	if r := c.sendFCM("p1", "ya29.wrong", "nonsense"); r.status != 401 || !strings.Contains(r.body, "UNAUTHENTICATED") {
		t.Errorf("with a wrong token got %+v", r)
	}
	if r := c.sendFCM("p2", access, "nonsense"); r.status != 403 || !strings.Contains(r.body, "PERMISSION_DENIED") {
		t.Errorf("at another's project got %+v", r)
	}
	message := func(members string) string { return `{"message":{"token":"t1",` + members + `}}` }
	for _, k := range []struct {
		name, body, field string // field: of the violation; "ok" is none
	}{
		{"good", toToken("t1"), "ok"},
		{"good in all that a sender may say", message(`"notification":{"title":"t","body":"b","image":"i"},"data":{"a":"b"},` +
			`"android":{"ttl":"3.5s","priority":"high","notification":{"tag":"7"}},"apns":{"headers":{"apns-expiration":"0"},"payload":{"aps":{"x":1}}},` +
			`"webpush":{"headers":{"TTL":"9"},"notification":{"tag":"7","x":1},"fcm_options":{"link":"https://x"}}`), "ok"},
		{"exactly as big as may be", message(`"data":{"k":"` + strings.Repeat("x", 4095) + `"}`), "ok"},
		{"for four weeks", message(`"android":{"ttl":"2419200s"}`), "ok"},
		{"nonsense", "nonsense", ""},
		{"list", "[]", ""},
		{"null", "null", ""},
		{"unknown name", `{"message":{"token":"t"},"x":1}`, ""},
		{"unknown name in the message", message(`"x":1`), "message"},
		{"unknown name for Android", message(`"android":{"notification":{"x":1}}`), "message.android.notification"},
		{"notification that is text", message(`"notification":"t"`), "message.notification"},
		{"no target", `{"message":{}}`, "message"},
		{"empty target", `{"message":{"token":""}}`, "message"},
		{"two targets", `{"message":{"token":"a","fid":"b"}}`, "message"},
		{"target that is a number", `{"message":{"token":5}}`, "message.token"},
		{"data that is a number", message(`"data":{"a":"x","b":12}`), "message.data[1].value"},
		{"header that is a number", message(`"apns":{"headers":{"apns-expiration":0}}`), "message.apns.headers[0].value"},
		{"data of FCM's own", message(`"data":{"google.x":"1"}`), "message.data"},
		{"data from", message(`"data":{"from":"1"}`), "message.data"},
		{"too big", message(`"notification":{"title":"t"},"data":{"k":"` + strings.Repeat("x", 4090) + `"}`), "message.data"},
		{"negative ttl", message(`"android":{"ttl":"-1s"}`), "message.android.ttl"},
		{"ttl without a unit", message(`"android":{"ttl":"30"}`), "message.android.ttl"},
		{"ttl over four weeks", message(`"android":{"ttl":"2419201s"}`), "message.android.ttl"},
		{"two faults: the first counts", `{"message":{"token":"a","x":1,"android":{"ttl":"-1s"}}}`, "message"},
	} {
		r := c.sendFCM("p1", access, k.body)
		if k.field == "ok" {
			if r.status != 200 || !strings.Contains(r.body, `{"name":"projects/p1/messages/sim-`) {
				t.Errorf("%s: got %+v", k.name, r)
			}
			continue
		}
		var said struct {
			Error struct {
				Status  string
				Details []struct{ FieldViolations []struct{ Field string } }
			}
		}
		if err := json.Unmarshal([]byte(r.body), &said); err != nil || r.status != 400 || said.Error.Status != "INVALID_ARGUMENT" {
			t.Errorf("%s: got %+v", k.name, r)
			continue
		}
		last := said.Error.Details[len(said.Error.Details)-1]
		if len(last.FieldViolations) != 1 || last.FieldViolations[0].Field != k.field {
			t.Errorf("%s: got %s, want the field %q", k.name, r.body, k.field)
		}
	}
}

func TestFCMPrefixes(t *testing.T) {
	s, c, a := startFCM(t, pushsim.Config{KeepCalls: true})
	access := c.access(a)
	for _, p := range []struct {
		token     string
		statuses  []int
		delivered int
		says      string
	}{
		{"good", []int{200, 200}, 2, "projects/p1/messages/sim-"},
		{"expired-1", []int{404}, 0, `"errorCode":"UNREGISTERED"`},
		{"down-1", []int{503}, 0, `"errorCode":"UNAVAILABLE"`},
		{"bad-1", []int{400}, 0, "not a valid FCM registration token"},
		{"a b", []int{400}, 0, "not a valid FCM registration token"},
		{"forbidden-1", []int{403}, 0, `"errorCode":"SENDER_ID_MISMATCH"`},
		{"thirdparty-1", []int{401}, 0, `"errorCode":"THIRD_PARTY_AUTH_ERROR"`},
		{"invalid-1", []int{400}, 0, `"field":"message.notification.title"`},
		{"internal-1", []int{500}, 0, "INTERNAL"},
		{"busy-1", []int{429, 200, 200}, 2, ""},
		{"quota-1", []int{429, 429}, 0, `"errorCode":"QUOTA_EXCEEDED"`},
		{"page-1", []int{503}, 0, "<title>Error 503"},
		{"html-1", []int{200}, 0, "<html>"},
		{"error-1", []int{200}, 0, `{"error":`},
		{"drop-1", []int{0, 200}, 2, ""},
		{"goaway-1", []int{200}, 1, ""},
	} {
		t.Run(p.token, func(t *testing.T) {
			s.Reset()
			for _, want := range p.statuses {
				if r := c.sendFCM("p1", access, toToken(p.token)); r.status != want || !strings.Contains(r.body, p.says) {
					t.Errorf("got %+v, want %d with %q", r, want, p.says)
				}
			}
			calls := s.Calls(p.token, 5)
			if len(calls) != len(p.statuses) || s.Delivered(p.token, 5) != p.delivered {
				t.Errorf("kept %+v and delivered %d", calls, s.Delivered(p.token, 5))
			}
		})
	}
}

func TestFCMMend(t *testing.T) {
	s, c, a := startFCM(t, pushsim.Config{})
	access := c.access(a)
	if err := s.Mend("quota-"); err != nil {
		t.Fatal(err)
	}
	if r := c.sendFCM("p1", access, toToken("quota-1")); r.status != 200 {
		t.Errorf("a mended token got %+v", r)
	}
	if r := c.send("quotadate-1", 5, ""); r.status != 200 || !strings.Contains(r.body, "message_id") {
		t.Errorf("the HTTP vendor knows FCM's prefix: %+v", r)
	}
}

// TestFCMSwitches has what is switched on for everybody.
func TestFCMSwitches(t *testing.T) {
	s, c, a := startFCM(t, pushsim.Config{})
	access := c.access(a)
	for _, k := range []struct {
		name   string
		set    func(*pushsim.Switches)
		status int
		says   string
		retry  func(string) bool
	}{
		{"outage", func(s *pushsim.Switches) { s.Outage = true }, 503, "UNAVAILABLE", nil},
		{"page", func(s *pushsim.Switches) { s.FCM.Page = true }, 503, "<title>Error 503", nil},
		{"redirect", func(s *pushsim.Switches) { s.Redirect = "http://other.example/" }, 302, "", nil},
		{"refuse", func(s *pushsim.Switches) { s.Refuse = true }, 401, "UNAUTHENTICATED", nil},
		{"forbid", func(s *pushsim.Switches) { s.Forbid = true }, 403, "PERMISSION_DENIED", nil},
		{"limit", func(s *pushsim.Switches) { s.RateLimit = 3 * time.Second }, 429, "QUOTA_EXCEEDED", func(v string) bool { return v == "3" }},
		{"limit by a date", func(s *pushsim.Switches) { s.RateLimit, s.FCM.RetryAfter = time.Minute, "date" }, 429, "QUOTA_EXCEEDED", func(v string) bool {
			at, err := http.ParseTime(v)
			return err == nil && time.Until(at) > 50*time.Second && time.Until(at) <= time.Minute
		}},
		{"limit without a time", func(s *pushsim.Switches) { s.RateLimit, s.FCM.RetryAfter = time.Minute, "none" }, 429, "QUOTA_EXCEEDED", func(v string) bool { return v == "" }},
		{"all may fail", func(s *pushsim.Switches) { s.TransientShare = 1 }, 503, "UNAVAILABLE", nil},
		{"nothing", func(*pushsim.Switches) {}, 200, "projects/p1", nil},
	} {
		if err := s.Update(func(sw *pushsim.Switches) { *sw = pushsim.Switches{}; k.set(sw) }); err != nil {
			t.Fatal(err)
		}
		r := c.sendFCM("p1", access, toToken("t1"))
		if r.status != k.status || !strings.Contains(r.body, k.says) || k.retry != nil && !k.retry(r.header.Get("Retry-After")) {
			t.Errorf("%s: got %+v", k.name, r)
		}
	}
	s.ForgetFCMTokens()
	if r := c.sendFCM("p1", access, toToken("t1")); r.status != 401 {
		t.Errorf("a forgotten token got %+v", r)
	}
	if r := c.sendFCM("p1", c.access(a), toToken("t1")); r.status != 200 {
		t.Errorf("a new token got %+v", r)
	}
}

func TestFCMTokenEnds(t *testing.T) {
	_, c, a := startFCM(t, pushsim.Config{Switches: pushsim.Switches{FCM: pushsim.FCMSwitches{TokenLife: time.Second}}})
	access := c.access(a)
	deadline := time.Now().Add(10 * time.Second)
	for c.sendFCM("p1", access, toToken("t1")).status != 401 {
		if time.Now().After(deadline) {
			t.Fatal("an access token of one second is good for ten")
		}
	}
}

func TestFCMValidateOnly(t *testing.T) {
	s, c, a := startFCM(t, pushsim.Config{})
	access := c.access(a)
	for body, want := range map[string]int{
		`{"validate_only":true,"message":{"token":"drop-1"}}`:    200,
		`{"validate_only":true,"message":{"topic":"check"}}`:     200,
		`{"validate_only":true,"message":{"token":"expired-1"}}`: 404,
		`{"validate_only":true,"message":{}}`:                    400,
	} {
		r := c.sendFCM("p1", access, body)
		if r.status != want || want == 200 && r.body != `{"name":"projects/p1/messages/fake_message_id"}` {
			t.Errorf("%s: got %+v", body, r)
		}
	}
	if n := s.Counts(); n.Delivered != 0 || n.Calls != 4 {
		t.Errorf("counted %+v", n)
	}
}

// TestFCMByHTTP2 is one connection for both vendors and the control.
func TestFCMByHTTP2(t *testing.T) {
	s, c, a := startFCM(t, pushsim.Config{})
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(tr.CloseIdleConnections)
	c.http.Transport = tr
	if r := c.sendFCM("p1", c.access(a), toToken("t1")); r.status != 200 {
		t.Errorf("got %+v", r)
	}
	if r := c.send("t2", 5, ""); r.status != 200 {
		t.Errorf("the HTTP vendor got %+v", r)
	}
	var n pushsim.Counts
	c.control("counts", "", &n)
	if n.Connections != 1 || n.Calls != 2 || s.Delivered("t1", 5) != 1 || s.Delivered("t2", 5) != 1 {
		t.Errorf("counted %+v", n)
	}
}

// TestFCMKeyByControl is how a test in another process gets a key.
func TestFCMKeyByControl(t *testing.T) {
	s, c := start(t, pushsim.Config{})
	post := func(path string, form url.Values) (int, []byte) {
		resp, err := c.http.PostForm(s.FCMURL()+path, form)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, body
	}
	status, key := post("/_control/fcm/key", url.Values{"project": {"p1"}})
	if status != 200 {
		t.Fatalf("got %d %s", status, key)
	}
	a := readAccount(t, key)
	access := c.access(a)
	if r := c.sendFCM("p1", access, toToken("t1")); r.status != 200 {
		t.Errorf("got %+v", r)
	}
	if status, _ := post("/_control/fcm/forget", nil); status != 200 || c.sendFCM("p1", access, toToken("t1")).status != 401 {
		t.Error("a forgotten token is good")
	}
	if status, _ := post("/_control/fcm/revoke", nil); status != 200 {
		t.Errorf("got %d", status)
	}
	if r := c.grant(jwtGrant, a.assertion(t, a.head(), a.claims())); r.status != 400 {
		t.Errorf("a revoked key got %+v", r)
	}
	if status, _ := post("/_control/fcm/key", url.Values{"project": {"a b"}}); status != 400 {
		t.Errorf("a project with a space got %d", status)
	}
}

func TestFCMElsewhere(t *testing.T) {
	_, c, a := startFCM(t, pushsim.Config{})
	if r := c.sendFCM("p1", c.access(a), toToken("t1")+strings.Repeat(" ", 70<<10)); r.status != 413 {
		t.Errorf("a body over the cap got %+v", r)
	}
	for _, path := range []string{"/v1/projects/p1/messages", "/v1/projects/p1"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(c.url, "/send")+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if r := c.do(req); r.status != 404 {
			t.Errorf("%s got %+v", path, r)
		}
	}
}
