package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"bongsu/db"
	"bongsu/views"
)

// replayLines is how many runs the archive's page names.
const replayLines = 5

// archivePage lists failed deliveries: how many for each reason, then the rows. A
// filter that is wrong is said beside its field.
func archivePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	f, m := archiveFilter(r)
	status := http.StatusUnprocessableEntity
	if len(m.Wrong) == 0 {
		status = http.StatusOK
		if err := s.fillArchive(r, f, &m); err != nil {
			return err
		}
	}
	runs, err := s.pages.Replays(r.Context(), replayLines)
	if err != nil {
		return err
	}
	for _, p := range runs {
		m.Runs = append(m.Runs, shapeReplayRun(p))
	}
	m.CanReplay = may(r).Archive
	if m.Shell, err = s.shell(r, "archive"); err != nil {
		return err
	}
	return render(w, r, status, views.ArchivePage(m))
}

// fillArchive reads what f selects.
func (s *Server) fillArchive(r *http.Request, f db.ArchiveFilter, m *views.Archive) error {
	var reasons []db.ReasonCount
	var err error
	if f.Tallied() { // the numbers by reason know of no other filter
		if reasons, err = s.pages.ArchiveReasons(r.Context(), f.Notice); err != nil {
			return err
		}
	}
	if m.Matched, err = s.pages.ArchiveCount(r.Context(), f); err != nil {
		return err
	}
	cursor := r.FormValue("cursor")
	list, err := s.pages.Archive(r.Context(), f, cursor, pageSize)
	if err != nil {
		return err
	}
	for _, g := range reasons {
		m.Groups = append(m.Groups, views.ArchiveGroup{Reason: g.Reason, N: g.N, On: g.Reason == f.Reason, FirstAt: stampOf(g.FirstAt), LastAt: stampOf(g.LastAt),
			Href: archiveHref(m.Filter.Notice, g.Reason, "")})
	}
	for _, d := range list.Items {
		row := deliveryRow(d.Delivery)
		row.NoticeTitle = d.NoticeTitle
		m.Items = append(m.Items, row)
	}
	q := filterQuery(m.Filter)
	m.NextHref = nextHref("/archive", q, list.Next)
	m.CSVHref = "/archive.csv?" + q.Encode()
	if cursor != "" {
		m.FirstHref = "/archive?" + q.Encode()
	}
	return nil
}

// archiveFilter reads the filters of the address or the form; an empty one selects
// all. What is wrong is in the model, beside its field.
func archiveFilter(r *http.Request) (f db.ArchiveFilter, m views.Archive) {
	m.Filter = views.ArchiveFilter{Notice: strings.TrimSpace(r.FormValue("notice")), Reason: r.FormValue("reason"),
		Code: strings.TrimSpace(r.FormValue("code")), Platform: r.FormValue("platform"), Since: r.FormValue("since"), Until: r.FormValue("until")}
	m.Wrong = map[string]string{}
	f = db.ArchiveFilter{Reason: m.Filter.Reason, Code: m.Filter.Code, Platform: m.Filter.Platform}
	if text := m.Filter.Notice; text != "" {
		id, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64)
		if err != nil {
			m.Wrong["notice"] = views.Said().BadNotice
		}
		f.Notice = &id
	}
	for name, to := range map[string]**time.Time{"since": &f.Since, "until": &f.Until} {
		at, wrong := auditMoment(r.FormValue(name))
		if *to = at; wrong != "" {
			m.Wrong[name] = wrong
		}
	}
	for _, bad := range fieldsOf(f.Check()) {
		m.Wrong[bad.Field] = bad.Message
	}
	return f, m
}

// fieldsOf are the fields that err says are wrong; none where it says something
// else.
func fieldsOf(err error) []db.FieldError {
	var invalid *db.InvalidError
	if errors.As(err, &invalid) {
		return invalid.Fields
	}
	return nil
}

// archiveFilterOf is archiveFilter for whoever cannot show what is wrong: then it
// is an *InvalidError.
func archiveFilterOf(r *http.Request) (db.ArchiveFilter, views.ArchiveFilter, error) {
	f, m := archiveFilter(r)
	for name, message := range m.Wrong {
		return f, m.Filter, db.Invalid(name, "%s", message)
	}
	return f, m.Filter, nil
}

// filterQuery is the address's part for a filter.
func filterQuery(f views.ArchiveFilter) url.Values {
	q := archiveQuery(f.Notice, f.Reason, f.Code)
	for name, value := range map[string]string{"platform": f.Platform, "since": f.Since, "until": f.Until} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// filterShown is a filter as the pages show it.
func filterShown(f *db.ArchiveFilter) (m views.ArchiveFilter) {
	if f == nil {
		return m
	}
	m = views.ArchiveFilter{Reason: f.Reason, Code: f.Code, Platform: f.Platform}
	if f.Notice != nil {
		m.Notice = idText(*f.Notice)
	}
	if f.Since != nil {
		m.Since = f.Since.UTC().Format(auditTime)
	}
	if f.Until != nil {
		m.Until = f.Until.UTC().Format(auditTime)
	}
	return m
}

// archiveCSV streams what the filter selects as a file for a spreadsheet.
func archiveCSV(s *Server, w http.ResponseWriter, r *http.Request) error {
	f, _, err := archiveFilterOf(r)
	if err != nil {
		return err
	}
	if err := s.pages.BeginArchiveExport(r.Context(), f, actorOf(r)); err != nil {
		return err
	}
	columns := []string{"notice", "title", "device", "platform", "device_disabled", "reason", "code", "message", "attempts", "generation", "possibly_told_twice", "failed_at"}
	cursor, more := "", true
	return s.stream(w, "bongsu-archive.csv", columns, func() (rows [][]string, err error) {
		if !more {
			return nil, nil
		}
		list, err := s.pages.Archive(r.Context(), f, cursor, csvBatch)
		cursor, more = list.Next, list.Next != ""
		for _, d := range list.Items {
			rows = append(rows, archiveCells(d))
		}
		return rows, err
	})
}

func archiveCells(d db.ArchivedDelivery) []string {
	return []string{idText(d.NoticeID), d.NoticeTitle, idText(d.DeviceID), d.Platform, yesNo(d.DeviceDisabled), textOf(d.Reason), textOf(d.Code),
		textOf(d.Message), strconv.Itoa(d.Attempts), strconv.Itoa(d.Generation), yesNo(d.Twice), stampOf(d.FailedAt)}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
