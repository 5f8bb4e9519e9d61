package web

import (
	"io"
	"net/http"

	"bongsu/static"
)

// healthz says that the process lives.
func healthz(_ *Server, w http.ResponseWriter, _ *http.Request) error {
	return writeText(w, 200, "ok\n")
}

// readyz says that requests are welcome. It does so while the database is away
// too, since the pages can explain that; it does not while the server stops.
func readyz(s *Server, w http.ResponseWriter, _ *http.Request) error {
	if s.draining.Load() {
		return writeText(w, 503, "stopping\n")
	}
	return writeText(w, 200, "ready\n")
}

func writeText(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // the client has left if this fails
	return nil
}

func serveStatic(_ *Server, w http.ResponseWriter, r *http.Request) error {
	static.Handler().ServeHTTP(w, r)
	return nil
}
