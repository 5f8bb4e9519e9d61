package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"bongsu/db"
	"bongsu/views"
)

// auditTime is how the filter's fields write a moment, in UTC.
const auditTime = "2006-01-02T15:04"

// auditFilter reads the filter out of r's address, and says beside which field
// something is wrong.
func auditFilter(r *http.Request) (f db.AuditFilter, m views.Audit) {
	m = views.Audit{Who: strings.TrimSpace(r.FormValue("who")), Act: strings.TrimSpace(r.FormValue("act")),
		Object: strings.TrimSpace(r.FormValue("object")), Result: r.FormValue("result"), From: r.FormValue("from"), To: r.FormValue("to")}
	f = db.AuditFilter{Who: m.Who, Act: m.Act, Object: m.Object, Result: m.Result}
	f.From, m.FromWrong = auditMoment(m.From)
	f.To, m.ToWrong = auditMoment(m.To)
	m.Narrowed = m.Who+m.Act+m.Object+m.Result+m.From+m.To != ""
	return f, m
}

func auditMoment(text string) (*time.Time, string) {
	if text == "" {
		return nil, ""
	}
	t, err := time.Parse(auditTime, text)
	if err != nil {
		return nil, views.Said().BadTime
	}
	return &t, ""
}

func auditQuery(m views.Audit) url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"who": m.Who, "act": m.Act, "object": m.Object, "result": m.Result, "from": m.From, "to": m.To} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

func auditPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	f, m := auditFilter(r)
	status := http.StatusUnprocessableEntity
	if m.FromWrong+m.ToWrong == "" {
		status = http.StatusOK
		cursor := r.FormValue("cursor")
		list, err := s.pages.Audit(r.Context(), f, cursor, pageSize)
		if err != nil {
			return err
		}
		for _, e := range list.Items {
			m.Items = append(m.Items, auditRow(e))
		}
		q := auditQuery(m)
		m.NextHref = nextHref("/audit", q, list.Next)
		m.CSVHref = "/audit.csv?" + q.Encode()
		if cursor != "" {
			m.FirstHref = "/audit?" + q.Encode()
		}
	}
	var err error
	if m.Shell, err = s.shell(r, "audit"); err != nil {
		return err
	}
	return render(w, r, status, views.AuditPage(m))
}

func auditRow(e db.AuditEntry) views.AuditRow {
	row := views.AuditRow{At: stamp(e.At), Name: e.ActorName, Actor: e.Actor, Role: string(e.Role), Act: e.Act, Object: e.Object,
		ObjectHref: objectHref(e.Object), Result: e.Result, RequestID: textOf(e.RequestID)}
	for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
		if v := e.Detail[name]; v != nil {
			row.Detail = append(row.Detail, views.DetailRow{Name: strings.ReplaceAll(name, "_", " "), Value: fmt.Sprint(v)})
		}
	}
	return row
}

// objectHref is where what an act was about can be seen; "" where nowhere.
func objectHref(object string) string {
	kind, id, _ := strings.Cut(object, ":")
	switch kind {
	case "notice":
		return "/notices/" + id
	case "device":
		return "/devices/" + id
	case "user":
		if id != "0" {
			return "/users/" + id
		}
	case "import":
		return "/imports/" + id
	case "token":
		return "/tokens"
	case "replay":
		return "/archive/replays/" + id
	}
	return ""
}

// auditCSV streams the filtered log as a file for a spreadsheet.
func auditCSV(s *Server, w http.ResponseWriter, r *http.Request) error {
	f, m := auditFilter(r)
	if m.FromWrong+m.ToWrong != "" {
		return db.Invalid("from, to", "%s", m.FromWrong+m.ToWrong)
	}
	columns := []string{"at", "who", "actor", "role", "act", "object", "result", "detail", "request_id"}
	cursor, more := "", true
	return s.stream(w, "bongsu-log.csv", columns, func() (rows [][]string, err error) {
		if !more {
			return nil, nil
		}
		list, err := s.pages.Audit(r.Context(), f, cursor, csvBatch)
		cursor, more = list.Next, list.Next != ""
		for _, e := range list.Items {
			rows = append(rows, auditCells(e))
		}
		return rows, err
	})
}

func auditCells(e db.AuditEntry) []string {
	var detail []string
	for _, d := range auditRow(e).Detail {
		detail = append(detail, d.Name+": "+d.Value)
	}
	return []string{e.At.UTC().Format(time.RFC3339Nano), e.ActorName, e.Actor, string(e.Role), e.Act, e.Object, e.Result,
		strings.Join(detail, "; "), textOf(e.RequestID)}
}
