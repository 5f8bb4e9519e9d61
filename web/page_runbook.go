package web

import (
	"net/http"

	"bongsu/views"
)

// runbookPage explains one message, or lists all. It asks nobody anything, so
// that it answers whatever is away, and anybody may read it.
func runbookPage(_ *Server, w http.ResponseWriter, r *http.Request) error {
	var m views.Runbook
	if key := r.PathValue("message"); key != "" {
		var ok bool
		if m.Message, ok = views.MessageOf(key); !ok {
			return errNoRoute
		}
	}
	return render(w, r, http.StatusOK, views.RunbookPage(m))
}
