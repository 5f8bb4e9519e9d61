// Package web answers HTTP: the pages, their fragments and the JSON API. It
// parses what comes in, lets package db act, and shapes what goes out. It knows
// no SQL and no queue: what it needs of the queues comes in as QueueInspector.
package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alexedwards/scs/v2"
	"go.opentelemetry.io/otel/trace"

	"bongsu/db"
)

// Deps is what a Server needs. All fields are required except Queues, without
// which the pages say that the queues cannot be seen from here, Memory and Disk,
// without which Status leaves them out, CheckEndpoint, and Traces, without which
// there are none.
type Deps struct {
	Pages         *db.DB // the pool for people and programs, not the one for work
	Log           *slog.Logger
	Traces        trace.TracerProvider
	Queues        QueueInspector
	Memory        func(context.Context) (Memory, error)         // of Redis
	Disk          func() (Disk, error)                          // of the database's data
	CheckPayload  func(title, body, link string) []PayloadFault // the vendor's limits
	CheckEndpoint db.EndpointRule                               // which endpoints of Web Push may be registered; nil: any
	Limits        Limits
	Rate          int           // calls a second over all processes; 0: no limit
	Expiry        time.Duration // of a notice that does not give its own
	Ladder        []LadderStep  // the time limits, the outermost first, to show
	Settings      []Setting     // what is in force, to show
	Version       string
	Now           func() time.Time
	SecureCookies bool // the browser reaches us by https
	AdminsSecond  bool // admins must have a second factor

	// Where proxies in front of us stand: only what they say of a caller's address in
	// X-Forwarded-For is believed. Empty: nobody is.
	TrustedProxies []netip.Prefix
}

// Limits bounds what a request may take. Handler is required.
type Limits struct {
	Handler time.Duration // from the request's header to its answer

	Upload     time.Duration // the same, of a file that comes or goes; 0: Handler
	UploadIdle time.Duration // within one, without a byte; 0: Handler

	Header time.Duration // for a request's header; 0: Read
	Write  time.Duration // for the answer, from the request's header on; 0: no limit
	Idle   time.Duration // a connection is kept without a request; 0: Read

	Read   time.Duration // for a whole request; 0: Handler, as with the next four
	Badge  time.Duration // a page waits for its badge
	Look   time.Duration // one look at how the parts are
	Queue  time.Duration // the queues are asked
	Scrape time.Duration // the metrics wait for the database

	Fresh time.Duration // one look serves all badges for so long; 0: each has its own
}

// whole gives l with what it leaves to Handler.
func (l Limits) whole() Limits {
	for _, d := range []*time.Duration{&l.Read, &l.Badge, &l.Look, &l.Queue, &l.Scrape, &l.Upload, &l.UploadIdle} {
		*d = cmp.Or(*d, l.Handler)
	}
	return l
}

// Server is the HTTP side of the product. Its methods may be called by many
// goroutines.
type Server struct {
	pages           *db.DB
	log             *slog.Logger
	queues          QueueInspector
	memory          func(context.Context) (Memory, error)
	disk            func() (Disk, error)
	watch           *watch
	payload         func(title, body, link string) []PayloadFault
	endpoint        db.EndpointRule
	limits          Limits
	expiry          time.Duration
	rate            int
	ladder          []LadderStep
	settings        []Setting
	version         string
	now             func() time.Time
	mux             *http.ServeMux
	cross           *http.CrossOriginProtection
	sessions        *scs.SessionManager
	passwords       *passwords
	trusted         []netip.Prefix // proxies in front of us
	metrics         *metrics
	tracing         tracing
	https           bool // browsers reach us by it
	secondForAdmins bool
	http            *http.Server
	draining        atomic.Bool
	stopping        context.Context // ends when Shutdown begins
	stop            context.CancelFunc
	behind          sync.WaitGroup // acceptances that go on after their client left
	cut             atomic.Bool    // Shutdown's time is over, and what was left was cut
}

// New makes a server from d. It does not listen yet.
func New(d Deps) *Server {
	s := &Server{
		pages: d.Pages, log: d.Log, queues: d.Queues, memory: d.Memory, disk: d.Disk, payload: d.CheckPayload, endpoint: d.CheckEndpoint,
		limits: d.Limits.whole(), expiry: d.Expiry, rate: d.Rate, ladder: d.Ladder, settings: d.Settings, version: d.Version, now: d.Now,
		mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(),
		sessions:  newSessions(d.Pages, d.SecureCookies),
		passwords: newPasswords(), trusted: d.TrustedProxies, metrics: newMetrics(d.Version),
		tracing: newTracing(d.Traces), https: d.SecureCookies,
		secondForAdmins: d.AdminsSecond,
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.watch = &watch{look: d.Pages.Status, now: d.Now, limit: s.limits.Look, wait: s.limits.Badge, fresh: s.limits.Fresh, behind: &s.behind}
	for _, rt := range routes() {
		s.mux.Handle(rt.method+" "+rt.path, bound{s, rt})
	}
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.limits.Header,
		ReadTimeout:       s.limits.Read,
		WriteTimeout:      s.limits.Write,
		IdleTimeout:       s.limits.Idle,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(d.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// Serve answers on l until Shutdown, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown takes no new connection, lets the requests in hand end, and waits
// for acceptances whose client has left. /readyz answers 503 from now on. It
// fails when ctx ends first, and cuts then what is left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.stop()
	err := s.http.Shutdown(ctx)
	done := make(chan struct{})
	go func() {
		s.behind.Wait()
		close(done)
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		s.cut.Store(true)
		return errors.Join(err, ctx.Err(), s.http.Close())
	}
}
