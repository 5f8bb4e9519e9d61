package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"bongsu/db"
	"bongsu/views"
)

func noticesPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	cursor := r.FormValue("cursor")
	list, err := s.pages.Notices(r.Context(), cursor, pageSize)
	if err != nil {
		return err
	}
	shell, err := s.shell(r, "notices")
	if err != nil {
		return err
	}
	m := views.Notices{Shell: shell, FirstHref: firstHref("/notices", cursor), NextHref: nextHref("/notices", nil, list.Next)}
	for _, n := range list.Items {
		m.Items = append(m.Items, noticeRow(n))
	}
	return render(w, r, http.StatusOK, views.NoticesPage(m))
}

func noticeRow(n db.NoticeRow) views.NoticeRow {
	row := views.NoticeRow{
		Href: noticeHref(n.ID), Title: n.Title, State: n.State, AcceptedAt: stamp(n.AcceptedAt), By: n.AcceptedByName,
		Total: n.Total, Sent: n.Sent, Failed: n.Failed, Waiting: n.Open(),
	}
	if n.RepeatOf != nil {
		row.RepeatOf = idText(*n.RepeatOf)
	}
	return row
}

func noticePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	p, err := s.noticeProgress(r, id)
	if err != nil {
		return err
	}
	m := viewNotice(p.db, p.view)
	if m.Shell, err = s.shell(r, "notices"); err != nil {
		return err
	}
	m.Original = r.FormValue("original") != ""
	return render(w, r, http.StatusOK, views.NoticePage(m))
}

// noticeFragment answers the page's look at what has changed: nothing where the
// reader has it already, so that focus and selection stay.
func noticeFragment(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	p, err := s.noticeProgress(r, id)
	if err != nil {
		return err
	}
	if r.FormValue("v") == p.version && p.view.Live {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	p.view.ActsSwap = r.FormValue("acts") != p.acts
	return render(w, r, http.StatusOK, views.ProgressPart(p.view))
}

// pauseNotice, resumeNotice and cancelNotice lead back to the notice.
func pauseNotice(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actOnNotice(w, r, views.Said().NoticePaused, s.pages.PauseNotice)
}

func resumeNotice(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actOnNotice(w, r, views.Said().NoticeResumed, s.pages.ResumeNotice)
}

func cancelNotice(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.actOnNotice(w, r, views.Said().NoticeCancelled, s.pages.CancelNotice)
}

// actOnNotice is actThen for acts that give the notice.
func (s *Server) actOnNotice(w http.ResponseWriter, r *http.Request, done string, act noticeAct) error {
	return s.actThen(w, r, done, noticeHref, func(ctx context.Context, id int64, a db.Actor) error {
		_, _, err := act(ctx, id, a)
		return err
	})
}

// cancelPage asks before a notice is cancelled.
func cancelPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	n, c, err := s.pages.Notice(r.Context(), id)
	if err != nil {
		return err
	}
	m := views.CancelText(n.Title, stillOpen(n, c))
	if m.Shell, err = s.shell(r, "notices"); err != nil {
		return err
	}
	m.Action, m.Back = noticeHref(id)+"/cancel", noticeHref(id)
	return render(w, r, http.StatusOK, views.ConfirmPage(m))
}

func noticeHref(id int64) string { return fmt.Sprintf("/notices/%d", id) }

// nextHref is the address of a list's next page; empty where there is none.
func nextHref(path string, query url.Values, cursor string) string {
	if cursor == "" {
		return ""
	}
	q := url.Values{"cursor": {cursor}}
	for k, v := range query {
		if len(v) > 0 && v[0] != "" {
			q[k] = v
		}
	}
	return path + "?" + q.Encode()
}

// firstHref leads back to the start of a list from any page but the first.
func firstHref(path, cursor string) string {
	if cursor == "" {
		return ""
	}
	return path
}

// stillOpen is how many would not be told if a notice ended now: also those of its
// audience that have no delivery yet, about.
func stillOpen(n db.Notice, c db.Counts) int64 {
	open := c.Open()
	if n.FannedOutAt == nil && n.Estimate != nil {
		open += max(0, *n.Estimate-c.Total)
	}
	return open
}
