package pushsim

import "net/http"

// elsewhere has the paths that are not calls to the HTTP vendor, and who answers
// them; a path that ends with a slash stands for all below it. Each further
// vendor has its lines here.
var elsewhere = []struct {
	path  string
	serve func(*Server, http.ResponseWriter, *http.Request)
}{
	{"/_control/", (*Server).serveControl},
	{"/v1/projects/", (*Server).serveFCM},
	{"/token", (*Server).serveFCMToken},
	{"/wp/", (*Server).serveWebPush},
}

func (s *Server) serveControl(w http.ResponseWriter, r *http.Request) { s.control.ServeHTTP(w, r) }

// handlerOf gives who answers a path; nil for the HTTP vendor's.
func handlerOf(path string) func(*Server, http.ResponseWriter, *http.Request) {
	for _, e := range elsewhere {
		if path == e.path || e.path[len(e.path)-1] == '/' && len(path) > len(e.path) && path[:len(e.path)] == e.path {
			return e.serve
		}
	}
	return nil
}
