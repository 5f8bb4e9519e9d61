package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"bongsu/db"
	"bongsu/views"
)

// replayWatched is for how long the page of a run that has ended looks on: those
// put back last may fail again.
const replayWatched = time.Minute

// startReplay puts the one back whose button was pressed. Of more than one, those
// that were chosen or all that match the filters, it leads to a plan first.
func startReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	names := r.PostForm["delivery"]
	if one := r.PostForm.Get("one"); one != "" {
		names = []string{one}
	}
	if r.PostForm.Get("act") == "all" {
		f, _, err := archiveFilterOf(r)
		if err != nil {
			return err
		}
		p, err := s.pages.PlanReplayFilter(r.Context(), f, actorOf(r))
		if err != nil {
			return err
		}
		return seeOther(w, r, planHref(p.ID))
	}
	pairs, err := pairsOf(names)
	switch {
	case err != nil:
		return err
	case len(pairs) == 0:
		return s.notDone(w, r, views.Said().ChooseFirst, "/archive")
	case len(pairs) == 1:
		run, err := s.pages.StartReplayItems(r.Context(), pairs, actorOf(r))
		if err != nil {
			return err
		}
		return seeOther(w, r, replayHref(run.ID))
	}
	p, err := s.pages.PlanReplayItems(r.Context(), pairs, actorOf(r))
	if err != nil {
		return err
	}
	return seeOther(w, r, planHref(p.ID))
}

// pairsOf reads names such as 17-4711: notice and device.
func pairsOf(names []string) ([]db.Pair, error) {
	pairs := make([]db.Pair, len(names))
	for i, name := range names {
		notice, device, _ := strings.Cut(name, "-")
		n, err1 := strconv.ParseInt(notice, 10, 64)
		d, err2 := strconv.ParseInt(device, 10, 64)
		if err1 != nil || err2 != nil {
			return nil, db.Invalid("delivery", "must be a notice and a device, such as 17-4711")
		}
		pairs[i] = db.Pair{NoticeID: n, DeviceID: d}
	}
	return pairs, nil
}

// planPage shows what a replay would do before it begins. A plan that was begun
// leads to its run.
func planPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	p, err := s.pages.ReplayPlan(r.Context(), id)
	if err != nil {
		return err
	}
	if p.ReplayID != nil {
		return seeOther(w, r, replayHref(*p.ReplayID))
	}
	m := views.ReplayPlan{ID: idText(p.ID), Filter: filterShown(p.Filter), Listed: p.Filter == nil, Matched: p.Matched,
		Refused: byReason(p.Refused), AskedBy: p.AskedByName, AskedAt: stamp(p.AskedAt), Rate: int64(s.rate)}
	m.Back = "/archive"
	if q := filterQuery(m.Filter); len(q) > 0 {
		m.Back = "/archive?" + q.Encode()
	}
	if m.Shell, err = s.shell(r, "archive"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.ReplayPlanPage(m))
}

// startPlan begins a plan's run, and leads to it; a second press leads to the same.
func startPlan(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	run, other, err := s.pages.StartPlan(r.Context(), id, actorOf(r))
	if err != nil {
		return err
	}
	if other {
		return s.notDone(w, r, views.Said().ReplayOther, replayHref(run.ID))
	}
	return seeOther(w, r, replayHref(run.ID))
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
	run = shapeReplayRun(p)
	run.Live = p.FinishedAt == nil || s.now().Sub(*p.FinishedAt) < replayWatched
	version = digest(run)
	run.PollEvery = pollEvery(s.now().Sub(p.AskedAt))
	run.PollHref = replayHref(id) + "/progress?" + url.Values{"v": {version}}.Encode()
	return run, version, nil
}

func shapeReplayRun(p db.Replay) views.ReplayRun {
	return views.ReplayRun{
		ID: idText(p.ID), State: p.State, Matched: p.Matched, Replayed: p.Replayed, Skipped: byReason(p.Skipped), FailedAgain: p.FailedAgain,
		Filter: filterShown(p.Filter), AskedBy: p.AskedByName, AskedAt: stamp(p.AskedAt), FinishedAt: stampOf(p.FinishedAt),
	}
}

// byReason puts numbers by reason into the order of the reasons.
func byReason(by map[string]int64) (groups []views.ReasonGroup) {
	for reason, n := range by {
		groups = append(groups, views.ReasonGroup{Reason: reason, N: n})
	}
	slices.SortFunc(groups, func(a, b views.ReasonGroup) int { return strings.Compare(a.Reason, b.Reason) })
	return groups
}

func pauseReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actOnReplay(w, r, views.Said().ReplayPaused, s.pages.PauseReplay)
}

func resumeReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actOnReplay(w, r, views.Said().ReplayResumed, s.pages.ResumeReplay)
}

func cancelReplay(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actOnReplay(w, r, views.Said().ReplayCancelled, s.pages.CancelReplay)
}

func (s *Server) actOnReplay(w http.ResponseWriter, r *http.Request, done string, act func(context.Context, int64, db.Actor) (db.Replay, error)) error {
	return s.actThen(w, r, done, replayHref, func(ctx context.Context, id int64, a db.Actor) error {
		_, err := act(ctx, id, a)
		return err
	})
}

// cancelReplayPage asks before a run is cancelled.
func cancelReplayPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	run, _, err := s.replayRun(r)
	if err != nil {
		return err
	}
	m := views.CancelReplayText(run)
	if m.Shell, err = s.shell(r, "archive"); err != nil {
		return err
	}
	m.Action, m.Back = "/archive/replays/"+run.ID+"/cancel", "/archive/replays/"+run.ID
	return render(w, r, http.StatusOK, views.ConfirmPage(m))
}

func replayHref(id int64) string { return "/archive/replays/" + idText(id) }

func planHref(id int64) string { return "/archive/plans/" + idText(id) }
