package web

import (
	"net/http"

	"bongsu/db"
)

// kind says who may come, and how errors are answered.
type kind int

const (
	open     kind = iota // anybody
	page                 // a signed-in person; errors are pages
	fragment             // a signed-in person; errors are parts of a page
	api                  // a program with a token; errors are problem details
)

func (k kind) String() string { return [...]string{"open", "page", "fragment", "api"}[k] }

// handler answers one request, or returns an error before it has written
// anything. Server.fail answers the error.
type handler func(s *Server, w http.ResponseWriter, r *http.Request) error

// route is one row of the routing table.
type route struct {
	method, path string
	kind         kind
	roles        []db.Role // who may; nil for open ones
	handle       handler
	bodyLimit    int64 // bytes; 0: 1 MiB
	quiet        bool  // asked for by a timer: it does not keep a session alive
	once         bool  // doing it twice does more than doing it once
}

// Who may do what. An admin may do all that the others may.
var (
	anyone    = []db.Role{db.Operator, db.Support, db.Admin}
	operators = []db.Role{db.Operator, db.Admin}
	support   = []db.Role{db.Support, db.Admin}
	admins    = []db.Role{db.Admin}
)

// routes is the one routing table. What is not in it cannot be reached.
func routes() []route {
	var all []route
	for _, part := range [][]route{openRoutes(), apiRoutes(), pageRoutes()} {
		all = append(all, part...)
	}
	return all
}

func openRoutes() []route {
	return []route{
		{method: "GET", path: "/static/", kind: open, handle: serveStatic},
		{method: "GET", path: "/healthz", kind: open, handle: healthz},
		{method: "GET", path: "/readyz", kind: open, handle: readyz},
		{method: "GET", path: "/metrics", kind: open, handle: serveMetrics},
	}
}

func apiRoutes() []route {
	return []route{}
}
