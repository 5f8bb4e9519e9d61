package autopush_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"bongsu/jobs/push/pushsim/autopush"

	"go.uber.org/goleak"
	"golang.org/x/net/websocket"
)

func TestMain(m *testing.M) {
	// net/http lingers for half a second over a connection whose body it left.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// talk is a browser's side of the WebSocket.
type talk struct {
	t    *testing.T
	conn *websocket.Conn
}

func dial(t *testing.T, s *autopush.Server) *talk {
	t.Helper()
	conn, err := websocket.Dial(s.URL(), "push-notification", "http://browser.example")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the stand-in may have closed it
	return &talk{t, conn}
}

func (b *talk) say(m map[string]any) {
	b.t.Helper()
	if err := websocket.JSON.Send(b.conn, m); err != nil {
		b.t.Fatal(err)
	}
}

func (b *talk) hear() (m map[string]any) {
	b.t.Helper()
	if err := websocket.JSON.Receive(b.conn, &m); err != nil {
		b.t.Fatal(err)
	}
	return m
}

func post(t *testing.T, endpoint string, size int, authorization string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, bytes.NewReader(make([]byte, size)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Ttl": {"60"}, "Content-Encoding": {"aes128gcm"}, "Authorization": {authorization}}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

func TestABrowser(t *testing.T) {
	s, err := autopush.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	b := dial(t, s)
	b.say(map[string]any{"messageType": "hello", "use_webpush": true})
	if m := b.hear(); m["status"] != 200.0 || m["uaid"] == "" {
		t.Fatalf("hello was answered with %v", m)
	}
	b.say(map[string]any{"messageType": "register", "channelID": "c-1"})
	endpoint, _ := b.hear()["pushEndpoint"].(string)
	if !strings.HasPrefix(endpoint, "http://127.0.0.1:") {
		t.Fatalf("the endpoint is %q", endpoint)
	}

	resp := post(t, endpoint, 100, "vapid t=t, k=k")
	version := strings.TrimPrefix(resp.Header.Get("Location"), "/m/")
	m := b.hear()
	if resp.StatusCode != 201 || m["messageType"] != "notification" || m["channelID"] != "c-1" || m["version"] != version {
		t.Errorf("%d: the browser got %v", resp.StatusCode, m)
	}
	b.say(map[string]any{"messageType": "ack", "updates": []map[string]any{{"channelID": "c-1", "version": version, "code": autopush.NotDecrypted}}})
	if ack, err := s.WaitAck(t.Context()); err != nil || ack != (autopush.Ack{Version: version, Code: autopush.NotDecrypted}) {
		t.Errorf("got %+v and %v", ack, err)
	}

	for status, resp := range map[int]*http.Response{
		401: post(t, endpoint, 100, "Bearer x"),
		413: post(t, endpoint, 4097, "vapid t=t, k=k"),
		410: post(t, endpoint+"x", 100, "vapid t=t, k=k"),
	} {
		if resp.StatusCode != status {
			t.Errorf("got %d, want %d", resp.StatusCode, status)
		}
	}
	b.say(map[string]any{"messageType": "unregister", "channelID": "c-1"})
	b.hear()
	if resp := post(t, endpoint, 100, "vapid t=t, k=k"); resp.StatusCode != 410 {
		t.Errorf("after it unregistered: %d, want 410", resp.StatusCode)
	}
}

// TestOpener leads to the page when a browser has said hello, and not before.
func TestOpener(t *testing.T) {
	s, err := autopush.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Opener("http://localhost:1/?a=b&c"), nil)
	if err != nil {
		t.Fatal(err)
	}
	led := make(chan string, 1)
	go func() {
		transport := &http.Transport{DisableKeepAlives: true}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			led <- err.Error()
			return
		}
		resp.Body.Close()
		led <- resp.Header.Get("Location")
	}()
	b := dial(t, s)
	b.say(map[string]any{"messageType": "ping"})
	b.hear()
	select {
	case to := <-led:
		t.Fatalf("it led to %s before a browser was there", to)
	default:
	}
	b.say(map[string]any{"messageType": "hello"})
	if to := <-led; to != "http://localhost:1/?a=b&c" {
		t.Errorf("it led to %s", to)
	}
}
