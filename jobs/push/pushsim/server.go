package pushsim

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a running stand-in. It is also an http.Handler, for a test that
// brings a listener of its own. All methods may be called at any time from any
// goroutine.
type Server struct {
	cfg      Config
	switches atomic.Pointer[Switches]
	mu       sync.Mutex // guards changes of switches
	draws    atomic.Uint64
	book     *book
	habits   habits
	fcm      fcmKeys
	vapid    vapidTokens
	control  http.Handler
	http     *http.Server // serves what the fast lane does not
	lanes    lanes
	listener net.Listener
	url      string
	ended    sync.WaitGroup
	stopped  chan struct{}
	stop     sync.Once
}

// maxStreams is how many calls at once an HTTP/2 connection takes.
const maxStreams = 100

// New gives a stand-in that does not listen. Config.Addr is not used.
func New(cfg Config) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, book: newBook(cfg.KeepCalls), stopped: make(chan struct{})}
	s.switches.Store(&cfg.Switches)
	s.control = s.controls()
	return s, nil
}

// Start listens and serves until Close. It fails where the address is taken or
// the Config cannot be.
func Start(cfg Config) (*Server, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	addr := cfg.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("pushsim: %w", err)
	}
	s.url = "http://" + ln.Addr().String() + "/send"
	s.listener = ln
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols),
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams}}
	s.http.Protocols.SetHTTP1(true)
	s.http.Protocols.SetUnencryptedHTTP2(true)
	slow := newHandover(ln.Addr())
	s.ended.Go(func() { s.accept(ln, slow) })
	s.ended.Go(func() { _ = s.http.Serve(slow) }) // ends by Close alone, and says so
	return s, nil
}

// URL is where calls go; empty for a Server made by New.
func (s *Server) URL() string { return s.url }

// Close cuts all connections and stops listening. It waits until the listener
// and the calls under way have ended. A second Close does nothing.
func (s *Server) Close() {
	s.stop.Do(func() { close(s.stopped) })
	if s.listener == nil {
		return
	}
	_ = s.listener.Close() // the listener is gone either way
	_ = s.http.Close()
	s.lanes.close()
	s.ended.Wait()
}

// Update changes switches: change gets a copy of the present ones. Calls that
// are read after Update has returned see the new ones. Switches that cannot be
// are refused and nothing is changed.
func (s *Server) Update(change func(*Switches)) error {
	return s.update(func(next *Switches) error {
		change(next)
		return nil
	})
}

func (s *Server) update(change func(*Switches) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.switches.Load()
	if err := change(&next); err != nil {
		return err
	}
	if err := next.Check(); err != nil {
		return err
	}
	s.switches.Store(&next)
	return nil
}

// Switches gives the present ones.
func (s *Server) Switches() Switches { return *s.switches.Load() }

// Run is the stand-in as a command: it listens, writes one line with its URL to
// stdout as soon as it takes calls, and serves until ctx ends. The end of ctx
// is no error.
func Run(ctx context.Context, cfg Config, stdout io.Writer) error {
	s, err := Start(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := fmt.Fprintln(stdout, s.URL()); err != nil {
		return fmt.Errorf("pushsim: telling the URL: %w", err)
	}
	<-ctx.Done()
	return nil
}
