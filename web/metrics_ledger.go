package web

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"bongsu/db"
)

// ledgerMetrics reads how the ledger stands and gives it as a registry of its
// own. While the database is away it holds bongsu_database_up 0 and nothing
// else, so that no old number is taken for a new one.
func (s *Server) ledgerMetrics(ctx context.Context) *prometheus.Registry {
	ctx, cancel := context.WithTimeout(ctx, s.limits.Scrape)
	defer cancel()
	st, err := s.pages.Status(ctx)
	var c db.Counts
	if err == nil {
		c, err = s.pages.StateCounts(ctx)
	}
	m := &moment{}
	m.gauge("bongsu_database_up", "1 while the database answers.", truth(err == nil))
	if err != nil {
		s.log.WarnContext(ctx, "ledger was not measured", "error", err)
	} else {
		m.counts(c)
		m.work(st)
		for _, v := range st.Vendors {
			m.vendor(v)
		}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	return registry
}

// moment holds the values of one moment. A counter among them counts in the
// ledger and not in this process, so it carries no time at which it began.
type moment struct{ values []prometheus.Metric }

// Describe says nothing ahead: the values are there or not as the ledger has it.
func (m *moment) Describe(chan<- *prometheus.Desc) {}

// Collect gives the values.
func (m *moment) Collect(out chan<- prometheus.Metric) {
	for _, v := range m.values {
		out <- v
	}
}

func (m *moment) add(kind prometheus.ValueType, name, help string, labels prometheus.Labels, value float64) {
	m.values = append(m.values, prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), kind, value))
}

func (m *moment) gauge(name, help string, value float64) {
	m.add(prometheus.GaugeValue, name, help, nil, value)
}

func (m *moment) gaugeOf(name, help string, labels prometheus.Labels, value float64) {
	m.add(prometheus.GaugeValue, name, help, labels, value)
}

// counter adds a value that never goes down.
func (m *moment) counter(name, help string, value int64) {
	m.add(prometheus.CounterValue, name, help, nil, float64(value))
}

// counts shows the parts of all deliveries and their whole, out of one snapshot.
// An attempt counts when it has ended: a claim that is given back unused takes
// its attempt back, and a counter that falls is taken for one that began anew.
func (m *moment) counts(c db.Counts) {
	for state, n := range map[string]int64{"pending": c.Pending, "retrying": c.Retrying, "sending": c.Sending, "sent": c.Sent,
		"failed": c.Failed, "skipped": c.Skipped, "unknown": c.Unknown} {
		m.gaugeOf("bongsu_deliveries", "Deliveries of all notices, by state; they add up to bongsu_deliveries_all.",
			prometheus.Labels{"state": state}, float64(n))
	}
	m.gauge("bongsu_deliveries_all", "Deliveries of all notices.", float64(c.Total))
	m.counter("bongsu_deliveries_sent_total", "Deliveries that a vendor took.", c.Sent)
	m.counter("bongsu_deliveries_possibly_twice_total", "Deliveries whose device may have been told twice.", c.Twice)
	m.counter("bongsu_attempts_total", "Vendor calls for deliveries that have ended, with an answer or without.", c.Attempts-c.Sending)
}

// work shows what waits and who works on it.
func (m *moment) work(st db.Status) {
	var slots, inFlight int
	for _, w := range st.Workers {
		slots, inFlight = slots+w.Slots, inFlight+w.InFlight
	}
	m.gauge("bongsu_open_notices", "Notices that are neither finished nor cancelled.", float64(st.OpenNotices))
	m.gauge("bongsu_stalled_notices", "Notices that should be under way and do not move; counted up to 20.", float64(len(st.Stalled)))
	m.gauge("bongsu_backlog_deliveries", "Deliveries that wait or are under way.", float64(st.Backlog))
	m.gauge("bongsu_backlog_oldest_seconds", "How long the oldest work has been due: a retry, or a notice that has not begun.",
		st.Now.Sub(oldestWork(st)).Seconds())
	m.gauge("bongsu_workers_alive", "Processes that call vendors and were seen lately.", float64(len(st.Workers)))
	m.gauge("bongsu_call_slots", "Calls that the workers may have under way at once.", float64(slots))
	m.gauge("bongsu_calls_in_flight", "Calls under way when the workers were seen last.", float64(inFlight))
	m.gauge("bongsu_feeder_lease_seconds", "What is left of the feeder's lease; below zero where none works.", st.FeederLease.Sub(st.Now).Seconds())
	m.gauge("bongsu_queue_up", "1 while Redis answers the feeder.", truth(st.QueueDownSince == nil))
}

// vendor shows whether a vendor is called. Each state has a value, so that one
// that it has left says 0 and does not go missing.
func (m *moment) vendor(v db.VendorState) {
	for _, state := range []string{"ok", "paused", "probing"} {
		m.gaugeOf("bongsu_vendor_state", "1 for the state that the vendor is in: called, not called, or only probed.",
			prometheus.Labels{"kind": v.Scope, "state": state}, truth(v.State == state))
	}
	kind := prometheus.Labels{"kind": v.Scope}
	m.gaugeOf("bongsu_vendor_devices_kept", "1 while an answer of 410 disables no device until an admin agrees.", kind, truth(v.KeepDevices))
	if v.OKAt != nil {
		m.gaugeOf("bongsu_vendor_last_success_timestamp_seconds", "When the vendor took a message last.", kind, float64(v.OKAt.UnixMilli())/1000)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
