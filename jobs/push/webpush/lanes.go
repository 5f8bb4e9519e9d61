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
	room   int // calls at once to an origin that speaks no HTTP/2

	mu      sync.Mutex
	origins map[string]*origin
}

// origin is what is known of one push service.
type origin struct {
	old  atomic.Bool   // it speaks no HTTP/2
	free chan int      // numbers of lanes, each as often as it takes one more call
	room chan struct{} // for the calls by HTTP/1.1
}

// lane is the place of one call; leave gives it back.
type lane struct {
	transport *http.Transport
	leave     func()
}

func newLanes(c Config, rule *endpoints, o options) *lanes {
	l := &lanes{room: c.MaxInFlight, origins: make(map[string]*origin)}
	var one, two http.Protocols
	one.SetHTTP1(true)
	two.SetHTTP1(true)
	two.SetHTTP2(true)
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
	if o.old.Load() {
		select {
		case o.room <- struct{}{}:
			return lane{l.wide, func() { <-o.room }}, nil
		case <-ctx.Done():
			return lane{}, ctx.Err()
		}
	}
	select {
	case n := <-o.free:
		return lane{l.narrow[n], func() { o.free <- n }}, nil
	case <-ctx.Done():
		return lane{}, ctx.Err()
	}
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
	o := &origin{free: make(chan int, len(l.narrow)*perLane), room: make(chan struct{}, l.room)}
	for range perLane {
		for n := range l.narrow {
			o.free <- n
		}
	}
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
