package pushweb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim/autopush"
	"bongsu/jobs/push/pushsim/firefox"
	pushweb "bongsu/jobs/push/webpush"
)

const page = `<!DOCTYPE html><meta charset="utf-8"><title>push</title><script>
const tell = (path, what) => fetch(path, {method: "POST", body: JSON.stringify(what)});
(async () => {
  await navigator.serviceWorker.register("/worker.js");
  const ready = await navigator.serviceWorker.ready;
  const s = await ready.pushManager.subscribe({userVisibleOnly: true, applicationServerKey: "KEY"});
  await tell("/subscribed", s);
})().catch(e => tell("/failed", String(e)));
</script>`

const worker = `
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("push", e => e.waitUntil((async () => {
  const m = e.data.json();
  await self.registration.showNotification(m.title, {body: m.body, tag: m.tag});
  const shown = await self.registration.getNotifications();
  await fetch("/pushed", {method: "POST", body: JSON.stringify({got: m, shown: shown.map(n => n.title)})});
})()));`

// site is a page that subscribes, and what it tells.
type site struct {
	*httptest.Server
	subscribed, pushed chan []byte
}

func newSite(t *testing.T, key string) *site {
	t.Helper()
	s := &site{subscribed: make(chan []byte, 10), pushed: make(chan []byte, 10)}
	mux := http.NewServeMux()
	write := func(path, kind, text string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		})
	}
	write("/{$}", "text/html", strings.ReplaceAll(page, "KEY", key))
	write("/worker.js", "text/javascript", worker)
	take := func(path string, to chan<- []byte) {
		mux.HandleFunc("POST "+path, func(_ http.ResponseWriter, r *http.Request) {
			var raw json.RawMessage
			if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if to == nil {
				t.Errorf("the page failed: %s", raw)
				return
			}
			to <- raw
		})
	}
	take("/subscribed", s.subscribed)
	take("/pushed", s.pushed)
	take("/failed", nil)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// TestFirefox sends a Korean notice to a real browser, which decrypts it, acknowledges
// it and shows it.
func TestFirefox(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	service, err := autopush.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Close)
	key, public, err := pushweb.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	site := newSite(t, public)
	browser, err := firefox.Start(firefox.Config{Dir: t.TempDir(), PushURL: service.URL(), Output: t.Output(),
		Page: service.Opener(strings.Replace(site.URL, "127.0.0.1", "localhost", 1) + "/")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	var sub struct {
		Endpoint string
		Keys     struct{ P256dh, Auth string }
	}
	if err := json.Unmarshal(wait(ctx, t, browser, site.subscribed), &sub); err != nil {
		t.Fatal(err)
	}
	v, err := pushweb.New(pushweb.Config{Key: key, Subject: "mailto:push@example.com", AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	r, err := v.Send(ctx, push.Message{NoticeID: 7, Title: "점검 안내 🔥", Body: "오늘 밤 11시부터\n한 시간 동안 멈춥니다.", CollapseID: "n7",
		ExpiresAt: time.Now().Add(time.Hour), Address: push.Address{Kind: push.KindWebPush,
			Token: sub.Endpoint, P256dh: sub.Keys.P256dh, Auth: sub.Keys.Auth}})
	if err != nil || r.Outcome != push.Sent {
		t.Fatalf("got %+v and %v", r, err)
	}
	ack, err := service.WaitAck(ctx)
	if err != nil || ack != (autopush.Ack{Version: r.MessageID, Code: autopush.Delivered}) {
		t.Fatalf("got %+v and %v, want %s acknowledged with %d", ack, err, r.MessageID, autopush.Delivered)
	}
	want := `{"got":{"title":"점검 안내 🔥","body":"오늘 밤 11시부터\n한 시간 동안 멈춥니다.","notice_id":7,"tag":"n7"},"shown":["점검 안내 🔥"]}`
	if got := string(wait(ctx, t, browser, site.pushed)); got != want {
		t.Errorf("the page got %s\nwant         %s", got, want)
	}
}

func wait(ctx context.Context, t *testing.T, b *firefox.Browser, from <-chan []byte) []byte {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-b.Ended():
		t.Fatal("the browser has gone")
	case <-ctx.Done():
		t.Fatal("the browser told nothing")
	}
	return nil
}
