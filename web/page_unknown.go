package web

import (
	"net/http"
	"strconv"

	"bongsu/db"
	"bongsu/views"
)

// resolveUnknown settles the deliveries that the form names, whose end nobody
// knows: they are sent again, or count as sent.
func resolveUnknown(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return err
	}
	devices := []int64{}
	for _, text := range r.PostForm["device"] {
		d, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return db.Invalid("device", "must be the number of a device")
		}
		devices = append(devices, d)
	}
	back := noticeHref(id) + "/deliveries?status=unknown"
	if len(devices) == 0 {
		return s.notDone(w, r, views.Said().ChooseFirst, back)
	}
	n, err := s.pages.ResolveUnknown(r.Context(), id, r.PostFormValue("act"), devices, actorOf(r))
	if err != nil {
		return err
	}
	done := views.SaidMarked(n)
	if r.PostFormValue("act") == db.Resend {
		done = views.SaidResent(n)
	}
	return s.doneThen(w, r, done, back)
}
