package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"bongsu/db"
	"bongsu/db/devicelist"
	"bongsu/views"
)

func importsPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	m, err := s.imports(r)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.ImportsPage(m))
}

func (s *Server) imports(r *http.Request) (m views.Imports, err error) {
	q := r.URL.Query() // the form of an upload is read elsewhere
	f := db.ImportFilter{State: q.Get("state")}
	if q.Get("mine") != "" {
		f.By = actorOf(r).ID
	}
	if f.State != "" && !slices.Contains(importStates, f.State) {
		return m, errNoRoute
	}
	list, err := s.pages.Imports(r.Context(), f, q.Get("cursor"), pageSize)
	if err != nil {
		return m, err
	}
	counts, err := s.pages.ImportStates(r.Context(), f.By)
	if err != nil {
		return m, err
	}
	m = views.Imports{Mine: f.By != "", State: f.State, Tabs: importTabs(f, counts),
		MineHref: importsHref(f.State, true), AllHref: importsHref(f.State, false),
		NextHref:  nextHref("/imports", importsQuery(f.State, f.By != ""), list.Next),
		FirstHref: firstHref(importsHref(f.State, f.By != ""), q.Get("cursor"))}
	for _, i := range list.Items {
		m.Items = append(m.Items, views.ImportRow{Href: importHref(i.ID), ID: idText(i.ID), File: i.FileName, State: i.State,
			AcceptedAt: stamp(i.AcceptedAt), By: i.AcceptedByName, Total: i.Total, Rejected: i.Rejected})
	}
	m.Shell, err = s.shell(r, "imports")
	return m, err
}

func importTabs(f db.ImportFilter, counts map[string]int64) (tabs []views.Tab) {
	all := int64(0)
	for _, n := range counts {
		all += n
	}
	tabs = append(tabs, views.Tab{Href: importsHref("", f.By != ""), Label: views.Said().All, N: all, On: f.State == ""})
	for _, state := range importStates {
		tabs = append(tabs, views.Tab{Href: importsHref(state, f.By != ""), Label: state, N: counts[state], On: f.State == state})
	}
	return tabs
}

func importsQuery(state string, mine bool) url.Values {
	q := url.Values{}
	if state != "" {
		q.Set("state", state)
	}
	if mine {
		q.Set("mine", "1")
	}
	return q
}

func importsHref(state string, mine bool) string {
	if q := importsQuery(state, mine); len(q) > 0 {
		return "/imports?" + q.Encode()
	}
	return "/imports"
}

// submitImport takes a list. What is wrong with it comes back with the form.
func submitImport(s *Server, w http.ResponseWriter, r *http.Request) error {
	i, o, err := s.acceptUpload(w, r)
	if err == nil {
		path := importHref(i.ID)
		if i.Original {
			path += "?original=1"
		}
		return seeOther(w, r, path)
	}
	wrong, ok := uploadWrong(err)
	if !ok {
		return err
	}
	m, err := s.imports(r)
	if err != nil {
		return err
	}
	m.Form = views.ImportForm{DryRun: o.DryRun, Enable: o.Enable, FullList: o.FullList, Wrong: wrong}
	if o.AgainOf != 0 {
		m.Form.AgainOf = idText(o.AgainOf)
	}
	return renderForm(w, r, http.StatusUnprocessableEntity, views.ImportsPage(m), views.UploadWrong(wrong))
}

// uploadWrong gives what is wrong with a list in one sentence, where it is the
// list that is wrong.
func uploadWrong(err error) (string, bool) {
	var invalid *db.InvalidError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return views.TooLargeText(devicelist.MaxBytes), true
	case !errors.As(err, &invalid):
		return "", false
	}
	text := ""
	for _, f := range invalid.Fields {
		if f.Field == "file" {
			text += sentence(f.Message) + " "
			continue
		}
		text += upper(f.Field) + " " + f.Message + ". "
	}
	return text, true
}

// sentence makes a sentence of what may be one already.
func sentence(s string) string {
	if s = upper(s); strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

func importTemplate(s *Server, w http.ResponseWriter, _ *http.Request) error {
	return s.stream(w, "bongsu-template.csv", devicelist.Columns(), func() ([][]string, error) { return nil, nil })
}

func exportPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	f := exportFilter(r)
	m := views.Export{Platform: f.Platform, Tag: f.Tag, User: f.User, State: f.State}
	var err error
	if m.Shell, err = s.shell(r, "imports"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.ExportPage(m))
}

// confirmImport and declineImport answer what a full list asks.
func confirmImport(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	missing, err := strconv.ParseInt(r.PostFormValue("missing"), 10, 64)
	if err != nil {
		return db.Invalid("missing", "must be the number of devices that will be disabled")
	}
	if _, err := s.pages.ConfirmImport(r.Context(), id, missing, r.PostFormValue("again") != "", actorOf(r)); err != nil {
		return err
	}
	return s.doneThen(w, r, views.Said().ImportConfirmed, importHref(id))
}

func declineImport(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actOnImport(w, r, views.Said().ImportDeclined, s.pages.DeclineImport)
}

func cancelImport(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actOnImport(w, r, views.Said().ImportCancelled, s.pages.CancelImport)
}

// actOnImport is actThen for acts that give the import.
func (s *Server) actOnImport(w http.ResponseWriter, r *http.Request, done string, act importAct) error {
	return s.actThen(w, r, done, importHref, func(ctx context.Context, id int64, a db.Actor) error {
		_, err := act(ctx, id, a)
		return err
	})
}

// cancelImportPage asks before an import is cancelled.
func cancelImportPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	i, err := s.pages.Import(r.Context(), id)
	if err != nil {
		return err
	}
	m := views.CancelImportText(i.FileName, i.Processed())
	if m.Shell, err = s.shell(r, "imports"); err != nil {
		return err
	}
	m.Action, m.Back = importHref(id)+"/cancel", importHref(id)
	return render(w, r, http.StatusOK, views.ConfirmPage(m))
}
