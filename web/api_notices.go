package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"bongsu/db"
)

// apiAcceptNotice is POST /notices.
func apiAcceptNotice(s *Server, w http.ResponseWriter, r *http.Request) error {
	key, err := clientKey(r)
	if err != nil {
		return err
	}
	if err := noQuery(r); err != nil {
		return err
	}
	d, err := readDraft(r)
	if err != nil {
		return err
	}
	a, err := s.accept(r, d, key)
	if err != nil {
		return err
	}
	j := shapeNotice(a.Notice, a.Counts)
	w.Header().Set("Location", noticePath(a.Notice.ID))
	if !a.Replayed {
		return writeJSON(w, http.StatusAccepted, j)
	}
	w.Header().Set("Idempotent-Replayed", "true")
	j.NewestRepeat = &repeatJSON{a.Newest, a.NewestState}
	return writeJSON(w, http.StatusOK, j)
}

func noticePath(id int64) string { return fmt.Sprintf("%s/notices/%d", apiRoot, id) }

// clientKey reads the Idempotency-Key that a program may send; nil is none.
func clientKey(r *http.Request) (*db.ClientKey, error) {
	all := r.Header.Values("Idempotency-Key")
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // no key was sent
	}
	key := all[0]
	for _, c := range []byte(key) {
		if c < 0x20 || c > 0x7e {
			key = ""
		}
	}
	if len(all) > 1 || key == "" || len(key) > 255 {
		return nil, db.Invalid("Idempotency-Key", "must be given once, with 1 to 255 printable ASCII characters")
	}
	return &db.ClientKey{TokenID: stateOf(r.Context()).token, Key: key}, nil
}

// readDraft reads the body of POST /notices.
func readDraft(r *http.Request) (db.Draft, error) {
	raw, err := readJSON(r)
	if err != nil {
		return db.Draft{}, err
	}
	var f faults
	o := newObject(raw, "", &f)
	d := db.Draft{
		Title: orEmpty(o.text("title")), Body: orEmpty(o.text("body")), Link: orEmpty(o.text("link")),
		Category: orEmpty(o.text("category")), ExpiresAt: o.moment("expires_at"), RepeatOf: o.number("repeat_of"),
	}
	if a := o.part("audience"); a != nil {
		if p := a.texts("platforms"); p != nil {
			d.Audience.Platforms = *p
		}
		if t := a.texts("tags"); t != nil {
			d.Audience.Tags = *t
		}
		a.end()
	}
	o.end()
	return d, f.err()
}

// apiNotices is GET /notices.
func apiNotices(s *Server, w http.ResponseWriter, r *http.Request) error {
	q := query(r, "limit", "cursor")
	cursor, limit := q.page()
	if err := q.faults.err(); err != nil {
		return err
	}
	p, err := s.pages.Notices(r.Context(), cursor, limit)
	if err != nil {
		return err
	}
	return writePage(w, p, func(row db.NoticeRow) noticeJSON { return shapeNotice(row.Notice, row.Counts) })
}

// apiNotice is GET /notices/{id}.
func apiNotice(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := noQuery(r); err != nil {
		return err
	}
	n, c, err := s.pages.Notice(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, shapeNotice(n, c))
}

// apiActOn makes the handler of an act that moves a notice to another state.
func apiActOn(act func(d *db.DB, ctx context.Context, id int64, by db.Actor) (db.Notice, db.Counts, error)) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request) error {
		id, err := pathID(r)
		if err != nil {
			return err
		}
		if err := errors.Join(noQuery(r), noBody(r)); err != nil {
			return err
		}
		n, c, err := act(s.pages, r.Context(), id, actorOf(r))
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, shapeNotice(n, c))
	}
}

// apiDeliveries is GET /notices/{id}/deliveries.
func apiDeliveries(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	q := query(r, "status", "limit", "cursor")
	cursor, limit := q.page()
	if err := q.faults.err(); err != nil {
		return err
	}
	p, err := s.pages.Deliveries(r.Context(), id, q.values.Get("status"), cursor, limit)
	if err != nil {
		return err
	}
	return writePage(w, p, shapeDelivery)
}

// apiResolveUnknown is POST /notices/{id}/unknown: an operator decides about
// deliveries whose end nobody knows.
func apiResolveUnknown(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := noQuery(r); err != nil {
		return err
	}
	raw, err := readJSON(r)
	if err != nil {
		return err
	}
	var f faults
	o := newObject(raw, "", &f)
	action, devices := orEmpty(o.text("action")), o.numbers("devices")
	o.end()
	if err := f.err(); err != nil {
		return err
	}
	n, err := s.pages.ResolveUnknown(r.Context(), id, action, devices, actorOf(r))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, resolvedJSON{n})
}

type resolvedJSON struct {
	Resolved int64 `json:"resolved"`
}
