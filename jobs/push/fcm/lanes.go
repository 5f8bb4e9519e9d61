package pushfcm

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// A cold HTTP/2 transport dials once for each call that waits, and a busy one
// dials again when a connection's streams are used up. So there are a few
// transports of one connection each, and none gets more calls at once than the
// 100 streams that any server of this kind allows.
const perLane = 90

// A connection that says nothing is asked after pingAfter, and given up if it
// has not answered pingWait later: without it a dead one would swallow calls
// until the kernel gives it up, which takes a quarter of an hour.
const (
	pingAfter = 15 * time.Second
	pingWait  = 5 * time.Second
)

// lane is one transport, which keeps one connection.
type lane struct {
	transport *http.Transport
	calls     int // under way; guarded by lanes.mu
}

// lanes gives each call the lane that has the fewest.
type lanes struct {
	room chan struct{} // as many as may be under way
	mu   sync.Mutex
	list []*lane
}

// newLanes has room for maxInFlight calls. plain: HTTP/2 without TLS.
func newLanes(maxInFlight int, dial time.Duration, plain bool) *lanes {
	n := (maxInFlight + perLane - 1) / perLane
	l := &lanes{room: make(chan struct{}, n*perLane)}
	for range n {
		l.list = append(l.list, &lane{transport: newTransport(dial, plain)})
	}
	return l
}

// newTransport speaks HTTP/2 alone, straight to the host: a proxy named in the
// environment is not used.
func newTransport(dial time.Duration, plain bool) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP2(!plain)
	protocols.SetUnencryptedHTTP2(plain)
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dial}).DialContext,
		TLSHandshakeTimeout:    dial,
		MaxConnsPerHost:        1,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
		Protocols:              &protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingWait},
	}
}

// enter waits for room and takes the lane with the fewest calls, the first of
// them; the error is ctx's.
func (l *lanes) enter(ctx context.Context) (*lane, error) {
	select {
	case l.room <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	best := l.list[0]
	for _, other := range l.list[1:] {
		if other.calls < best.calls {
			best = other
		}
	}
	best.calls++
	return best, nil
}

func (l *lanes) leave(taken *lane) {
	l.mu.Lock()
	taken.calls--
	l.mu.Unlock()
	<-l.room
}

// close ends the connections that no call uses.
func (l *lanes) close() {
	for _, lane := range l.list {
		lane.transport.CloseIdleConnections()
	}
}
