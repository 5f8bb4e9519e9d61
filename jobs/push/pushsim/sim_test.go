package pushsim_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push/pushsim"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// net/http lingers for half a second over a connection whose body it left.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// client sends calls to a stand-in, over a connection of its own.
type client struct {
	t    *testing.T
	url  string
	http *http.Client
}

func start(t *testing.T, cfg pushsim.Config) (*pushsim.Server, *client) {
	t.Helper()
	s, err := pushsim.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, newClient(t, s.URL())
}

func newClient(t *testing.T, url string) *client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &client{t, url, &http.Client{
		Transport:     tr,
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// reply is an answer, read; status 0 if there was none.
type reply struct {
	status int
	header http.Header
	body   string
}

func (c *client) send(token string, notice int64, key string) reply {
	c.t.Helper()
	return c.post(fmt.Sprintf(`{"notice_id":%d,"token":%q,"title":"t"}`, notice, token), key)
}

func (c *client) post(body, key string) reply {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer right")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	req.GetBody = nil
	return c.do(req)
}

func (c *client) do(req *http.Request) reply {
	c.t.Helper()
	resp, err := c.http.Do(req)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			c.t.Logf("no answer: %v", err)
		}
		return reply{}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(body)}
}

func TestPrefixes(t *testing.T) {
	for _, p := range []struct {
		token     string
		statuses  []int
		delivered int
	}{
		{"good", []int{200, 200}, 2},
		{"unknown-prefix", []int{200}, 1},
		{"expired-1", []int{410, 410}, 0},
		{"down-1", []int{503, 503}, 0},
		{"bad-1", []int{400}, 0},
		{"forbidden-1", []int{403}, 0},
		{"busy-1", []int{429, 200, 200}, 2},
		{"drop-1", []int{0, 200}, 2},
		{"html-1", []int{200}, 0},
		{"error-1", []int{200}, 0},
	} {
		t.Run(p.token, func(t *testing.T) {
			s, c := start(t, pushsim.Config{KeepCalls: true})
			for i, want := range p.statuses {
				got := c.send(p.token, 5, "key")
				if got.status != want {
					t.Errorf("call %d got %d, want %d", i+1, got.status, want)
				}
				if retry := got.header.Get("Retry-After"); (retry == "1") != (want == 429) {
					t.Errorf("call %d has Retry-After %q", i+1, retry)
				}
			}
			if n := s.Delivered(p.token, 5); n != p.delivered {
				t.Errorf("delivered %d, want %d", n, p.delivered)
			}
			for i, call := range s.Calls(p.token, 5) {
				if call.Status != p.statuses[i] || call.Key != "key" || call.At.IsZero() {
					t.Errorf("call %d was kept as %+v", i+1, call)
				}
			}
			if n := len(s.Calls(p.token, 5)); n != len(p.statuses) {
				t.Errorf("%d calls were kept, want %d", n, len(p.statuses))
			}
		})
	}
}

func TestAnswersAsValues(t *testing.T) {
	_, c := start(t, pushsim.Config{})
	if r := c.send("html-1", 1, ""); !strings.HasPrefix(r.body, "<!DOCTYPE html>") {
		t.Errorf("html- answered %q", r.body)
	}
	var failure struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(c.send("error-1", 1, "").body), &failure); err != nil || failure.Error.Code == "" {
		t.Errorf("error- answered %+v, %v", failure, err)
	}
	var first, second struct {
		ID string `json:"message_id"`
	}
	for _, id := range []any{&first, &second} {
		if err := json.Unmarshal([]byte(c.send("good", 1, "").body), id); err != nil {
			t.Fatal(err)
		}
	}
	if first.ID == "" || first.ID == second.ID {
		t.Errorf("message ids %q and %q, want two different ones", first.ID, second.ID)
	}
}

func TestKeys(t *testing.T) {
	s, c := start(t, pushsim.Config{Switches: pushsim.Switches{HonourKeys: true}})
	first := c.send("good", 1, "a")
	if again := c.send("good", 1, "a"); again.status != 200 || again.body != first.body {
		t.Errorf("got %+v, want the first answer %+v", again, first)
	}
	if other := c.send("good", 1, "b"); other.body == first.body {
		t.Error("another key got the same answer")
	}
	if n := s.Delivered("good", 1); n != 2 {
		t.Errorf("delivered %d, want 2", n)
	}
	c.send("drop-1", 1, "d")
	if r := c.send("drop-1", 1, "d"); r.status != 200 || s.Delivered("drop-1", 1) != 1 {
		t.Errorf("got %+v and %d deliveries, want an answer and one", r, s.Delivered("drop-1", 1))
	}
	c.send("busy-1", 1, "e")
	if r := c.send("busy-1", 1, "e"); r.status != 200 {
		t.Errorf("a refusal was remembered: %+v", r)
	}
}

