package web

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/trace"

	"bongsu/db"
)

// state is what is known about a request while it is answered. It belongs to
// the request's own goroutine.
type state struct {
	id      string // request id
	address string // where it comes from, without the port
	started time.Time
	route   *route      // nil: no route matched
	actor   db.Actor    // empty: nobody is known
	token   int64       // number of the token of a program; 0: not a program
	away    bool        // the database was away, so nobody knows who asks; on outage routes alone
	form    url.Values  // what a page sent, once it is read: a body is read once
	err     error       // what the handler returned
	about   []slog.Attr // what its line of log names besides
	span    trace.Span  // ends with it
}

type stateKey struct{}

func stateOf(ctx context.Context) *state { return ctx.Value(stateKey{}).(*state) }

// actorOf says who sends r. It is empty on open routes.
func actorOf(r *http.Request) db.Actor { return stateOf(r.Context()).actor }

// requestIDOf gives the id under which r stands in the log.
func requestIDOf(r *http.Request) string { return stateOf(r.Context()).id }

// newRequestID takes the id that a proxy or a client gave, if it is one to 64
// letters, digits, dots, dashes or underscores, and makes one otherwise.
func newRequestID(given string) string {
	if len(given) == 0 || len(given) > 64 {
		return rand.Text()
	}
	for _, c := range []byte(given) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
		default:
			return rand.Text()
		}
	}
	return given
}

// isHTMX says whether htmx in one of our pages sent r.
func isHTMX(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }
