package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"bongsu/db"
)

type importJSON struct {
	ID         int64            `json:"id"`
	State      string           `json:"state"`
	Phase      string           `json:"phase,omitempty"`
	Total      int64            `json:"total"`
	TotalKnown bool             `json:"total_known"`
	Processed  int64            `json:"processed"`
	Created    int64            `json:"created"`
	Updated    int64            `json:"updated"`
	Unchanged  int64            `json:"unchanged"`
	Rejected   int64            `json:"rejected"`
	Doubled    int64            `json:"doubled"`
	Reasons    map[string]int64 `json:"reasons"`
	Missing    int64            `json:"missing"`
	Disabled   int64            `json:"disabled"`
	DryRun     bool             `json:"dry_run"`
	Enable     bool             `json:"enable"`
	FullList   bool             `json:"full_list"`
	AgainOf    *int64           `json:"again_of,omitempty"`
	File       string           `json:"file,omitempty"`
	Bytes      int64            `json:"bytes"`
	BytesRead  int64            `json:"bytes_read"`
	Ignored    []string         `json:"ignored_columns"`
	Error      *importErrorJSON `json:"error,omitempty"`
	AcceptedBy string           `json:"accepted_by"`
	AcceptedAt time.Time        `json:"accepted_at"`
	StartedAt  *time.Time       `json:"started_at"`
	FinishedAt *time.Time       `json:"finished_at"`
}

type importErrorJSON struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func shapeImport(i db.Import, reasons []db.ImportReason) importJSON {
	out := importJSON{
		ID: i.ID, State: i.State, Total: i.Total, TotalKnown: i.TotalKnown, Processed: i.Processed(), Created: i.Created,
		Updated: i.Updated, Unchanged: i.Unchanged, Rejected: i.Rejected, Doubled: i.Doubled, Reasons: map[string]int64{},
		Missing: i.Missing, Disabled: i.Disabled, DryRun: i.DryRun, Enable: i.Enable, FullList: i.FullList, AgainOf: i.AgainOf,
		File: i.FileName, Bytes: i.FileSize, BytesRead: i.BytesRead, Ignored: orNone(i.Ignored),
		AcceptedBy: i.AcceptedByName, AcceptedAt: i.AcceptedAt.UTC(), StartedAt: utc(i.StartedAt), FinishedAt: utc(i.FinishedAt),
	}
	if i.State == db.ImportRunning {
		out.Phase = i.Phase
	}
	for _, r := range reasons {
		out.Reasons[r.Reason] = r.N
	}
	if i.ErrorCode != nil {
		out.Error = &importErrorJSON{*i.ErrorCode, textOf(i.ErrorMessage)}
	}
	return out
}

// writeImport answers with an import as it is now.
func (s *Server) writeImport(w http.ResponseWriter, r *http.Request, status int, i db.Import) error {
	reasons, err := s.pages.ImportReasons(r.Context(), i.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Location", apiRoot+importHref(i.ID))
	return writeJSON(w, status, shapeImport(i, reasons))
}

// apiAcceptImport is POST /imports.
func apiAcceptImport(s *Server, w http.ResponseWriter, r *http.Request) error {
	i, _, err := s.acceptUpload(w, r)
	if err != nil {
		return err
	}
	if i.Original {
		w.Header().Set("Idempotent-Replayed", "true")
		return s.writeImport(w, r, http.StatusOK, i.Import)
	}
	return s.writeImport(w, r, http.StatusAccepted, i.Import)
}

// importStates are the states by which imports can be listed.
var importStates = []string{db.ImportPending, db.ImportRunning, db.ImportDone, db.ImportFailed, db.ImportCancelled}

// apiImports is GET /imports.
func apiImports(s *Server, w http.ResponseWriter, r *http.Request) error {
	q := query(r, "state", "by", "limit", "cursor")
	cursor, limit := q.page()
	f := db.ImportFilter{By: q.values.Get("by"), State: q.values.Get("state")}
	if f.State != "" && !slices.Contains(importStates, f.State) {
		q.faults.say("state", "must be pending, running, done, failed or cancelled")
	}
	if err := q.faults.err(); err != nil {
		return err
	}
	p, err := s.pages.Imports(r.Context(), f, cursor, limit)
	if err != nil {
		return err
	}
	return writePage(w, p, func(i db.Import) importJSON { return shapeImport(i, nil) })
}

// apiImport is GET /imports/{id}.
func apiImport(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := noQuery(r); err != nil {
		return err
	}
	i, err := s.pages.Import(r.Context(), id)
	if err != nil {
		return err
	}
	return s.writeImport(w, r, http.StatusOK, i)
}

type importAct func(context.Context, int64, db.Actor) (db.Import, error)

// apiActOnImport makes the handlers of POST /imports/{id}/cancel and /decline.
func apiActOnImport(act func(*db.DB, context.Context, int64, db.Actor) (db.Import, error)) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r)
		if err != nil {
			return err
		}
		if err := noQuery(r); err != nil {
			return err
		}
		i, err := act(s.pages, r.Context(), id, actorOf(r))
		if err != nil {
			return err
		}
		return s.writeImport(w, r, http.StatusOK, i)
	}
}

// apiConfirmImport is POST /imports/{id}/confirm.
func apiConfirmImport(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	raw, err := readJSON(r)
	if err != nil {
		return err
	}
	var f faults
	o := newObject(raw, "", &f)
	missing := o.requiredNumber("missing")
	again := o.flag("again")
	o.end()
	if err := f.err(); err != nil {
		return err
	}
	i, err := s.pages.ConfirmImport(r.Context(), id, missing, again != nil && *again, actorOf(r))
	if err != nil {
		return err
	}
	return s.writeImport(w, r, http.StatusOK, i)
}

func importHref(id int64) string { return "/imports/" + idText(id) }
