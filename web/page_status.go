package web

import (
	"context"
	"net/http"
	"strconv"
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

// statusPage shows how the parts are. It answers also while the database is away:
// with 503, what can be known then, and without knowing who asks.
func statusPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	live, up := s.statusLive(r)
	m := views.Status{Live: live}
	for _, l := range s.ladder {
		m.Ladder = append(m.Ladder, views.Limit{Name: l.Name, Value: l.Value, Longer: l.Longer, Variable: l.Variable, OK: l.OK})
	}
	var err error
	if m.Shell, err = s.shell(r, "status"); err != nil && db.CauseOf(err) == db.NoCause {
		return err
	}
	if !up {
		w.Header().Set("Retry-After", strconv.Itoa(int(unavailableRetry.Seconds())))
		return render(w, r, http.StatusServiceUnavailable, views.StatusPage(m))
	}
	return render(w, r, http.StatusOK, views.StatusPage(m))
}

// statusFragment is the live part alone. It answers with 200 while the database
// is away too: what it says is true, and takes the place of what was.
func statusFragment(s *Server, w http.ResponseWriter, r *http.Request) error {
	live, _ := s.statusLive(r)
	return render(w, r, http.StatusOK, views.StatusPart(live))
}

// statusLive looks at every part, within limits of its own. up is false where the
// database did not tell.
func (s *Server) statusLive(r *http.Request) (m views.StatusLive, up bool) {
	ctx, cancel := context.WithTimeout(r.Context(), s.limits.Look)
	defer cancel()
	began := time.Now()
	st, err := s.pages.Status(ctx)
	took := time.Since(began)
	s.watch.saw(st, err)
	o := s.watch.outlook()
	m = views.StatusLive{LookedAt: stamp(st.Now), Can: may(r)}
	if err != nil {
		s.log.WarnContext(ctx, "the parts could not be looked at", "error", err)
		m.LookedAt = stamp(s.now())
		m.Items = s.partsWithout(r, o)
		return m, false
	}
	m.Items = append(partsOf(o), s.diskPart(o)...)
	c, err := s.pages.Condition(ctx)
	addCondition(&m.Items[0], took, c, err)
	s.addMemory(r.Context(), &m.Items[1])
	for _, x := range st.Workers {
		m.Workers = append(m.Workers, workerRow(x, false))
	}
	for _, x := range st.Lost {
		m.Workers = append(m.Workers, workerRow(x, true))
	}
	return m, true
}

func workerRow(x db.Worker, lost bool) views.WorkerRow {
	return views.WorkerRow{ID: x.ID, StartedAt: stamp(x.StartedAt), SeenAt: stamp(x.SeenAt),
		Version: x.Version, InFlight: int64(x.InFlight), Slots: int64(x.Slots), Lost: lost}
}

// partsWithout gives what can be known while the database is away. Nobody knows
// who asks then, so it names no machine.
func (s *Server) partsWithout(r *http.Request, o outlook) []views.StatusRow {
	database := databasePart(o)
	if database.State == views.StateOK { // it was slow, and that alone is no trouble yet
		database.State, database.Message, database.Since = views.StateDown, "database-down", stamp(s.now())
	}
	rows := []views.StatusRow{database, {Key: "redis", State: views.StateUnknown}}
	s.addMemory(r.Context(), &rows[1])
	for _, key := range []string{"vendor", "workers", "feeder", "backlog", "notices"} {
		rows = append(rows, views.StatusRow{Key: key, State: views.StateUnknown})
	}
	return append(rows, s.diskPart(o)...)
}

// addCondition adds to the database's row how fast it answered and how it is, where
// err does not say that this could not be read, and warns where its connections
// run out.
func addCondition(row *views.StatusRow, took time.Duration, c db.Condition, err error) {
	facts := views.DatabaseFacts(took.Milliseconds())
	if err == nil {
		facts = views.JoinFacts(facts, views.ConditionFacts(c.Bytes, int64(c.Conns), int64(c.MaxConns)))
	}
	row.Facts = views.JoinFacts(row.Facts, facts)
	if row.State == views.StateOK && err == nil && float64(c.Conns) > connsUsed*float64(c.MaxConns) {
		row.State, row.Message = views.StateWarn, "database-connections"
	}
}

// addMemory adds to the queue's row what Redis says of itself, where this process
// can ask it.
func (s *Server) addMemory(ctx context.Context, row *views.StatusRow) {
	if s.memory == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.limits.Queue)
	defer cancel()
	m, err := s.memory(ctx)
	switch {
	case err != nil && row.State == views.StateUnknown:
		row.Facts = views.Said().RedisSilent
		return
	case err != nil:
		return // since when, the feeder knows
	case row.State == views.StateUnknown && row.Facts == "":
		row.Facts = views.Said().RedisAnswers
	}
	row.Facts = views.JoinFacts(row.Facts, views.MemoryFacts(m.Used, m.Max))
	if row.State == views.StateOK && m.Max > 0 && float64(m.Used) > memoryUsed*float64(m.Max) {
		row.State, row.Message = views.StateWarn, "redis-full"
	}
}

// diskPart is the room on the disk where it can be seen from here.
func (s *Server) diskPart(o outlook) []views.StatusRow {
	if s.disk == nil {
		return nil
	}
	d, err := s.disk()
	if err != nil {
		return []views.StatusRow{{Key: "disk", State: views.StateUnknown, Facts: err.Error()}}
	}
	row := part("disk", views.DiskFacts(d.Free, d.Total))
	if float64(d.Free) < diskLeft*float64(d.Total) {
		row.State, row.Message = views.StateWarn, "disk-full"
	}
	return []views.StatusRow{row}
}
