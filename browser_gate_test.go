package main

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A gate is a way to the product at one address that can refuse connections, hold
// answers back, or answer with the product's own 503.
type gate struct {
	t     *testing.T
	url   string
	polls atomic.Int64 // requests for a live part
	hold  atomic.Pointer[chan struct{}]
	down  atomic.Bool // it answers 503 as the product does while the database is away

	pass   http.Handler
	mu     sync.Mutex
	server *http.Server
}

// newGate leads to target until the test ends.
func newGate(t *testing.T, target string) *gate {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, pass: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }}}
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	g.url = "http://" + addr
	g.opens()
	t.Cleanup(func() { g.lets(); g.refuses() })
	return g
}

// ServeHTTP passes the request on; while answers are held, what the product said
// waits behind it.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/progress") {
		g.polls.Add(1)
	}
	if g.down.Load() {
		w.Header().Set("X-Bongsu", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if hold := g.hold.Load(); hold != nil {
		w = &later{ResponseWriter: w, until: *hold, gone: r}
	}
	g.pass.ServeHTTP(w, r)
}

// later is an answer that comes once until is closed.
type later struct {
	http.ResponseWriter
	until chan struct{}
	gone  *http.Request
}

func (l *later) WriteHeader(status int) {
	select {
	case <-l.until:
	case <-l.gone.Context().Done():
	}
	l.ResponseWriter.WriteHeader(status)
}

// holds keeps answers back from now on, until lets.
func (g *gate) holds() {
	c := make(chan struct{})
	g.hold.Store(&c)
}

func (g *gate) lets() {
	if c := g.hold.Swap(nil); c != nil {
		close(*c)
	}
}

// refuses ends all connections and has the system refuse new ones, until opens.
func (g *gate) refuses() {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.server.Close()
}

func (g *gate) opens() {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	l, err := net.Listen("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		g.t.Fatal(err)
	}
	g.server = &http.Server{Handler: g}
	go func(s *http.Server) { _ = s.Serve(l) }(g.server)
}
