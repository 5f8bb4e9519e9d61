package web

import (
	"net/http"
	"net/url"
	"time"

	"bongsu/db"
	"bongsu/views"
)

// rejectsShown is how many rejected rows the page shows.
const rejectsShown = 1000

// importStalled is how long an import may show no progress before its page says so.
const importStalled = time.Minute

func importPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.importRun(r)
	if err != nil {
		return err
	}
	m := views.Import{Run: run, Original: r.FormValue("original") != ""}
	if !run.Live && run.Rejected > 0 {
		if err := s.addRejects(r, &m); err != nil {
			return err
		}
	}
	if m.Shell, err = s.shell(r, "imports"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.ImportPage(m))
}

func (s *Server) addRejects(r *http.Request, m *views.Import) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	list, err := s.pages.ImportRejects(r.Context(), id, 0, rejectsShown+1)
	if err != nil {
		return err
	}
	if m.More = len(list) > rejectsShown; m.More {
		list = list[:rejectsShown]
	}
	for _, x := range list {
		m.Rejects = append(m.Rejects, views.RejectedRow{Row: x.Row, Column: x.Column, Value: x.Value, Message: x.Message})
	}
	m.CSVHref = importHref(id) + "/rejected.csv"
	return nil
}

// importFragment answers the page's look at what has changed: nothing where the
// reader has it already. At the end the whole page is asked for, which holds the
// rejected rows.
func importFragment(s *Server, w http.ResponseWriter, r *http.Request) error {
	run, version, err := s.importRun(r)
	if err != nil {
		return err
	}
	if r.FormValue("v") == version && run.Live {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if !run.Live && run.Rejected > 0 {
		return seeOther(w, r, "/imports/"+run.ID)
	}
	return render(w, r, http.StatusOK, views.ImportPart(run))
}

// importRun reads an import and shapes its live part; version names what that
// holds.
func (s *Server) importRun(r *http.Request) (run views.ImportRun, version string, err error) {
	id, err := pathID(r)
	if err != nil {
		return run, "", err
	}
	i, err := s.pages.Import(r.Context(), id)
	if err != nil {
		return run, "", err
	}
	reasons, err := s.pages.ImportReasons(r.Context(), id)
	if err != nil {
		return run, "", err
	}
	run = shapeImportRun(i, may(r))
	for _, g := range reasons {
		run.Reasons = append(run.Reasons, views.ReasonGroup{Reason: g.Reason, N: g.N})
	}
	if run.Live && !run.Asks {
		if err := s.addImportTrouble(r, &run, i); err != nil {
			return run, "", err
		}
	}
	rate, next := parseWindow(r.FormValue("w")).next(sample{i.Total + i.Processed(), i.Now})
	if run.Live && !run.Asks {
		run.Rate = int64(rate)
		if rate >= 1 && i.TotalKnown {
			run.Left = int64(float64(i.Total-i.Processed())/rate) + 1
		}
	}
	version = digest(run)
	run.PollEvery = pollEvery(i.Now.Sub(i.AcceptedAt))
	run.PollHref = importHref(id) + "/progress?" + url.Values{"v": {version}, "w": {next.text()}}.Encode()
	return run, version, nil
}

func shapeImportRun(i db.Import, can views.Can) views.ImportRun {
	run := views.ImportRun{
		ID: idText(i.ID), File: i.FileName, State: i.State, Phase: i.Phase, By: i.AcceptedByName, AcceptedAt: stamp(i.AcceptedAt),
		StartedAt: stampOf(i.StartedAt), FinishedAt: stampOf(i.FinishedAt), EndedBy: textOf(i.EndedByName),
		DryRun: i.DryRun, Enable: i.Enable, FullList: i.FullList, Bytes: i.FileSize, BytesRead: min(i.BytesRead, i.FileSize),
		Total: i.Total, TotalKnown: i.TotalKnown, Created: i.Created, Updated: i.Updated, Unchanged: i.Unchanged,
		Rejected: i.Rejected, Doubled: i.Doubled, Missing: i.Missing, Enabled: i.Enabled, Disabled: i.Disabled,
		Ignored: i.Ignored, Error: textOf(i.ErrorMessage), Live: !i.Ended(), CanAct: can.Send, ConfirmedBy: textOf(i.ConfirmedByName),
	}
	if i.AgainOf != nil {
		run.AgainOf = idText(*i.AgainOf)
	}
	run.Asks = i.State == db.ImportRunning && i.Phase == "confirm"
	run.AsksTwice = run.Asks && i.ManyMissing()
	return run
}

// addImportTrouble says what an import waits for.
func (s *Server) addImportTrouble(r *http.Request, run *views.ImportRun, i db.Import) error {
	st, err := s.pages.Status(r.Context())
	if err != nil {
		return err
	}
	run.QueueDown, run.NoWorker = st.QueueDownSince != nil, len(st.Workers) == 0
	if i.Now.Sub(i.ProgressAt) > importStalled {
		run.StalledSince = stamp(i.ProgressAt)
	}
	return nil
}
