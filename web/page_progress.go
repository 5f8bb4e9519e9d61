package web

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"

	"bongsu/db"
	"bongsu/views"
)

type noticeAct func(context.Context, int64, db.Actor) (db.Notice, db.Counts, error)

// looked is what one look at a notice found.
type looked struct {
	db      db.Progress
	view    views.Progress
	version string // of the view
	acts    string // of what can be done
}

// noticeProgress reads a notice and shapes its live part for the sender of r.
func (s *Server) noticeProgress(r *http.Request, id int64) (looked, error) {
	p, err := s.pages.Progress(r.Context(), id)
	if err != nil {
		return looked{}, err
	}
	newest, newestState, err := s.pages.NewestRepeat(r.Context(), id)
	if err != nil {
		return looked{}, err
	}
	v := shapeProgress(p, may(r))
	if o := s.watch.see(r.Context()); o.known {
		addHindrance(&v, p.Notice.ID, o.st)
	}
	v.Acts = shapeActs(p.Notice, may(r), newest, newestState)
	rate, next := parseWindow(r.FormValue("w")).next(sample{v.Counts.Done(), p.Now})
	addRate(&v, p, rate)
	l := looked{db: p, acts: digest(v.Acts)}
	l.version = digest(v)
	v.LookedAt, v.Pace.To = stamp(p.Now), stamp(p.Pace.To)
	v.PollEvery = pollEvery(p.Now.Sub(p.Notice.StateAt))
	v.PollHref = noticeHref(id) + "/progress?" + url.Values{"v": {l.version}, "acts": {l.acts}, "w": {next.text()}}.Encode()
	l.view = v
	return l, nil
}

// digest names what v holds; the same content has the same digest.
func digest(v any) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v", v)
	return fmt.Sprintf("%x", h.Sum64())
}

func shapeProgress(p db.Progress, can views.Can) views.Progress {
	n, c := p.Notice, p.Counts
	v := views.Progress{
		NoticeID: idText(n.ID), State: n.State, AllKnown: n.FannedOutAt != nil || n.State == db.Cancelled,
		Counts: views.Counts{Total: c.Total, Pending: c.Pending, Retrying: c.Retrying, Sending: c.Sending,
			Sent: c.Sent, Failed: c.Failed, Skipped: c.Skipped, Unknown: c.Unknown},
		Twice: c.Twice, FinishedAt: stampOf(n.FinishedAt), NextDueAt: stampOf(p.NextDue),
		Phases: phases(n, c), Groups: reasonGroups(n.ID, p.Reasons, can), Pace: shapePace(p.Pace),
	}
	v.Vendors = shapeVendors(p.Scopes)
	if n.Estimate != nil {
		v.Estimate = *n.Estimate
	}
	ended := n.State == db.Finished || n.State == db.Cancelled
	v.Live = !ended || c.Open() > 0
	return v
}

// shapeVendors gives how far a notice is at each vendor; none where the HTTP vendor is
// the only one, since that is what the other counts say.
func shapeVendors(scopes []db.ScopeProgress) (list []views.VendorProgress) {
	if len(scopes) == 1 && scopes[0].Scope == db.KindHTTP {
		return nil
	}
	for _, x := range scopes {
		list = append(list, views.VendorProgress{Vendor: vendorAt(x.Scope), Total: x.Total, Sent: x.Sent, Failed: x.Failed,
			Waiting: x.Waiting, State: x.State, Reason: x.Reason})
	}
	return list
}

// waitsAt tells whether something waits at a vendor. Where a notice has no list of
// vendors it waits for every one.
func waitsAt(list []views.VendorProgress, at views.Vendor) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(v views.VendorProgress) bool { return v.Vendor == at && v.Waiting > 0 })
}

// addHindrance says what a notice that is not at its end waits for.
func addHindrance(v *views.Progress, id int64, st db.Status) {
	if !v.Live {
		return
	}
	v.QueueDownSince = stampOf(st.QueueDownSince)
	if len(st.Workers) == 0 {
		v.NoWorker, v.NoWorkerSince = true, stampOf(st.LastWorkerAt)
	}
	for _, x := range st.Vendors {
		v.VendorPaused = v.VendorPaused || x.State != "ok" && waitsAt(v.Vendors, vendorAt(x.Scope))
	}
	for _, x := range st.Stalled {
		if x.ID == id && v.QueueDownSince == "" && !v.NoWorker && !v.VendorPaused {
			v.StalledSince = stamp(x.Since)
		}
	}
}

