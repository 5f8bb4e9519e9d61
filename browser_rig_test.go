package main

import (
	"cmp"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/launcher"
	"github.com/go-rod/rod/lib/proto"
)

// envBrowser names the Chromium to use.
const envBrowser = "BONGSU_TEST_BROWSER"

const debianBrowser = "/usr/bin/chromium"

// A browser is one tab of a real, headless browser. Each of its methods fails
// the test where the page is not as it must be after a while.
type browser struct {
	t     *testing.T
	page  *rod.Page
	waits time.Duration // for what must come; 0: ends
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	bin := os.Getenv(envBrowser)
	if bin == "" {
		bin = debianBrowser
	}
	l := launcher.New().Bin(bin).NoSandbox(true).Headless(true).
		Set("disable-background-networking").Set("no-first-run").Set("disable-sync").Set("disable-component-update").
		Set("window-size", "1280,900")
	address, err := l.Launch()
	if err != nil {
		t.Fatalf("Chromium does not start (apt-get install chromium, or name one in %s): %v", envBrowser, err)
	}
	t.Cleanup(func() {
		l.Kill()
		l.Cleanup()
	})
	b := &browser{t: t}
	r := rod.New().ControlURL(address).Context(t.Context())
	b.no(r.Connect())
	b.page, err = r.Page(proto.TargetCreateTarget{URL: "about:blank"})
	b.no(err)
	b.page = b.page.Timeout(ends)
	return b
}

func (b *browser) no(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// open goes to an address.
func (b *browser) open(url string) {
	b.t.Helper()
	b.no(b.page.Navigate(url))
	b.no(b.page.WaitLoad())
}

// at waits until the tab's path begins with prefix, and gives the path.
func (b *browser) at(prefix string) (path string) {
	b.t.Helper()
	b.until("the tab is at "+prefix, func() bool {
		path = b.eval("() => location.pathname")
		return strings.HasPrefix(path, prefix)
	})
	b.no(b.page.WaitLoad())
	return path
}

// eval runs a function of JavaScript and gives its result as text. While the tab
// goes from one page to the next that is empty.
func (b *browser) eval(js string) string {
	got, err := b.page.Eval(js)
	if err != nil {
		return ""
	}
	return got.Value.Str()
}

// see waits for the element that selector selects.
func (b *browser) see(selector string) *rod.Element {
	b.t.Helper()
	e, err := b.page.Element(selector)
	if err != nil {
		b.t.Fatalf("%s: %v", selector, err)
	}
	return e
}

// says waits until the element contains text.
func (b *browser) says(selector, text string) {
	b.t.Helper()
	b.until(selector+" says "+text, func() bool { return strings.Contains(b.textOf(selector), text) })
}

// textOf is what the element shows; empty where there is none.
func (b *browser) textOf(selector string) string {
	got, err := b.page.Eval(`s => { const e = document.querySelector(s); return e ? e.innerText : "" }`, selector)
	if err != nil {
		return ""
	}
	return got.Value.Str()
}

func (b *browser) write(selector, text string) {
	b.t.Helper()
	b.no(b.see(selector).Input(text))
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.no(b.see(selector).Click(proto.InputMouseButtonLeft, 1))
}

// doubleClick presses and lets go twice, as fast as the browser takes it.
func (b *browser) doubleClick(selector string) {
	b.t.Helper()
	e := b.see(selector)
	b.no(e.ScrollIntoView())
	b.no(e.Hover())
	for range 2 {
		b.no(b.page.Mouse.Click(proto.InputMouseButtonLeft, 1))
	}
}

func (b *browser) until(what string, ok func() bool) {
	b.t.Helper()
	b.no(poll(b.t.Context(), cmp.Or(b.waits, ends), 20*time.Millisecond, what, func() (bool, error) { return ok(), nil }))
}

// boot runs the program with all roles within this process, until the test ends,
// and gives the address of its pages.
func (s *site) boot(settings ...string) (base string) {
	s.t.Helper()
	addr, err := freeAddr()
	s.no(err)
	env := append(ownedEnv(os.Environ()), "DATABASE_URL="+s.url, "REDIS_URL="+s.redis.URL(),
		"BONGSU_VENDOR_URL="+s.sim.URL(), "BONGSU_ADDR="+addr, "BONGSU_LOG=warn")
	ctx, stop := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"bongsu", "serve"}, append(env, settings...), strings.NewReader(""), s.t.Output(), s.t.Output())
	}()
	s.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.t.Errorf("serve ended with %v", err)
		}
	})
	base = "http://" + addr
	s.until("the program answers", func() bool { return isReady(s.t.Context(), base) == nil })
	s.api.base = base + "/api/v1"
	return base
}

// choose puts a file into the form of an upload.
func (b *browser) choose(path string) {
	b.t.Helper()
	b.no(b.see("#file").SetFiles([]string{path}))
}

// noScript keeps our scripts from the tab: the pages are as with JavaScript off,
// and the test can still look.
func (b *browser) noScript() {
	b.t.Helper()
	b.no(proto.NetworkEnable{}.Call(b.page))
	b.no(proto.NetworkSetBlockedURLs{Urls: []string{"*.js"}}.Call(b.page))
}

// slow bounds what the tab sends, in bytes a second.
func (b *browser) slow(bytes float64) {
	b.t.Helper()
	b.no(proto.NetworkEmulateNetworkConditions{DownloadThroughput: -1, UploadThroughput: bytes}.Call(b.page))
}

// A wire lies between a browser and the product, and can be cut.
type wire struct {
	addr  string
	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

// newWire begins to pass connections on to addr, until the test ends.
func newWire(t *testing.T, addr string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := &wire{addr: l.Addr().String()}
	t.Cleanup(func() { _ = l.Close(); x.cut() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", addr)
			if err != nil || x.isDown() {
				_ = from.Close()
				continue
			}
			x.mu.Lock()
			x.conns = append(x.conns, from, to)
			x.mu.Unlock()
			go pass(from, to)
			go pass(to, from)
		}
	}()
	return x
}

// pass copies what comes from one end to the other, and ends both.
func pass(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	_ = from.Close()
	_ = to.Close()
}

func (x *wire) isDown() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.down
}

// cut ends all connections that there are, and lets no new one through until mend.
func (x *wire) cut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.down = true
	for _, c := range x.conns {
		_ = c.Close()
	}
	x.conns = nil
}

// mend lets connections through again.
func (x *wire) mend() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.down = false
}

// signIn signs kim in.
func (b *browser) signIn(base string) {
	b.t.Helper()
	b.open(base + "/signin")
	b.write("#email", "kim@example.com")
	b.write("#password", "correct horse")
	b.click("#signin button[type=submit]")
	b.at("/notices")
}

// notForeign wants nothing of a proxy's page in ours.
func (b *browser) notForeign() {
	b.t.Helper()
	if html := b.eval("() => document.documentElement.outerHTML"); strings.Contains(html, "A page of the proxy") || strings.Contains(html, `id="foreign"`) {
		b.t.Errorf("the proxy's page was put in:\n%s", html)
	}
}

// atNotice waits until the tab shows a notice.
func (b *browser) atNotice() {
	b.t.Helper()
	b.until("the notice's page is shown", func() bool {
		path := b.eval("() => location.pathname")
		return strings.HasPrefix(path, "/notices/") && path != "/notices/new"
	})
}

// target opens a further tab at an address.
func target(url string) proto.TargetCreateTarget { return proto.TargetCreateTarget{URL: url} }
