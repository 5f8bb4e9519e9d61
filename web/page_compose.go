package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"bongsu/db"
	"bongsu/views"
)

// datetimeLocal is how a browser writes a datetime-local input; we read it as UTC.
const datetimeLocal = "2006-01-02T15:04"

func composePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	m := views.Compose{Category: "info"}
	if r.FormValue("test") != "" {
		var err error
		if m, err = s.composeTested(r); err != nil {
			return err
		}
	} else if id, err := strconv.ParseInt(r.FormValue("repeat_of"), 10, 64); err == nil {
		n, _, err := s.pages.Notice(r.Context(), id)
		if err != nil {
			return err
		}
		m = composeAgain(n)
	}
	return s.renderCompose(w, r, m, http.StatusOK)
}

// composeAgain fills the form with a notice, to be sent once more.
func composeAgain(n db.Notice) views.Compose {
	return views.Compose{
		Title: n.Title, Body: n.Body, Link: textOf(n.Link), Category: n.Category, Platforms: n.Platforms,
		Tags: strings.Join(n.Tags, ", "), RepeatOf: idText(n.ID), RepeatTitle: n.Title,
	}
}

// submitNotice accepts the form's notice. The same content again leads to the
// original. What is wrong comes back with everything that was typed, and so does the
// question whether a notice to nobody is meant.
func submitNotice(s *Server, w http.ResponseWriter, r *http.Request) error {
	m := readCompose(r)
	draft, err := draftOf(m)
	switch {
	case err == nil && r.FormValue("act") == "preview":
		return s.renderCompose(w, r, m, http.StatusOK)
	case err == nil && s.askNobody(r, &m, draft):
		return s.renderCompose(w, r, m, http.StatusUnprocessableEntity)
	case err == nil:
		var a db.Acceptance
		if a, err = s.accept(r, draft, nil); err == nil {
			return seeOther(w, r, acceptedHref(a))
		}
	}
	if !wrongWith(&m, err) {
		return err
	}
	return s.renderCompose(w, r, m, http.StatusUnprocessableEntity)
}

// repeatNotice sends a notice's content once more, as a repeat of the one that
// the form names: pressing twice names the same one and gives one repeat.
func repeatNotice(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	n, _, err := s.pages.Notice(r.Context(), id)
	if err != nil {
		return err
	}
	draft := n.Draft()
	draft.ExpiresAt = nil
	of, err := strconv.ParseInt(r.PostFormValue("repeat_of"), 10, 64)
	if err != nil {
		return db.Invalid("repeat_of", "%s", views.Said().BadNotice)
	}
	draft.RepeatOf = &of
	if m := composeAgain(n); s.askNobody(r, &m, draft) { // the form asks
		return seeOther(w, r, "/notices/new?repeat_of="+idText(of))
	}
	a, err := s.accept(r, draft, nil)
	if err != nil {
		return err
	}
	return seeOther(w, r, acceptedHref(a))
}

func acceptedHref(a db.Acceptance) string {
	if a.Replayed {
		return noticeHref(a.Notice.ID) + "?original=1"
	}
	return noticeHref(a.Notice.ID)
}

// audienceFragment answers how many devices match what is chosen.
func audienceFragment(s *Server, w http.ResponseWriter, r *http.Request) error {
	m := readCompose(r)
	s.addAudience(r, &m)
	return render(w, r, http.StatusOK, views.AudienceCount(m.Audience))
}

func (s *Server) renderCompose(w http.ResponseWriter, r *http.Request, m views.Compose, status int) error {
	s.addInUse(r, &m)
	s.addAudience(r, &m)
	m.TitleLimit, m.BodyLimit = db.MaxTitle, db.MaxBody
	var err error
	if m.Shell, err = s.shell(r, "compose"); err != nil {
		return err
	}
	return renderForm(w, r, status, views.ComposePage(m), views.ComposeForm(m))
}

// addAudience counts the devices that match. A notice can be written without
// the number, so failing to count is no failure of the page.
func (s *Server) addAudience(r *http.Request, m *views.Compose) {
	a := db.Audience{Platforms: m.Platforms, Tags: splitTags(m.Tags)}
	n, err := s.pages.CountAudience(r.Context(), a)
	m.Audience = views.Audience{Known: err == nil, Devices: n}
	if err == nil {
		err = s.addMissing(r, m, a.Tags)
	}
	var invalid *db.InvalidError
	switch {
	case errors.As(err, &invalid):
		m.Audience.Wrong = invalid.Fields[0].Message
	case err != nil:
		s.log.WarnContext(r.Context(), "audience was not counted", "error", err, "request_id", requestIDOf(r))
	}
}

func readCompose(r *http.Request) views.Compose {
	return views.Compose{
		Title: r.FormValue("title"), Body: r.FormValue("body"), Link: r.FormValue("link"), Category: r.FormValue("category"),
		Platforms: r.Form["platforms"], Tags: r.FormValue("tags"), ExpiresAt: r.FormValue("expires_at"), RepeatOf: r.FormValue("repeat_of"),
		Nobody: r.FormValue("nobody"),
	}
}

// draftOf reads the form's fields. It is an *InvalidError where one is not even
// what its kind looks like.
func draftOf(m views.Compose) (db.Draft, error) {
	d := db.Draft{Title: m.Title, Body: m.Body, Link: m.Link, Category: m.Category,
		Audience: db.Audience{Platforms: m.Platforms, Tags: splitTags(m.Tags)}}
	if m.ExpiresAt != "" {
		at, err := time.Parse(datetimeLocal, m.ExpiresAt)
		if err != nil {
			return d, db.Invalid("expires_at", "%s", views.Said().BadTime)
		}
		d.ExpiresAt = &at
	}
	if m.RepeatOf != "" {
		id, err := strconv.ParseInt(m.RepeatOf, 10, 64)
		if err != nil {
			return d, db.Invalid("repeat_of", "%s", views.Said().BadNotice)
		}
		d.RepeatOf = &id
	}
	return d, nil
}

// splitTags reads tags with commas between; the empty ones do not count.
func splitTags(s string) []string {
	var tags []string
	for t := range strings.SplitSeq(s, ",") {
		if t = strings.TrimSpace(t); t != "" {
			tags = append(tags, t)
		}
	}
	return tags
}

// wrongWith puts what err says about the form's fields into m. It is false for
// an error that is not about them.
func wrongWith(m *views.Compose, err error) bool {
	var invalid *db.InvalidError
	var conflict *db.ConflictError
	switch {
	case errors.As(err, &invalid):
		m.Wrong = map[string]string{}
		for _, f := range invalid.Fields {
			addWrong(m, f.Field, f.Message)
		}
	case errors.As(err, &conflict):
		m.Problem, m.ProblemHref = conflict.Message, noticeHref(conflict.ID)
		if conflict.Field != "" {
			m.Wrong = map[string]string{conflict.Field: conflict.Message}
		}
	default:
		return false
	}
	return true
}

// addWrong finds the form's field for one that the API names, such as
// audience.tags[2]. What has no field of its own is said above the form.
func addWrong(m *views.Compose, field, message string) {
	switch name := formField(field); name {
	case "title", "body", "link", "category", "platforms", "tags", "expires_at":
		if m.Wrong[name] == "" {
			m.Wrong[name] = message
		}
	default:
		m.Problem = field + " " + message
	}
}
