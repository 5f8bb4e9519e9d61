package web

import (
	"net/http"

	"bongsu/db"
	"bongsu/db/devicelist"
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
	beforeSecond bool  // also for an admin who has to set up a second factor first
	long         bool  // a file comes or goes, under limits of its own; the handler reads the body itself
	outage       bool  // it answers while the database is away too, without knowing who asks
}

// Who may do what. An admin may do all that the others may.
var (
	anyone    = []db.Role{db.Operator, db.Support, db.Admin}
	operators = []db.Role{db.Operator, db.Admin}
	support   = []db.Role{db.Support, db.Admin}
	admins    = []db.Role{db.Admin}
)

// uploadLimit is for a list of devices as it comes, with room for the form around it.
const uploadLimit = devicelist.MaxBytes + 1<<20

// routes is the one routing table. What is not in it cannot be reached.
func routes() []route {
	var all []route
	for _, part := range [][]route{openRoutes(), apiRoutes(), pageRoutes(), peopleRoutes()} {
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
	p := apiRoot
	return []route{
		{method: "GET", path: p + "/openapi.yaml", kind: open, handle: serveOpenAPI},
		{method: "POST", path: p + "/notices", kind: api, roles: operators, handle: apiAcceptNotice},
		{method: "GET", path: p + "/notices", kind: api, roles: anyone, handle: apiNotices},
		{method: "GET", path: p + "/notices/{id}", kind: api, roles: anyone, handle: apiNotice},
		{method: "POST", path: p + "/notices/{id}/pause", kind: api, roles: operators, handle: apiActOn((*db.DB).PauseNotice)},
		{method: "POST", path: p + "/notices/{id}/resume", kind: api, roles: operators, handle: apiActOn((*db.DB).ResumeNotice)},
		{method: "POST", path: p + "/notices/{id}/cancel", kind: api, roles: operators, handle: apiActOn((*db.DB).CancelNotice)},
		{method: "POST", path: p + "/notices/{id}/unknown", kind: api, roles: operators, handle: apiResolveUnknown},
		{method: "GET", path: p + "/notices/{id}/deliveries", kind: api, roles: anyone, handle: apiDeliveries},
		{method: "POST", path: p + "/test-sends", kind: api, roles: operators, handle: apiTestSend, once: true},
		{method: "GET", path: p + "/test-sends/{id}", kind: api, roles: anyone, handle: apiReadTestSend},
		{method: "PUT", path: p + "/devices", kind: api, roles: operators, handle: apiPutDevices, bodyLimit: devicesBodyLimit},
		{method: "GET", path: p + "/devices", kind: api, roles: support, handle: apiDevices},
		{method: "GET", path: p + "/devices/export", kind: api, roles: admins, handle: apiDevicesCSV, long: true},
		{method: "POST", path: p + "/imports", kind: api, roles: operators, handle: apiAcceptImport, long: true, bodyLimit: uploadLimit},
		{method: "GET", path: p + "/imports", kind: api, roles: operators, handle: apiImports},
		{method: "GET", path: p + "/imports/{id}", kind: api, roles: operators, handle: apiImport},
		{method: "POST", path: p + "/imports/{id}/cancel", kind: api, roles: operators, handle: apiActOnImport((*db.DB).CancelImport)},
		{method: "POST", path: p + "/imports/{id}/decline", kind: api, roles: operators, handle: apiActOnImport((*db.DB).DeclineImport)},
		{method: "POST", path: p + "/imports/{id}/confirm", kind: api, roles: operators, handle: apiConfirmImport},
		{method: "GET", path: p + "/imports/{id}/rejected", kind: api, roles: operators, handle: apiRejectedCSV, long: true},
		{method: "GET", path: p + "/devices/{id}", kind: api, roles: support, handle: apiDevice},
		{method: "DELETE", path: p + "/devices/{id}", kind: api, roles: support, handle: apiEraseDevice},
		{method: "GET", path: p + "/devices/{id}/deliveries", kind: api, roles: support, handle: apiDeviceDeliveries},
		{method: "GET", path: p + "/archive", kind: api, roles: admins, handle: apiArchive},
		{method: "POST", path: p + "/archive/replays", kind: api, roles: admins, handle: apiStartReplay},
		{method: "GET", path: p + "/archive/replays/{id}", kind: api, roles: admins, handle: apiReplay},
		{method: "POST", path: p + "/archive/replays/{id}/pause", kind: api, roles: admins, handle: apiPauseReplay},
		{method: "POST", path: p + "/archive/replays/{id}/resume", kind: api, roles: admins, handle: apiResumeReplay},
		{method: "POST", path: p + "/archive/replays/{id}/cancel", kind: api, roles: admins, handle: apiCancelReplay},
	}
}
