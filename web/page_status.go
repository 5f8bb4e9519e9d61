package web

import (
	"net/http"
	"time"

	"bongsu/db"
	"bongsu/views"
)

// LadderStep is one time limit and what it must be longer than, as the Status
// page shows it.
type LadderStep struct {
	Name     string
	Value    string
	Longer   string // in words
	Variable string // the setting; empty: it is fixed
	OK       bool
}

// backlogAge is how long work may be due before the Status page warns.
const backlogAge = time.Minute

func statusPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	live, err := s.statusLive(r)
	if err != nil {
		return err
	}
	m := views.Status{Live: live}
	for _, l := range s.ladder {
		m.Ladder = append(m.Ladder, views.Limit{Name: l.Name, Value: l.Value, Longer: l.Longer, OK: l.OK})
	}
	if m.Shell, err = s.shell(r, "status"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.StatusPage(m))
}

func statusFragment(s *Server, w http.ResponseWriter, r *http.Request) error {
	live, err := s.statusLive(r)
	if err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.StatusPart(live))
}

func (s *Server) statusLive(r *http.Request) (views.StatusLive, error) {
	began := s.now()
	st, err := s.pages.Status(r.Context())
	if err != nil {
		return views.StatusLive{}, err
	}
	m := views.StatusLive{LookedAt: stamp(st.Now), Items: []views.StatusRow{
		{Key: "database", State: "ok", Facts: views.DatabaseFacts(s.now().Sub(began).Milliseconds())},
		queueStatus(st),
	}}
	for _, v := range st.Vendors {
		m.Items = append(m.Items, vendorStatus(v))
	}
	m.Items = append(m.Items, workerStatus(st), feederStatus(st), backlogStatus(st))
	for _, x := range st.Workers {
		m.Workers = append(m.Workers, views.WorkerRow{ID: x.ID, StartedAt: stamp(x.StartedAt), SeenAt: stamp(x.SeenAt),
			Version: x.Version, InFlight: int64(x.InFlight), Slots: int64(x.Slots)})
	}
	return m, nil
}

func queueStatus(st db.Status) views.StatusRow {
	switch {
	case st.QueueDownSince != nil:
		return views.StatusRow{Key: "redis", State: "down", Facts: st.QueueError, Since: stampOf(st.QueueDownSince)}
	case st.QueueOKAt == nil:
		return views.StatusRow{Key: "redis", State: "warn", Facts: views.Said().NotAskedYet}
	default:
		return views.StatusRow{Key: "redis", State: "ok"}
	}
}

func vendorStatus(v db.VendorState) views.StatusRow {
	row := views.StatusRow{Key: "vendor", State: "ok", Facts: v.Kind}
	if v.State != "ok" {
		row.State, row.Since, row.Facts = "down", stamp(v.Since), v.Kind+", "+v.State+": "+textOf(v.Detail)
	}
	return row
}

func workerStatus(st db.Status) views.StatusRow {
	if len(st.Workers) == 0 {
		return views.StatusRow{Key: "workers", State: "down", Since: stampOf(st.LastWorkerAt)}
	}
	var calls, slots int64
	for _, w := range st.Workers {
		calls, slots = calls+int64(w.InFlight), slots+int64(w.Slots)
	}
	return views.StatusRow{Key: "workers", State: "ok", Facts: views.WorkerFacts(int64(len(st.Workers)), calls, slots)}
}

func feederStatus(st db.Status) views.StatusRow {
	if st.FeederLease.After(st.Now) {
		return views.StatusRow{Key: "feeder", State: "ok", Facts: st.FeederHolder}
	}
	return views.StatusRow{Key: "feeder", State: "down"}
}

// backlogStatus warns where work has been due for long.
func backlogStatus(st db.Status) views.StatusRow {
	row := views.StatusRow{Key: "backlog", State: "ok", Facts: views.BacklogFacts(st.Backlog, st.OpenNotices)}
	for _, t := range []*time.Time{st.OldestDue, st.OldestAccepted} {
		if t != nil && st.Now.Sub(*t) > backlogAge {
			row.State, row.Since = "warn", stamp(*t)
		}
	}
	return row
}

// resumeVendor lets calls to all paused vendors go on.
func resumeVendor(s *Server, w http.ResponseWriter, r *http.Request) error {
	list, err := s.pages.Vendors(r.Context())
	if err != nil {
		return err
	}
	for _, v := range list {
		if v.State == "ok" {
			continue
		}
		if err := s.pages.ResumeVendor(r.Context(), v.Kind, actorOf(r)); err != nil {
			return err
		}
	}
	return s.doneThen(w, r, views.Said().VendorCalled, "/status")
}

// addTrouble puts into a shell what everybody should see on every page.
func addTrouble(m *views.Shell, st db.Status) {
	for _, v := range st.Vendors {
		if v.State == "ok" {
			continue
		}
		m.Badge = views.Badge{Text: views.Said().VendorPaused, Bad: true}
		if m.Can.Admin {
			m.Paused = &views.VendorPaused{Reason: textOf(v.Reason), Detail: textOf(v.Detail), Since: stamp(v.Since),
				NextProbeAt: stampOf(v.NextProbeAt), Waiting: st.Backlog, CanResume: true, KeepDevices: v.KeepDevices}
		}
		return
	}
	switch {
	case st.QueueDownSince != nil:
		m.Badge = views.Badge{Text: views.Said().QueueDown, Bad: true}
	case len(st.Workers) == 0:
		m.Badge = views.Badge{Text: views.Said().NoWorker}
	}
}
