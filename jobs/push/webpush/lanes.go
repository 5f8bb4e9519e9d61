package pushweb

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A cold HTTP/2 transport dials once for each call that waits, and dials again
// when a connection's streams are used up. So the calls to an origin share a few
// transports, the lanes, of one connection to each origin, and no lane gets more
// of an origin's calls at once than the 100 streams that servers allow.
const (
	perLane    = 90
	maxOrigins = 256 // origins at once; there are a handful
	maxIdle    = 64  // connections that a lane keeps for later, over all origins
)

// A connection that says nothing is asked after pingAfter, and given up if it has
// not answered pingWait later: a dead one would swallow calls for a quarter of an
// hour.
const (
	pingAfter = 15 * time.Second
	pingWait  = 5 * time.Second
)

// lanes are all connections. An origin that speaks no HTTP/2 has one call on a
// connection at a time, so it has as many of them as there may be calls.
type lanes struct {
	narrow []*http.Transport
	wide   *http.Transport
	plain2 bool // as in options
	room   int  // calls at once to an origin that speaks no HTTP/2

	mu      sync.Mutex
	origins map[string]*origin
}

// origin is what is known of one push service.
type origin struct {
	old   atomic.Bool   // it speaks no HTTP/2
	room  chan struct{} // has an element for each call on a lane
	wide  chan struct{} // and for each by HTTP/1.1
	mu    sync.Mutex
	calls []int // under way on each lane
}

// lane is the place of one call; leave gives it back.
type lane struct {
	transport *http.Transport
	leave     func()
}

func newLanes(c Config, rule *endpoints, o options) *lanes {
	l := &lanes{room: c.MaxInFlight, plain2: o.plain2, origins: make(map[string]*origin)}
	var one, two http.Protocols
	one.SetHTTP1(true)
	two.SetHTTP1(!o.plain2)
	two.SetHTTP2(true)
	two.SetUnencryptedHTTP2(o.plain2)
	for range (c.MaxInFlight + perLane - 1) / perLane {
		t := newTransport(c, rule, o, &two)
		t.MaxConnsPerHost, t.MaxIdleConns = 1, maxIdle
		l.narrow = append(l.narrow, t)
	}
	l.wide = newTransport(c, rule, o, &one)
	l.wide.MaxConnsPerHost, l.wide.MaxIdleConnsPerHost = c.MaxInFlight, c.MaxInFlight
	l.wide.MaxIdleConns = 2 * c.MaxInFlight
	return l
}

// newTransport goes straight to the host: a proxy named in the environment is not
// used, since the rule for addresses could not be held there.
func newTransport(c Config, rule *endpoints, o options, protocols *http.Protocols) *http.Transport {
	limit := connectLimit(c.Timeout)
	dialer := net.Dialer{Timeout: limit, Resolver: rule.resolver, Control: rule.control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        o.tls(),
		TLSHandshakeTimeout:    limit,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
		Protocols:              protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingWait},
	}
}

// connectLimit leaves a third of a call's limit, so that a host that is gone leaves
// a word about it and not just a timeout.
func connectLimit(timeout time.Duration) time.Duration { return timeout * 2 / 3 }

// control refuses a connection to an address that is not public. It sees what the
// name led to in the end, so a name that changes after it was checked does not pass.
func (r *endpoints) control(_, address string, _ syscall.RawConn) error {
	if r.allowPrivate {
		return nil
	}
	a, err := netip.ParseAddrPort(address)
	if err != nil || !Public(a.Addr()) {
		return &EndpointError{"leads into a private network"}
	}
	return nil
}

// enter waits for a place; the error is ctx's.
func (l *lanes) enter(ctx context.Context, o *origin) (lane, error) {
	room := o.room
	if o.old.Load() {
		room = o.wide
	}
	select {
	case room <- struct{}{}:
	case <-ctx.Done():
		return lane{}, ctx.Err()
	}
	if room == o.wide {
		return lane{l.wide, func() { <-room }}, nil
	}
	n := o.take()
	return lane{l.narrow[n], func() { o.give(n); <-room }}, nil
}

// take gives the lane with the fewest calls, the first of them, so that a quiet origin
// has one connection.
func (o *origin) take() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	best := 0
	for n, calls := range o.calls {
		if calls < o.calls[best] {
			best = n
		}
	}
	o.calls[best]++
	return best
}

func (o *origin) give(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls[n]--
}

// origin finds what is known; a full book is begun anew.
func (l *lanes) origin(name string, plain bool) *origin {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.origins[name]; o != nil {
		return o
	}
	if len(l.origins) >= maxOrigins {
		clear(l.origins)
	}
	o := &origin{room: make(chan struct{}, len(l.narrow)*perLane), wide: make(chan struct{}, l.room), calls: make([]int, len(l.narrow))}
	o.old.Store(plain)
	l.origins[name] = o
	return o
}

// close ends the connections that no call uses.
func (l *lanes) close() {
	for _, t := range l.narrow {
		t.CloseIdleConnections()
	}
	l.wide.CloseIdleConnections()
}
