package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"bongsu/db"
	"bongsu/views"
)

// startReplay puts archived deliveries back: the one whose button was pressed,
// those that were chosen, or all that match the filters.
func startReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	names := r.PostForm["delivery"]
	if one := r.PostForm.Get("one"); one != "" {
		names = []string{one}
	}
	var run db.Replay
	var err error
	switch {
	case r.PostForm.Get("act") == "all":
		run, err = s.replayMatching(r)
	case len(names) == 0:
		return s.notDone(w, r, views.Said().ChooseFirst, "/archive")
	default:
		run, err = s.replayNamed(r, names)
	}
	if err != nil {
		return err
	}
	return seeOther(w, r, replayHref(run.ID))
}

func (s *Server) replayMatching(r *http.Request) (db.Replay, error) {
	f, err := archiveFilter(r)
	if err != nil {
		return db.Replay{}, err
	}
	return s.pages.StartReplayFilter(r.Context(), f, actorOf(r))
}

// replayNamed takes names such as 17-4711: notice and device.
func (s *Server) replayNamed(r *http.Request, names []string) (db.Replay, error) {
	pairs := make([]db.Pair, len(names))
	for i, name := range names {
		notice, device, _ := strings.Cut(name, "-")
		n, err1 := strconv.ParseInt(notice, 10, 64)
		d, err2 := strconv.ParseInt(device, 10, 64)
		if err1 != nil || err2 != nil {
			return db.Replay{}, db.Invalid("delivery", "must be a notice and a device, such as 17-4711")
		}
		pairs[i] = db.Pair{NoticeID: n, DeviceID: d}
	}
	return s.pages.StartReplayItems(r.Context(), pairs, actorOf(r))
}

func replayPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.replayRun(r)
	if err != nil {
		return err
	}
	m := views.Replay{Run: run}
	if m.Shell, err = s.shell(r, "archive"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.ReplayPage(m))
}

// replayFragment answers the page's look at what has changed: nothing where the
// reader has it already.
func replayFragment(s *Server, w http.ResponseWriter, r *http.Request) error {
	run, version, err := s.replayRun(r)
	if err != nil {
		return err
	}
	if r.FormValue("v") == version && run.Live {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return render(w, r, http.StatusOK, views.ReplayPart(run))
}

// replayRun reads a replay and shapes it; version names what the shape holds.
func (s *Server) replayRun(r *http.Request) (run views.ReplayRun, version string, err error) {
	id, err := pathID(r)
	if err != nil {
		return run, "", err
	}
	p, err := s.pages.Replay(r.Context(), id)
	if err != nil {
		return run, "", err
	}
	run = views.ReplayRun{
		ID: idText(p.ID), State: p.State, Matched: p.Matched, Replayed: p.Replayed, AskedBy: p.AskedByName,
		AskedAt: stamp(p.AskedAt), FinishedAt: stampOf(p.FinishedAt), Live: p.State != "done",
	}
	for reason, n := range p.Skipped {
		run.Skipped = append(run.Skipped, views.ReasonGroup{Reason: reason, N: n})
	}
	slices.SortFunc(run.Skipped, func(a, b views.ReasonGroup) int { return strings.Compare(a.Reason, b.Reason) })
	if f := p.Filter; f != nil {
		run.Reason, run.Code = f.Reason, f.Code
		if f.Notice != nil {
			run.NoticeID = idText(*f.Notice)
		}
	}
	version = digest(run)
	run.PollHref = replayHref(id) + "/progress?" + url.Values{"v": {version}}.Encode()
	return run, version, nil
}

func replayHref(id int64) string { return "/archive/replays/" + idText(id) }
