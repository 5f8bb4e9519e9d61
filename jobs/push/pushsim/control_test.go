package pushsim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"bongsu/jobs/push/pushsim"
)

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

// control makes a control request; an empty body is a GET.
func (c *client) control(path, body string, into any) int {
	c.t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	url := strings.TrimSuffix(c.url, "/send") + "/_control/" + path
	req, err := http.NewRequestWithContext(c.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r := c.do(req)
	if into != nil {
		if err := json.Unmarshal([]byte(r.body), into); err != nil {
			c.t.Fatalf("%s answered %q: %v", path, r.body, err)
		}
	}
	return r.status
}

func TestSwitches(t *testing.T) {
	s, c := start(t, pushsim.Config{Token: "right", Switches: pushsim.Switches{HonourKeys: true}})
	c.send("good", 1, "k")
	for _, sw := range []struct {
		on, off string
		status  int
		header  string
		value   string
	}{
		{`{"outage":true}`, `{"outage":false}`, 503, "", ""},
		{`{"refuse":true}`, `{"refuse":false}`, 401, "", ""},
		{`{"forbid":true}`, `{"forbid":false}`, 403, "", ""},
		{`{"redirect":"http://x.example/"}`, `{"redirect":""}`, 302, "Location", "http://x.example/"},
		{`{"rate_limit":"1500ms"}`, `{"rate_limit":"0s"}`, 429, "Retry-After", "2"},
		{`{"transient_share":1}`, `{"transient_share":0}`, 503, "", ""},
	} {
		if status := c.control("switches", sw.on, nil); status != 200 {
			t.Errorf("%s got %d", sw.on, status)
		}
		if r := c.send("good", 2, "other"); r.status != sw.status || r.header.Get(sw.header) != sw.value {
			t.Errorf("%s: got %+v, want %d", sw.on, r, sw.status)
		}
		c.control("switches", sw.off, nil)
	}
	if r := c.send("good", 2, "other"); r.status != 200 {
		t.Errorf("with all off again: %d", r.status)
	}
	if sw := s.Switches(); sw != (pushsim.Switches{HonourKeys: true}) {
		t.Errorf("the switches are %+v", sw)
	}
}

func TestSwitchesRefused(t *testing.T) {
	s, c := start(t, pushsim.Config{})
	for _, body := range []string{`{"outrage":true}`, `{"latency":"-1s"}`, `{"latency":5}`, `{"outage":true,"transient_share":2}`, `x`} {
		if status := c.control("switches", body, nil); status != 400 {
			t.Errorf("%s got %d, want 400", body, status)
		}
	}
	if sw := s.Switches(); sw != (pushsim.Switches{}) {
		t.Errorf("a refused change changed the switches to %+v", sw)
	}
}

func TestWrongBearer(t *testing.T) {
	s, c := start(t, pushsim.Config{Token: "other"})
	if r := c.send("good", 1, ""); r.status != 401 || s.Delivered("good", 1) != 0 {
		t.Errorf("got %d, delivered %d", r.status, s.Delivered("good", 1))
	}
}

func TestMend(t *testing.T) {
	_, c := start(t, pushsim.Config{})
	for _, step := range []struct {
		act    string
		status int
	}{{"", 503}, {"mend", 200}, {"break", 503}} {
		if step.act != "" {
			if status := c.control(step.act, `{"prefix":"down-"}`, nil); status != 200 {
				t.Errorf("%s got %d", step.act, status)
			}
		}
		if r := c.send("down-1", 1, ""); r.status != step.status {
			t.Errorf("after %q: got %d, want %d", step.act, r.status, step.status)
		}
	}
	if status := c.control("mend", `{"prefix":"good-"}`, nil); status != 400 {
		t.Errorf("an unknown prefix got %d, want 400", status)
	}
}

func TestCountsOverHTTP(t *testing.T) {
	_, c := start(t, pushsim.Config{KeepCalls: true})
	before := time.Now()
	c.send("good", 1, "a")
	c.send("good", 1, "b")
	c.send("good", 2, "c")
	c.send("expired-1", 1, "d")
	var n pushsim.Counts
	c.control("counts", "", &n)
	if n.Calls != 4 || n.Delivered != 3 || n.Unique != 2 || n.Duplicates != 1 ||
		n.ByStatus[200] != 3 || n.ByStatus[410] != 1 || n.MaxInFlight != 1 {
		t.Errorf("counted %+v", n)
	}
	if n.FirstCallAt == nil || n.FirstCallAt.Before(before) || !n.LastCallAt.After(*n.FirstCallAt) {
		t.Errorf("first call at %v, last at %v", n.FirstCallAt, n.LastCallAt)
	}
	var calls struct {
		Delivered int
		Calls     []pushsim.Call
	}
	c.control("calls?token=good&notice=1", "", &calls)
	if calls.Delivered != 2 || len(calls.Calls) != 2 || calls.Calls[1].Key != "b" {
		t.Errorf("the calls are %+v", calls)
	}
	var twice []pushsim.Pair
	c.control("twice", "", &twice)
	if len(twice) != 1 || twice[0] != (pushsim.Pair{Token: "good", Notice: 1}) {
		t.Errorf("told twice: %+v", twice)
	}
	n = pushsim.Counts{}
	c.control("reset", "{}", &n)
	c.control("twice", "", &twice)
	if n.Calls != 0 || n.Unique != 0 || n.FirstCallAt != nil || len(n.ByStatus) != 0 || len(twice) != 0 {
		t.Errorf("after a reset: %+v, %+v", n, twice)
	}
}

// TestExact has many senders repeat the same calls at once.
func TestExact(t *testing.T) {
	const senders, tokens = 16, 200
	for _, honour := range []bool{false, true} {
		t.Run(fmt.Sprintf("keys honoured %v", honour), func(t *testing.T) {
			s, c := start(t, pushsim.Config{Switches: pushsim.Switches{HonourKeys: honour, Latency: time.Millisecond}})
			c.http.Transport.(*http.Transport).MaxIdleConnsPerHost = senders
			var all sync.WaitGroup
			for range senders {
				all.Go(func() {
					for i := range tokens {
						name := fmt.Sprintf("good%d", i)
						if r := c.send(name, 1, name); r.status != 200 {
							t.Errorf("%s got %d", name, r.status)
						}
					}
				})
			}
			all.Wait()
			want := int64(senders * tokens)
			if honour {
				want = tokens
			}
			n := s.Counts()
			if n.Calls != senders*tokens || n.Delivered != want || n.Unique != tokens || n.Duplicates != want-tokens {
				t.Errorf("counted %+v, want %d delivered", n, want)
			}
			if n.ByStatus[200] != senders*tokens || n.MaxInFlight < 2 || n.MaxInFlight > senders {
				t.Errorf("counted %+v", n)
			}
		})
	}
}

func TestTransientShare(t *testing.T) {
	const calls = 1500
	failed := func(seed uint64) (n int64, first string) {
		s, c := start(t, pushsim.Config{Seed: seed, Switches: pushsim.Switches{TransientShare: 0.1}})
		for i := range calls {
			if r := c.send("good", 1, ""); r.status == 503 {
				n++
				first += fmt.Sprint(i, " ")
			}
		}
		if s.Counts().ByStatus[503] != n || s.Delivered("good", 1) != int(calls-n) {
			t.Errorf("saw %d fail, counted %+v", n, s.Counts())
		}
		return n, first
	}
	n, order := failed(1)
	if n < calls*6/100 || n > calls*14/100 {
		t.Errorf("%d of %d failed, want about a tenth", n, calls)
	}
	if _, again := failed(1); again != order {
		t.Error("the same seed hit other calls")
	}
	if _, other := failed(2); other == order {
		t.Error("another seed hit the same calls")
	}
}

func TestLatency(t *testing.T) {
	s, c := start(t, pushsim.Config{Switches: pushsim.Switches{Latency: 60 * time.Millisecond, Jitter: 20 * time.Millisecond}})
	shortest, longest := time.Hour, time.Duration(0)
	for range 12 {
		begin := time.Now()
		c.send("good", 1, "")
		took := time.Since(begin)
		shortest, longest = min(shortest, took), max(longest, took)
	}
	if shortest < 40*time.Millisecond || longest-shortest < 5*time.Millisecond {
		t.Errorf("calls took %v to %v, want 40 ms and more, and spread", shortest, longest)
	}
	if err := s.Update(func(sw *pushsim.Switches) { sw.Latency = 0; sw.Jitter = 0 }); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for range 100 {
		c.send("good", 1, "")
	}
	if took := time.Since(begin); took > 100*40*time.Millisecond {
		t.Errorf("100 calls without latency took %v", took)
	}
	if n := s.Delivered("good", 1); n != 112 {
		t.Errorf("delivered %d, want 112", n)
	}
}

// leave makes a call and goes without its answer as soon as it has come.
func (c *client) leave(token string, came func() bool) {
	c.t.Helper()
	ctx, cancel := contextOf(c.t)
	body := strings.NewReader(fmt.Sprintf(`{"notice_id":1,"token":%q}`, token))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, body)
	if err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		resp, err := c.http.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		ended <- err
	}()
	for deadline := time.Now().Add(20 * time.Second); !came(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatal("the call did not come")
		}
	}
	cancel()
	if err := <-ended; err == nil {
		c.t.Error("the call was answered")
	}
}

// A client that goes while it waits has been served all the same.
func TestClientGoes(t *testing.T) {
	s, c := start(t, pushsim.Config{Switches: pushsim.Switches{Latency: time.Hour}})
	c.leave("good", func() bool { return s.Delivered("good", 1) == 1 })
}

func TestSlow(t *testing.T) {
	s, c := start(t, pushsim.Config{})
	c.leave("slow-1", func() bool { return s.Counts().ByStatus[0] == 1 })
	if n := s.Delivered("slow-1", 1); n != 0 {
		t.Errorf("delivered %d, want 0", n)
	}
}
