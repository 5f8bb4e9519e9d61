package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"bongsu/db"
	"bongsu/db/devicelist"
)

// Batches of what is streamed as CSV, in rows.
const csvBatch = 1000

// stream sends rows of CSV as more gives them, until it gives none. It may last
// longer than a page: each batch has the limit of an idle connection. A file that
// is cut off must not look whole, so the connection is cut where a batch fails.
func (s *Server) stream(w http.ResponseWriter, name string, columns []string, more func() ([][]string, error)) error {
	first, err := more()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	out, control := devicelist.NewWriter(w, columns), http.NewResponseController(w)
	for rows := first; len(rows) > 0; {
		if err := control.SetWriteDeadline(time.Now().Add(s.limits.UploadIdle)); err != nil {
			return err
		}
		for _, r := range rows {
			if err := out.Write(r); err != nil {
				return err // the reader has left
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if rows, err = more(); err != nil {
			s.log.Error("a file was cut off", "file", name, "error", err)
			panic(http.ErrAbortHandler)
		}
	}
	return out.Flush()
}

// rejectedCSV sends the rows of an import that did not go in: the list's own
// columns, and why. Mended, it can be uploaded as it is.
func rejectedCSV(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	i, err := s.pages.Import(r.Context(), id)
	if err != nil {
		return err
	}
	after := int64(0)
	return s.stream(w, "import-"+idText(id)+"-rejected.csv", append([]string{"row", "rejected because"}, i.Columns...), func() ([][]string, error) {
		list, err := s.pages.ImportRejects(r.Context(), id, after, csvBatch)
		var rows [][]string
		for _, x := range list {
			after = x.Row
			why := []string{strconv.FormatInt(x.Row, 10), strings.TrimSpace(x.Column + " " + x.Message)}
			rows = append(rows, append(why, x.Cells...))
		}
		return rows, err
	})
}

// apiRejectedCSV is GET /imports/{id}/rejected.
func apiRejectedCSV(s *Server, w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	return rejectedCSV(s, w, r)
}

// exportFilter reads which devices are wanted out of r's address.
func exportFilter(r *http.Request) db.ExportFilter {
	return db.ExportFilter{Platform: r.FormValue("platform"), Tag: strings.TrimSpace(r.FormValue("tag")),
		User: strings.TrimSpace(r.FormValue("user")), State: r.FormValue("state")}
}

// devicesCSV sends devices with their addresses, in the columns that an import
// reads.
func devicesCSV(s *Server, w http.ResponseWriter, r *http.Request) error {
	f := exportFilter(r)
	if err := s.pages.BeginExport(r.Context(), f, actorOf(r)); err != nil {
		return err
	}
	after := int64(0)
	return s.stream(w, "bongsu-devices.csv", devicelist.Columns(), func() ([][]string, error) {
		list, err := s.pages.ExportDevices(r.Context(), f, after, csvBatch)
		var rows [][]string
		for _, d := range list {
			after = d.ID
			rows = append(rows, devicelist.Device{Token: d.Token, Platform: d.Platform, User: d.Person, Tags: d.Tags, Consent: d.Consent,
				Installation: d.Installation, Vendor: d.Kind, Environment: d.Environment, P256dh: d.P256dh, Auth: d.Auth}.Cells())
		}
		return rows, err
	})
}

// apiDevicesCSV is GET /devices/export.
func apiDevicesCSV(s *Server, w http.ResponseWriter, r *http.Request) error {
	q := query(r, "platform", "tag", "user", "state")
	if err := q.faults.err(); err != nil {
		return err
	}
	return devicesCSV(s, w, r)
}