func TestBadCalls(t *testing.T) {
	s, c := start(t, pushsim.Config{})
	bodies := []string{"", "x", "[]", `"token"`, "null", "{}", `{"token":"a"}`, `{"notice_id":1}`, `{"token":"","notice_id":1}`,
		`{"token":"a","notice_id":"1"}`, `{"token":"a","notice_id":1.5}`, `{"token":"a","notice_id":1}x`,
		`{"x":{"token":"a","notice_id":1}}`, `[{"token":"a","notice_id":1}]`, `{"token":1,"notice_id":1}`}
	for _, body := range bodies {
		if r := c.post(body, ""); r.status != 400 {
			t.Errorf("%s got %d, want 400", body, r.status)
		}
	}
	if r := c.post(`{"notice_id":1,"token":"`+strings.Repeat("a", 70<<10)+`"}`, ""); r.status != 413 {
		t.Errorf("a large body got %d, want 413", r.status)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, c.url, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if r := c.do(req); r.status != 405 {
		t.Errorf("PUT got %d, want 405", r.status)
	}
	n := s.Counts()
	if n.Delivered != 0 || n.Calls != int64(len(bodies)+2) || n.ByStatus[400] != int64(len(bodies)) {
		t.Errorf("counted %+v", n)
	}
}

// Both lanes must take a call for the same.
func TestLanes(t *testing.T) {
	s, err := pushsim.New(pushsim.Config{Token: "right"})
	if err != nil {
		t.Fatal(err)
	}
	slow := httptest.NewServer(s)
	defer slow.Close()
	fast, viaFast := start(t, pushsim.Config{Token: "right"})
	viaSlow := newClient(t, slow.URL)
	for _, token := range []string{"good", "토큰\n\"", "expired-1", "busy-1", "busy-1", "drop-1", "html-1"} {
		a, b := viaFast.send(token, -3, "k"), viaSlow.send(token, -3, "k")
		if a.status != b.status || a.body != b.body || a.header.Get("Retry-After") != b.header.Get("Retry-After") ||
			a.header.Get("Content-Type") != b.header.Get("Content-Type") {
			t.Errorf("%s: the fast lane gave %+v, net/http %+v", token, a, b)
		}
	}
	if fast.Counts().Delivered != s.Counts().Delivered || s.Counts().Delivered != 4 {
		t.Errorf("counted %+v and %+v, want 4 delivered", fast.Counts(), s.Counts())
	}
}

// A connection goes from the fast lane to net/http and is served there on.
func TestHandover(t *testing.T) {
	s, c := start(t, pushsim.Config{})
	for range 2 {
		if r := c.send("good", 1, ""); r.status != 200 {
			t.Fatalf("a plain call got %d", r.status)
		}
		body := io.MultiReader(strings.NewReader(`{"notice_id":1,`), strings.NewReader(`"token":"chunked"}`))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, body)
		if err != nil {
			t.Fatal(err)
		}
		if r := c.do(req); r.status != 200 {
			t.Fatalf("a chunked call got %d", r.status)
		}
	}
	if a, b := s.Delivered("good", 1), s.Delivered("chunked", 1); a != 2 || b != 2 {
		t.Errorf("delivered %d and %d, want 2 and 2", a, b)
	}
}

func TestRun(t *testing.T) {
	out, in := io.Pipe()
	ctx, cancel := contextOf(t)
	ended := make(chan error, 1)
	go func() { ended <- pushsim.Run(ctx, pushsim.Config{Addr: "127.0.0.1:0"}, in) }()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url, ok := bytes.CutSuffix(line[:n], []byte("\n"))
	if !ok {
		n, err := out.Read(line[n:])
		if err != nil || n != 1 {
			t.Fatalf("more than a line came: %q, %v", line, err)
		}
	}
	if r := newClient(t, string(url)).send("good", 1, ""); r.status != 200 {
		t.Errorf("a call got %d", r.status)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestStartFails(t *testing.T) {
	s, _ := start(t, pushsim.Config{})
	addr := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/send")
	for name, cfg := range map[string]pushsim.Config{
		"address taken":   {Addr: addr},
		"share above one": {Switches: pushsim.Switches{TransientShare: 1.1}},
		"negative time":   {Switches: pushsim.Switches{Latency: -1}},
	} {
		if other, err := pushsim.Start(cfg); err == nil {
			other.Close()
			t.Errorf("%s: it started", name)
		}
	}
}
