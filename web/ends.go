package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
)

// How a request can end before its answer: three ends that are told apart in the
// log and in the metrics, since each has another cause and another cure.
const (
	endLeft     = "client_left" // the connection is gone
	endLate     = "deadline"    // our own time for the answer is over
	endStopping = "shutdown"    // the process did not wait for it any longer
)

// endOf says how ctx, a request's, has ended; empty where it has not.
func (s *Server) endOf(ctx context.Context) string {
	switch err := ctx.Err(); {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return endLate
	case s.cut.Load():
		return endStopping
	default:
		return endLeft
	}
}

// concerns has the log's line of r name what r was about, such as the notice that
// it made. The handler's own goroutine calls it.
func concerns(r *http.Request, what string, id int64) {
	st := stateOf(r.Context())
	st.about = append(st.about, slog.Int64(what, id))
}

// aboutPath names what the path of r is about: notice 17 for /notices/17/pause.
func aboutPath(rt *route, r *http.Request) []slog.Attr {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	before, _, ok := strings.Cut(rt.path, "/{id}")
	if !ok || err != nil { // what is no number may be anything, a token too
		return nil
	}
	name := before[strings.LastIndexByte(before, '/')+1:]
	return []slog.Attr{slog.Int64(strings.TrimSuffix(name, "s"), id)}
}
