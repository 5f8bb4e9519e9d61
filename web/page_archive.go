package web

import (
	"net/http"
	"strconv"

	"bongsu/db"
	"bongsu/views"
)

// archivePage lists failed deliveries: how many for each reason, then the rows.
func archivePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	f, err := archiveFilter(r)
	if err != nil {
		return err
	}
	reasons, err := s.pages.ArchiveReasons(r.Context(), f.Notice)
	if err != nil {
		return err
	}
	n, err := s.pages.ArchiveCount(r.Context(), f)
	if err != nil {
		return err
	}
	cursor := r.FormValue("cursor")
	list, err := s.pages.Archive(r.Context(), f, cursor, pageSize)
	if err != nil {
		return err
	}
	m := shapeArchive(f, reasons, list)
	m.Matched, m.CanReplay = n, may(r).Archive
	m.FirstHref = firstHref(archiveHref(m.Notice, m.Reason, m.Code), cursor)
	if m.Shell, err = s.shell(r, "archive"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.ArchivePage(m))
}

func shapeArchive(f db.ArchiveFilter, reasons []db.ReasonCount, list db.Page[db.ArchivedDelivery]) views.Archive {
	m := views.Archive{Reason: f.Reason, Code: f.Code}
	if f.Notice != nil {
		m.Notice = idText(*f.Notice)
	}
	for _, g := range reasons {
		m.Groups = append(m.Groups, views.ArchiveGroup{Reason: g.Reason, N: g.N, On: g.Reason == f.Reason,
			Href: archiveHref(m.Notice, g.Reason, "")})
	}
	for _, d := range list.Items {
		row := deliveryRow(d.Delivery)
		row.NoticeTitle = d.NoticeTitle
		m.Items = append(m.Items, row)
	}
	m.NextHref = nextHref("/archive", archiveQuery(m.Notice, m.Reason, m.Code), list.Next)
	return m
}

// archiveFilter reads the filters of the address or the form. An empty one
// selects all; a number that is none is an *InvalidError.
func archiveFilter(r *http.Request) (db.ArchiveFilter, error) {
	f := db.ArchiveFilter{Reason: r.FormValue("reason"), Code: r.FormValue("code")}
	if text := r.FormValue("notice"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return f, db.Invalid("notice", "must be the number of a notice")
		}
		f.Notice = &id
	}
	return f, nil
}
