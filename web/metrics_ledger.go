package web

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bongsu/db"
)

// ledgerMetrics reads how the ledger stands and gives it as a registry of its
// own. While the database is away it holds bongsu_database_up 0 and nothing
// else, so that no old number is taken for a new one.
func (s *Server) ledgerMetrics(ctx context.Context) *prometheus.Registry {
	ctx, cancel := context.WithTimeout(ctx, s.limits.Scrape)
	defer cancel()
	g := gauges{prometheus.NewRegistry()}
	st, err := s.pages.Status(ctx)
	var c db.Counts
	if err == nil {
		c, err = s.pages.StateCounts(ctx)
	}
	if err != nil {
		s.log.WarnContext(ctx, "ledger was not measured", "error", err)
		g.set("bongsu_database_up", "1 while the database answers.", 0)
		return g.registry
	}
	g.set("bongsu_database_up", "1 while the database answers.", 1)
	g.counts(c)
	g.status(st)
	return g.registry
}

// gauges fills a registry with the values of one moment.
type gauges struct{ registry *prometheus.Registry }

func (g gauges) set(name, help string, value float64) {
	m := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.Set(value)
	g.registry.MustRegister(m)
}

// by sets one value for each value of a label.
func (g gauges) by(name, help, label string, values map[string]float64) {
	m := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label})
	for k, v := range values {
		m.WithLabelValues(k).Set(v)
	}
	g.registry.MustRegister(m)
}

// counts shows the parts of all deliveries and their whole, out of one snapshot.
func (g gauges) counts(c db.Counts) {
	g.by("bongsu_deliveries", "Deliveries of all notices, by state; they add up to bongsu_deliveries_all.", "state", map[string]float64{
		"pending": float64(c.Pending), "retrying": float64(c.Retrying), "sending": float64(c.Sending), "sent": float64(c.Sent),
		"failed": float64(c.Failed), "skipped": float64(c.Skipped), "unknown": float64(c.Unknown),
	})
	g.set("bongsu_deliveries_all", "Deliveries of all notices.", float64(c.Total))
	g.set("bongsu_deliveries_possibly_twice", "Deliveries whose device may have been told twice.", float64(c.Twice))
	g.set("bongsu_attempts", "Vendor calls begun for deliveries.", float64(c.Attempts))
}

func (g gauges) status(st db.Status) {
	var slots, inFlight int
	for _, w := range st.Workers {
		slots, inFlight = slots+w.Slots, inFlight+w.InFlight
	}
	var overdue time.Duration
	if st.OldestDue != nil {
		overdue = max(0, st.Now.Sub(*st.OldestDue))
	}
	vendors := map[string]float64{}
	for _, v := range st.Vendors {
		vendors[v.Kind] = truth(v.State == "ok")
	}
	g.set("bongsu_open_notices", "Notices that are neither finished nor cancelled.", float64(st.OpenNotices))
	g.set("bongsu_backlog_deliveries", "Deliveries that wait or are under way.", float64(st.Backlog))
	g.set("bongsu_backlog_overdue_seconds", "How long the oldest due retry has been due.", overdue.Seconds())
	g.set("bongsu_workers_alive", "Processes that call vendors and were seen lately.", float64(len(st.Workers)))
	g.set("bongsu_call_slots", "Calls that the workers may have under way at once.", float64(slots))
	g.set("bongsu_calls_in_flight", "Calls under way when the workers were seen last.", float64(inFlight))
	g.set("bongsu_feeder_lease_seconds", "What is left of the feeder's lease; below zero where none works.", st.FeederLease.Sub(st.Now).Seconds())
	g.set("bongsu_queue_up", "1 while Redis answers the feeder.", truth(st.QueueDownSince == nil))
	g.by("bongsu_vendor_up", "1 while the vendor is called, 0 while it is paused.", "kind", vendors)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
