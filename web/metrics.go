package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics counts what this process answers.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	early    *prometheus.CounterVec
}

func newMetrics(version string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bongsu_http_requests_total", Help: "Requests answered, by route and status."},
			[]string{"route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "bongsu_http_request_duration_seconds", Help: "Time to answer, by route.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}},
			[]string{"route"}),
		early: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bongsu_http_requests_ended_early_total",
			Help: "Requests whose client left, whose time was over, or that a shutdown cut: client_left, deadline, shutdown."},
			[]string{"route", "end"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "bongsu_build_info", Help: "Always 1; the label says which version runs.",
		ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.duration, m.early, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) count(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(route).Observe(took.Seconds())
}

// ended counts a request that ended before its answer could be given.
func (m *metrics) ended(route, end string) { m.early.WithLabelValues(route, end).Inc() }

// serveMetrics answers in the text format of Prometheus: what this process
// answered, and how the ledger stands.
func serveMetrics(s *Server, w http.ResponseWriter, r *http.Request) error {
	all := prometheus.Gatherers{s.metrics.registry, s.ledgerMetrics(r.Context())}
	promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}
