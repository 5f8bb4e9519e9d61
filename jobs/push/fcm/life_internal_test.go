package pushfcm

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bongsu/jobs/push"
	"bongsu/jobs/push/pushsim"
)

// pipes is a network inside the process, so that time can be virtual: each dial is
// a connection that the listener accepts.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	mu     sync.Mutex
	lines  []*line
}

// line is the client's end of a connection. While it is cut, what is written is
// lost and nobody is told, as with a cable that was pulled.
type line struct {
	net.Conn
	cut atomic.Bool
}

func (l *line) Write(b []byte) (int, error) {
	if l.cut.Load() {
		return len(b), nil
	}
	return l.Conn.Write(b)
}

// cut cuts every connection there is.
func (p *pipes) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		l.cut.Store(true)
	}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		l := &line{Conn: client}
		p.mu.Lock()
		p.lines = append(p.lines, l)
		p.mu.Unlock()
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// inVirtualTime runs a test with a vendor and its stand-in in one bubble.
func inVirtualTime(t *testing.T, run func(t *testing.T, sim *pushsim.Server, v *Vendor, network *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		const base = "http://fcm.test"
		sim, err := pushsim.New(pushsim.Config{})
		if err != nil {
			t.Fatal(err)
		}
		key, err := sim.NewFCMKey("p1", base)
		if err != nil {
			t.Fatal(err)
		}
		v, err := New(Config{Key: key, URL: base})
		if err != nil {
			t.Fatal(err)
		}
		network := newPipes()
		v.granter.transport.DialContext = network.dial
		for _, l := range v.lanes.list {
			l.transport.DialContext = network.dial
		}
		server := &http.Server{Handler: sim, Protocols: new(http.Protocols)}
		server.Protocols.SetHTTP1(true)
		server.Protocols.SetUnencryptedHTTP2(true)
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = server.Serve(network) // ends by Close alone, and says so
		}()
		run(t, sim, v, network)
		v.Close()
		sim.Close()
		_ = server.Close()
		<-served
	})
}

// TestDay sends once a minute for a day: every token is used for 55 minutes, no
// call waits for one after the first, and none is refused.
func TestDay(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, sim *pushsim.Server, v *Vendor, _ *pipes) {
		for minute := range 24 * 60 {
			start := time.Now()
			r, err := v.Send(t.Context(), push.Message{Address: push.Address{Token: "token"}, Platform: "android"})
			if err != nil || r.Outcome != push.Sent || time.Since(start) > 0 {
				t.Fatalf("minute %d: got %+v and %v after %v", minute, r, err, time.Since(start))
			}
			time.Sleep(time.Minute)
		}
		// 26 times 55 minutes are 1430; the day has 1440.
		if c := sim.Counts(); c.ByStatus[401] > 0 || c.Tokens != 27 {
			t.Errorf("counted %+v", c)
		}
	})
}

// TestLimitsInVirtualTime: the limit of a call holds to the millisecond, whichever
// side hangs.
func TestLimitsInVirtualTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, sim *pushsim.Server, v *Vendor, _ *pipes) {
		send := func(token string) (r push.Result, took time.Duration) {
			start := time.Now()
			r = push.ResultOf(v.Send(t.Context(), push.Message{Address: push.Address{Token: token}, Platform: "android"}))
			return r, time.Since(start)
		}
		hang := func(on bool) {
			if err := sim.Update(func(s *pushsim.Switches) { s.FCM.TokenHang = on }); err != nil {
				t.Fatal(err)
			}
		}
		hang(true)
		if r, took := send("token"); r.Outcome != push.Wait || r.Code != "token_timeout" || took != DefaultTimeout {
			t.Errorf("while the token endpoint hangs got %+v after %v", r, took)
		}
		hang(false)
		time.Sleep(grantTimeout + negative)
		if r, took := send("token"); r.Outcome != push.Sent || took > 0 {
			t.Errorf("after it got %+v after %v", r, took)
		}
		if r, took := send("slow-1"); r.Outcome != push.Transient || r.Reason != push.Timeout || !r.Doubt || took != DefaultTimeout {
			t.Errorf("while the call hangs got %+v after %v", r, took)
		}
	})
}

// TestDeadConnection: a connection that died without a word costs calls for as long
// as it takes to ask it and not to be answered.
func TestDeadConnection(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, sim *pushsim.Server, v *Vendor, network *pipes) {
		send := func() push.Result {
			return push.ResultOf(v.Send(t.Context(), push.Message{Address: push.Address{Token: "token"}, Platform: "android"}))
		}
		if r := send(); r.Outcome != push.Sent {
			t.Fatalf("got %+v", r)
		}
		network.cut()
		start, lost := time.Now(), 0
		for ; ; lost++ {
			r := send()
			if r.Outcome == push.Sent {
				break
			}
			if r.Outcome != push.Transient || !r.Doubt || lost > 5 {
				t.Fatalf("got %+v", r)
			}
		}
		if took := time.Since(start); took > pingAfter+pingWait+DefaultTimeout || lost == 0 {
			t.Errorf("it took %v and %d calls until one was sent", took, lost)
		}
	})
}
