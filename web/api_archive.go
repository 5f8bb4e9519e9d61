package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"bongsu/db"
)

type archivedJSON struct {
	deliveryJSON
	NoticeTitle    string `json:"notice_title"`
	Platform       string `json:"platform"`
	DeviceDisabled bool   `json:"device_disabled"`
}

func shapeArchived(d db.ArchivedDelivery) archivedJSON {
	return archivedJSON{shapeDelivery(d.Delivery), d.NoticeTitle, d.Platform, d.DeviceDisabled}
}

type replayJSON struct {
	ID         int64            `json:"id"`
	State      string           `json:"state"`
	Matched    int64            `json:"matched"`
	Replayed   int64            `json:"replayed"`
	Skipped    map[string]int64 `json:"skipped"`
	Failed     int64            `json:"failed_again"`
	AskedBy    string           `json:"asked_by"`
	AskedAt    time.Time        `json:"asked_at"`
	FinishedAt *time.Time       `json:"finished_at"`
}

func shapeReplay(p db.Replay) replayJSON {
	skipped := p.Skipped
	if skipped == nil {
		skipped = map[string]int64{}
	}
	return replayJSON{p.ID, p.State, p.Matched, p.Replayed, skipped, p.FailedAgain, p.AskedByName, p.AskedAt.UTC(), utc(p.FinishedAt)}
}

// apiArchive is GET /archive?notice=&reason=&code=&platform=&since=&until=.
func apiArchive(s *Server, w http.ResponseWriter, r *http.Request) error {
	q := query(r, "notice", "reason", "code", "platform", "since", "until", "limit", "cursor")
	cursor, limit := q.page()
	f := db.ArchiveFilter{Notice: q.number("notice"), Reason: q.values.Get("reason"), Code: q.values.Get("code"),
		Platform: q.values.Get("platform"), Since: q.moment("since"), Until: q.moment("until")}
	if err := q.faults.err(); err != nil {
		return err
	}
	p, err := s.pages.Archive(r.Context(), f, cursor, limit)
	if err != nil {
		return err
	}
	return writePage(w, p, shapeArchived)
}

// apiStartReplay is POST /archive/replays.
func apiStartReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	pairs, filter, err := readReplay(r)
	if err != nil {
		return err
	}
	var started db.Replay
	if filter != nil {
		started, err = s.pages.StartReplayFilter(r.Context(), *filter, actorOf(r))
	} else {
		started, err = s.pages.StartReplayItems(r.Context(), pairs, actorOf(r))
	}
	if err != nil {
		return err
	}
	w.Header().Set("Location", fmt.Sprintf("%s/archive/replays/%d", apiRoot, started.ID))
	return writeJSON(w, http.StatusAccepted, shapeReplay(started))
}

// readReplay reads which deliveries to replay: those listed, or those that a
// filter selects. Exactly one of the two comes back.
func readReplay(r *http.Request) (pairs []db.Pair, filter *db.ArchiveFilter, err error) {
	raw, err := readJSON(r)
	if err != nil {
		return nil, nil, err
	}
	var f faults
	o := newObject(raw, "", &f)
	listed := o.list("deliveries", func(raw json.RawMessage, path string) { pairs = append(pairs, readPair(raw, path, &f)) })
	if part := o.part("filter"); part != nil {
		filter = &db.ArchiveFilter{Notice: part.number("notice"), Reason: orEmpty(part.text("reason")), Code: orEmpty(part.text("code")),
			Platform: orEmpty(part.text("platform")), Since: part.moment("since"), Until: part.moment("until")}
		part.end()
	}
	o.end()
	if f.fields == nil && listed == (filter != nil) {
		f.say("deliveries", "or filter must be given, and not both")
	}
	return pairs, filter, f.err()
}

func readPair(raw json.RawMessage, path string, f *faults) db.Pair {
	o := newObject(raw, path, f)
	p := db.Pair{NoticeID: o.requiredNumber("notice_id"), DeviceID: o.requiredNumber("device_id")}
	o.end()
	return p
}

// apiReplay is GET /archive/replays/{id}.
func apiReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := noQuery(r); err != nil {
		return err
	}
	p, err := s.pages.Replay(r.Context(), id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, shapeReplay(p))
}

// apiPauseReplay, apiResumeReplay and apiCancelReplay are POST
// /archive/replays/{id}/pause and so on.
func apiPauseReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	return apiActOnReplay(w, r, s.pages.PauseReplay)
}

func apiResumeReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	return apiActOnReplay(w, r, s.pages.ResumeReplay)
}

func apiCancelReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	return apiActOnReplay(w, r, s.pages.CancelReplay)
}

func apiActOnReplay(w http.ResponseWriter, r *http.Request, act func(context.Context, int64, db.Actor) (db.Replay, error)) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	if err := errors.Join(noQuery(r), noBody(r)); err != nil {
		return err
	}
	p, err := act(r.Context(), id, actorOf(r))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, shapeReplay(p))
}
