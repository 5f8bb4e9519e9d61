package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"bongsu/db"
	"bongsu/views"
)

// testForm is what can be done with a notice that is still being written: find and
// choose devices, send it to them as a test, or go back. All that was typed comes along.
func testForm(s *Server, w http.ResponseWriter, r *http.Request) error {
	m := views.TestForm{Compose: readCompose(r), Most: testChoices}
	switch r.PostFormValue("act") {
	case "back":
		return s.renderCompose(w, r, m.Compose, http.StatusOK)
	case "send":
		return s.sendTest(w, r, m)
	}
	var ids []int64
	var err error
	if r.PostFormValue("act") == "" {
		ids, err = s.lastTestDevices(r, &m)
	} else {
		ids, err = s.findTestDevices(r, &m)
	}
	if err != nil {
		return err
	}
	return s.renderTestForm(w, r, m, ids, http.StatusOK)
}

// sendTest sends the test to the devices that are chosen. Pressing it again sends
// another, and the page of that one says so.
func (s *Server) sendTest(w http.ResponseWriter, r *http.Request, m views.TestForm) error {
	devices := numbersOf(r.PostForm["device"])
	draft, err := draftOf(m.Compose)
	if err == nil {
		err = s.checkDraft(r.Context(), &draft)
	}
	if err = checkTestDevices(devices, err); err == nil {
		var t db.TestSend
		if t, err = s.pages.CreateTestSend(r.Context(), draft.Title, draft.Body, draft.Link, devices, actorOf(r)); err == nil {
			return seeOther(w, r, testHref(t.ID, "", restOf(m.Compose)))
		}
	}
	var invalid *db.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	for _, f := range invalid.Fields {
		m.Faults = append(m.Faults, views.TestFault{Field: formField(f.Field), Message: f.Message})
	}
	return s.renderTestForm(w, r, m, numbersOf(r.PostForm["shown"]), http.StatusUnprocessableEntity)
}

// checkTestDevices adds what is wrong with the choice to what is wrong already.
func checkTestDevices(devices []int64, err error) error {
	var invalid *db.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	var fields []db.FieldError
	if invalid != nil {
		fields = invalid.Fields
	}
	switch {
	case len(devices) == 0:
		fields = append(fields, db.FieldError{Field: "devices", Message: views.Said().ChooseDevice})
	case len(devices) > testChoices:
		fields = append(fields, db.FieldError{Field: "devices", Message: views.Said().TooManyDevices})
	}
	if fields == nil {
		return nil
	}
	return &db.InvalidError{Fields: fields}
}

// renderTestForm shows the devices of ids, and which of them are chosen: those that
// were, and those that are new and may be told.
func (s *Server) renderTestForm(w http.ResponseWriter, r *http.Request, m views.TestForm, ids []int64, status int) error {
	if m.More = len(ids) > testChoices; m.More {
		ids = ids[:testChoices]
	}
	list, err := s.pages.DevicesByID(r.Context(), ids)
	if err != nil {
		return err
	}
	before, on := numbersOf(r.PostForm["shown"]), numbersOf(r.PostForm["device"])
	for _, d := range list {
		row := deviceRow(d)
		fresh := !m.FromLast && !slices.Contains(before, d.ID) && row.State == "active" && d.Consent
		m.Shown = append(m.Shown, views.TestChoice{DeviceRow: row, On: fresh || slices.Contains(on, d.ID)})
	}
	if m.Shell, err = s.shell(r, "compose"); err != nil {
		return err
	}
	return renderForm(w, r, status, views.TestFormPage(m), views.TestFormPart(m))
}

func testSendPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	t, live, _, err := s.testLive(r)
	if err != nil {
		return err
	}
	m := views.TestSend{Title: t.Title, Body: t.Body, Link: textOf(t.Link), AskedAt: stamp(t.AskedAt), AskedBy: t.AskedByName, Live: live}
	before, err := s.pages.TestSendBefore(r.Context(), t)
	switch {
	case err == nil:
		m.BeforeID, m.BeforeAt, m.BeforeHref = idText(before.ID), stamp(before.AskedAt), testHref(before.ID, "", nil)
	case !errors.Is(err, db.ErrNotFound):
		return err
	}
	if m.Shell, err = s.shell(r, "compose"); err != nil {
		return err
	}
	if may(r).Send {
		q := restOf(readCompose(r))
		q.Set("test", live.ID)
		m.BackHref = "/notices/new?" + q.Encode()
	}
	return render(w, r, http.StatusOK, views.TestSendPage(m))
}

// testSendFragment answers the page's look at what has changed: nothing where the
// reader has it already.
func testSendFragment(s *Server, w http.ResponseWriter, r *http.Request) error {
	_, live, version, err := s.testLive(r)
	if err != nil {
		return err
	}
	if r.FormValue("v") == version && live.Live {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return render(w, r, http.StatusOK, views.TestSendPart(live))
}

func (s *Server) testLive(r *http.Request) (t db.TestSend, live views.TestLive, version string, err error) {
	id, err := pathID(r)
	if err != nil {
		return t, live, "", err
	}
	if t, err = s.pages.TestSend(r.Context(), id); err != nil {
		return t, live, "", err
	}
	live = views.TestLive{ID: idText(id), Live: t.FinishedAt == nil}
	for _, d := range t.Devices {
		live.Items = append(live.Items, views.TestRow{DeviceID: idText(d.DeviceID), Token: d.TokenMasked, Platform: d.Platform,
			Status: d.Status, Reason: textOf(d.Reason), Code: textOf(d.Code), Message: textOf(d.Message), At: stamp(d.UpdatedAt)})
	}
	if live.Live {
		live.Wait = testWait(s.watch.see(r.Context()))
	}
	version = digest(live)
	live.PollHref = testHref(id, "/progress", url.Values{"v": {version}})
	return t, live, version, nil
}

// testWait says what a test that is not through waits for, as Status says it: the first
// of the parts between it and the vendor that is down.
func testWait(o outlook) views.TestWait {
	if !o.known {
		return views.TestWait{}
	}
	for _, p := range []views.StatusRow{queuePart(o.st), workerPart(o.st), feederPart(o.st)} {
		if p.State == views.StateDown {
			return views.TestWait{Message: p.Message, Since: p.Since}
		}
	}
	return views.TestWait{}
}

// composeTested fills the form with the notice that a test was made of: what was sent
// is in the test, the rest in the address.
func (s *Server) composeTested(r *http.Request) (views.Compose, error) {
	id := numbersOf([]string{r.FormValue("test")})
	if id == nil {
		return views.Compose{}, db.ErrNotFound
	}
	t, err := s.pages.TestSend(r.Context(), id[0])
	m := readCompose(r)
	m.Title, m.Body, m.Link = t.Title, t.Body, textOf(t.Link)
	return m, err
}

// restOf is what of a notice that is being written is not in its test.
func restOf(m views.Compose) url.Values {
	q := url.Values{}
	for name, v := range map[string]string{"category": m.Category, "tags": m.Tags, "expires_at": m.ExpiresAt, "repeat_of": m.RepeatOf} {
		if v != "" {
			q.Set(name, v)
		}
	}
	if len(m.Platforms) > 0 {
		q["platforms"] = m.Platforms
	}
	return q
}

func testHref(id int64, part string, q url.Values) string {
	href := "/test-sends/" + idText(id) + part
	if len(q) > 0 {
		href += "?" + q.Encode()
	}
	return href
}