// addRate adds how fast it goes and how long it will take, while it goes, and
// how fast it went on the whole.
func addRate(v *views.Progress, p db.Progress, rate float64) {
	n, until := p.Notice, p.Now
	if n.FinishedAt != nil {
		until = *n.FinishedAt
	}
	if n.StartedAt != nil && n.State != db.Paused {
		if took := until.Sub(*n.StartedAt).Seconds(); took >= 1 {
			v.RateAll = int64(float64(v.Counts.Done()) / took)
		}
	}
	if n.State != db.Sending {
		return
	}
	v.Rate = int64(rate)
	if rate >= 1 && v.AllKnown && p.Counts.Open() > 0 {
		v.Left = int64(float64(p.Counts.Open())/rate) + 1
	}
}

// phases are the steps of a notice's way; the first that is not done is under
// way while the notice is being sent.
func phases(n db.Notice, c db.Counts) []views.Phase {
	listed := n.FannedOutAt != nil
	first := listed && c.Pending == 0 && c.Sending == 0
	all := []views.Phase{
		{Name: "accepted", Done: true, At: stamp(n.AcceptedAt)},
		{Name: "listed", Done: listed, At: stampOf(n.FannedOutAt)},
		{Name: "first", Done: first},
		{Name: "retries", Done: first && c.Retrying == 0},
	}
	if n.State == db.Cancelled {
		return append(all[:1], views.Phase{Name: "cancelled", Done: true, At: stamp(n.StateAt)})
	}
	all = append(all, views.Phase{Name: "finished", Done: n.State == db.Finished, At: stampOf(n.FinishedAt)})
	if i := slices.IndexFunc(all, func(p views.Phase) bool { return !p.Done }); i > 0 && n.State == db.Sending {
		all[i].Now = true
	}
	return all
}

func reasonGroups(notice int64, reasons []db.ReasonCount, can views.Can) []views.ReasonGroup {
	var out []views.ReasonGroup
	for _, g := range reasons {
		v := views.ReasonGroup{Status: g.Status, Reason: g.Reason, N: g.N, Href: noticeHref(notice) + "/deliveries?status=" + g.Status}
		if g.Status == "failed" && can.Archive {
			v.ArchiveHref = archiveHref(idText(notice), g.Reason, "")
		}
		out = append(out, v)
	}
	return out
}

func shapeActs(n db.Notice, can views.Can, newest int64, newestState string) views.Acts {
	if !can.Send {
		return views.Acts{NoticeID: idText(n.ID)}
	}
	open := n.State == db.Accepted || n.State == db.Sending
	return views.Acts{
		NoticeID: idText(n.ID), Pause: open, Resume: n.State == db.Paused, Cancel: open || n.State == db.Paused,
		Repeat: true, RepeatID: idText(newest), RepeatState: newestState,
	}
}

// viewNotice is the page around the live part.
func viewNotice(p db.Progress, live views.Progress) views.Notice {
	n := p.Notice
	m := views.Notice{
		ID: idText(n.ID), Title: n.Title, Body: n.Body, Link: textOf(n.Link), Category: n.Category,
		Audience:   views.AudienceWords(n.Platforms, n.Tags),
		AcceptedAt: stamp(n.AcceptedAt), AcceptedBy: n.AcceptedByName, ExpiresAt: stamp(n.ExpiresAt),
		StateBy: textOf(n.StateByName), StateAt: stamp(n.StateAt), Progress: live,
	}
	if n.RepeatOf != nil {
		m.RepeatOf = idText(*n.RepeatOf)
	}
	if a := live.Acts; a.Repeat && a.RepeatID != m.ID {
		m.Newest = views.Repeat{ID: a.RepeatID, State: a.RepeatState}
	}
	return m
}

// archiveHref is the address of the archive with these filters.
func archiveHref(notice, reason, code string) string {
	q := archiveQuery(notice, reason, code)
	if len(q) == 0 {
		return "/archive"
	}
	return "/archive?" + q.Encode()
}

func archiveQuery(notice, reason, code string) url.Values {
	q := url.Values{}
	for k, v := range map[string]string{"notice": notice, "reason": reason, "code": code} {
		if v != "" {
			q.Set(k, v)
		}
	}
	return q
}
