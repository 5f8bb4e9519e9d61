package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"bongsu/db"
)

// asked is a route's path with something in place of its wildcards.
func (rt route) asked() string {
	return strings.NewReplacer("{id}", "1", "{queue}", "push", "{token}", "x", "{message}", "redis-down", "{$}", "").Replace(rt.path)
}

func TestTableIsWhole(t *testing.T) {
	for _, rt := range routes() {
		name := rt.method + " " + rt.path
		if rt.handle == nil {
			t.Errorf("%s has no handler", name)
		}
		if (rt.kind == open) != (len(rt.roles) == 0) {
			t.Errorf("%s is %s with the roles %v", name, rt.kind, rt.roles)
		}
		if rt.kind != open && !slices.Contains(rt.roles, db.Admin) {
			t.Errorf("an admin may not %s", name)
		}
		if strings.HasPrefix(rt.path, "/api/") != (rt.kind == api) && rt.path != apiRoot+"/openapi.yaml" {
			t.Errorf("%s is %s", name, rt.kind)
		}
		if rt.quiet && rt.method != "GET" {
			t.Errorf("%s is an act of a person and must keep the session alive", name)
		}
	}
}

// TestEveryRouteAsEverybody asks for every route of the table without a name
// and in every role.
func TestEveryRouteAsEverybody(t *testing.T) {
	x := newRig(t)
	for _, rt := range routes() {
		for _, role := range []db.Role{"", db.Operator, db.Support, db.Admin} {
			t.Run(rt.method+" "+rt.path+" as "+string(role), func(t *testing.T) {
				may := rt.kind == open || slices.Contains(rt.roles, role)
				switch {
				case rt.kind == api:
					x.checkProgram(t, rt, role, may)
				default:
					x.checkPerson(t, rt, role, may)
				}
			})
		}
	}
}

func (x *rig) checkProgram(t *testing.T, rt route, role db.Role, may bool) {
	var change []func(*http.Request)
	if role != "" {
		change = append(change, withToken(x.tokens[role]))
	}
	a := x.send(rt.method, rt.asked(), "", change...)
	checkDocumented(t, rt.method, rt.asked(), "", a)
	switch {
	case role == "":
		if a.status != 401 || a.header.Get("WWW-Authenticate") != `Bearer realm="bongsu"` || a.problem(t).Code != "unauthorized" {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
	case !may:
		if a.status != 403 || !strings.Contains(a.problem(t).Detail, string(rt.roles[0])) {
			t.Errorf("%d %s does not say which role is needed", a.status, a.body)
		}
	case a.status == 401 || a.status == 403 || a.status >= 500:
		t.Errorf("%d %s", a.status, a.body)
	}
}

func (x *rig) checkPerson(t *testing.T, rt route, role db.Role, may bool) {
	for _, htmx := range []bool{false, true} {
		var change []func(*http.Request)
		if role != "" {
			change = append(change, withCookie(x.session(role)))
		}
		if htmx {
			change = append(change, withHeader("HX-Request", "true"), withHeader("HX-Current-URL", x.base+"/archive?reason=x"))
		}
		a := x.send(rt.method, rt.asked(), "", change...)
		toSignIn := strings.HasPrefix(a.header.Get("Location"), "/signin") && rt.path != "/signout" && rt.path != "/signin/code"
		switch {
		case role == "" && rt.kind != open && htmx:
			if a.status != 401 || a.header.Get("HX-Redirect") != "" || !strings.Contains(string(a.body), `"/signin?next=%2Farchive%3Freason%3Dx"`) {
				t.Errorf("%d without the way to sign in: %s", a.status, a.body)
			}
		case role == "" && rt.kind != open:
			if a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), "/signin") {
				t.Errorf("%d, Location %q", a.status, a.header.Get("Location"))
			}
		case !may:
			if a.status != 403 || !strings.Contains(string(a.body), string(rt.roles[0])) {
				t.Errorf("%d %s does not say which role is needed", a.status, a.body)
			}
		case a.status == 401 || a.status == 403 || toSignIn || a.status >= 500 && a.status != 503:
			t.Errorf("htmx %t: %d %v %.300s", htmx, a.status, a.header, a.body)
		}
	}
}

func TestWhatIsNotInTheTable(t *testing.T) {
	x := newRig(t)
	for _, c := range []struct {
		method, path string
		status       int
		allow, code  string
	}{
		{"GET", "/api/v1/nothing", 404, "", "not_found"},
		{"GET", "/api/", 404, "", "not_found"},
		{"GET", "/api/v1/notices/", 404, "", "not_found"},
		{"GET", "/api/v1/notices/1/", 404, "", "not_found"},
		{"PATCH", "/api/v1/notices", 405, "GET, HEAD, POST", "method_not_allowed"},
		{"DELETE", "/api/v1/notices/1", 405, "GET, HEAD", "method_not_allowed"},
		{"OPTIONS", "/api/v1/notices", 405, "GET, HEAD, POST", "method_not_allowed"},
		{"GET", "/api/v1/archive/replays", 405, "POST", "method_not_allowed"},
		{"GET", "/nothing", 404, "", ""},
		{"PUT", "/notices", 405, "GET, HEAD, POST", ""},
	} {
		a := x.send(c.method, c.path, "", withToken(x.tokens[db.Admin]))
		if a.status != c.status || a.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q", c.method, c.path, a.status, a.header.Get("Allow"))
		}
		if c.code == "" {
			if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || !strings.Contains(string(a.body), a.header.Get("X-Request-Id")) {
				t.Errorf("%s %s is no page of ours: %s", c.method, c.path, a.body)
			}
			continue
		}
		if p := a.problem(t); p.Code != c.code {
			t.Errorf("%s %s: %s", c.method, c.path, a.body)
		}
	}
}
