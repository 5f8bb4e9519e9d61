package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func goodLimits(t *testing.T, environ ...string) Limits {
	t.Helper()
	c, err := loadConfig(environ)
	if err != nil {
		t.Fatal(err)
	}
	return limitsOf(c)
}

func TestLadderHoldsUnderThePresets(t *testing.T) {
	for _, proxy := range []string{"", "12s"} {
		for _, collector := range []string{"", "http://collector:4318"} {
			if err := goodLimits(t, "BONGSU_PROXY_TIMEOUT="+proxy, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector).check(); err != nil {
				t.Errorf("proxy %q, collector %q: %v", proxy, collector, err)
			}
		}
	}
}

func TestLadderNamesThePairTheValuesAndTheVariables(t *testing.T) {
	err := goodLimits(t, "BONGSU_VENDOR_TIMEOUT=5s").check() // 5 s + 5 s is not under a lease of 10 s
	want := "time limits: lease (10s) must be longer than vendor call + recording (10s): raise BONGSU_LEASE or lower BONGSU_VENDOR_TIMEOUT"
	if err == nil || err.Error() != want {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
}

// wrongLadders are orders of limits that must not start: by settings, and by
// changes of what nobody can set.
var wrongLadders = []struct {
	environ string // settings, separated by blanks
	change  func(*Limits)
	want    string
}{
	{"BONGSU_LEASE=8s", nil, "lease (8s) must be longer than vendor call + recording (8s): raise BONGSU_LEASE or lower BONGSU_VENDOR_TIMEOUT"},
	{"BONGSU_VENDOR_TIMEOUT=5s", nil, "lease (10s) must be longer than vendor call + recording (10s): raise BONGSU_LEASE or lower"},
	{"BONGSU_LEASE=2m", nil, "range task (2m) must be longer than lease (2m): lower BONGSU_LEASE"},
	{"BONGSU_VENDOR_TIMEOUT=12s BONGSU_LEASE=60s", nil, "shutdown grace (20s) must be longer than feeder's step down + vendor call + recording + worker's sign-off (20s): lower BONGSU_VENDOR_TIMEOUT"},
	{"BONGSU_VENDOR_TIMEOUT=60s BONGSU_LEASE=90s", nil, "range task (2m) must be longer than vendor call + vendor call + recording (2m5s): lower BONGSU_VENDOR_TIMEOUT"},
	{"BONGSU_PROXY_TIMEOUT=15s", nil, "browser (15s) must be longer than proxy (15s): lower BONGSU_PROXY_TIMEOUT"},
	{"BONGSU_PROXY_TIMEOUT=60s", nil, "browser (15s) must be longer than proxy (1m): lower BONGSU_PROXY_TIMEOUT"},
	{"BONGSU_PROXY_TIMEOUT=11s", nil, "proxy (11s) must be longer than server write (11s): raise BONGSU_PROXY_TIMEOUT"},
	{"BONGSU_STOP_TIMEOUT=10s", nil, "stop from outside (10s) must be longer than shutdown grace (20s): raise BONGSU_STOP_TIMEOUT"},
	{"", func(l *Limits) { l.Browser = l.Write }, "browser (11s) must be longer than server write (11s): all are fixed in the program"},
	{"", func(l *Limits) { l.Write = l.Handler }, "server write (10s) must be longer than server handler (10s)"},
	{"", func(l *Limits) { l.Read = 12 * time.Second }, "server write (11s) must be longer than server read (12s)"},
	{"", func(l *Limits) { l.Header = l.Read }, "server read (10s) must be longer than request header (10s)"},
	{"", func(l *Limits) { l.Handler = 8 * time.Second }, "server handler (8s) must be longer than database pool wait + transaction + look at the queues (9.5s)"},
	{"", func(l *Limits) { l.PoolWait = 4 * time.Second }, "server handler (10s) must be longer than database pool wait + transaction + look at the queues (11.5s)"},
	{"", func(l *Limits) { l.Transaction = 30 * time.Second }, "server handler (10s) must be longer than database pool wait + transaction + look at the queues (33.5s)"},
	{"", func(l *Limits) { l.Statement = 7 * time.Second }, "transaction (6s) must be longer than statement (7s)"},
	{"", func(l *Limits) { l.Lock = 6 * time.Second }, "statement (5.5s) must be longer than lock wait (6s)"},
	{"", func(l *Limits) { l.Connect = 10 * time.Second }, "database call (8s) must be longer than database connect + database ping + lock wait (14s)"},
	{"", func(l *Limits) { l.Ping = 2 * time.Second }, "database pool wait (2s) must be longer than database ping (2s)"},
	{"", func(l *Limits) { l.IdleTransaction = time.Minute }, "transaction (6s) must be longer than idle in transaction (1m)"},
	{"", func(l *Limits) { l.RedisDial = time.Second }, "enqueue (3s) must be longer than Redis pool wait + Redis dial + Redis write + Redis read (3s)"},
	{"", func(l *Limits) { l.FeederLease = 4 * time.Second }, "feeder lease (4s) must be longer than feeder's turn + lock wait (4s)"},
	{"", func(l *Limits) { l.Probe = l.VendorLook }, "vendor's probe (250ms) must be longer than look at the vendor (250ms)"},
	{"", func(l *Limits) { l.WorkerAlive = 10 * time.Second }, "worker alive (10s) must be longer than worker's beat + database pool wait + transaction (10s)"},
	{"", func(l *Limits) { l.Grace = 5 * time.Second }, "shutdown grace (5s) must be longer than database pool wait + transaction (8s)"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 BONGSU_VENDOR_TIMEOUT=10s BONGSU_LEASE=60s", nil, "shutdown grace (20s) must be longer than feeder's step down + vendor call + recording + worker's sign-off + trace flush (21s): lower BONGSU_VENDOR_TIMEOUT"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", func(l *Limits) { l.TraceExport = l.TraceFlush }, "trace flush (3s) must be longer than trace export (3s): all are fixed in the program"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", func(l *Limits) { l.Grace = 11 * time.Second }, "shutdown grace (11s) must be longer than database pool wait + transaction + trace flush (11s)"},
	{"", func(l *Limits) { l.Record = 2 * time.Second }, "recording (2s) must be longer than lock wait (3s)"},
}

// TestWrongLaddersStopTheStart runs the real start for each of them. It must end
// before anything is made: no folder for data is there afterwards.
func TestWrongLaddersStopTheStart(t *testing.T) {
	for _, x := range wrongLadders {
		t.Run(x.want[:strings.Index(x.want, ":")+1]+x.environ, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			environ := append(strings.Fields(x.environ), "BONGSU_DATA_DIR="+data, "BONGSU_VENDOR_URL=http://127.0.0.1:1/", "PATH="+os.Getenv("PATH"))
			var out bytes.Buffer
			a := &app{environ: environ, stdin: strings.NewReader(""), stdout: &out, stderr: &out, limits: func(c Config) Limits {
				l := limitsOf(c)
				if x.change != nil {
					x.change(&l)
				}
				return l
			}}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			wantError(t, a.command().Run(ctx, []string{"bongsu", "serve"}), "time limits: "+x.want)
			if _, err := os.Stat(data); err == nil {
				t.Error("the start had begun: it made its folder")
			}
		})
	}
}

// Each limit stands in some rung: one that stands in none could have any value.
func TestEveryLimitIsOnTheLadder(t *testing.T) {
	whole := Limits{}
	v := reflect.ValueOf(&whole).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(1 << i) // so that a sum of two is none of them
	}
	seen := map[time.Duration]bool{}
	for _, r := range whole.ladder() {
		seen[r.outer.value] = true
		for _, l := range r.inner {
			seen[l.value] = true
		}
	}
	for i := range v.NumField() {
		if !seen[1<<i] {
			t.Errorf("%s is on no rung", v.Type().Field(i).Name)
		}
	}
}

// Each rung is really checked: with its outer limit at the sum of the inner
// ones, and all others as they are, the check fails and names it.
func TestEachRungIsChecked(t *testing.T) {
	good := goodLimits(t, "BONGSU_PROXY_TIMEOUT=12s", "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318")
	for n, r := range good.ladder() {
		moved := 0
		for i := range reflect.TypeFor[Limits]().NumField() {
			broken := good
			field := reflect.ValueOf(&broken).Elem().Field(i)
			field.SetInt(field.Int() + int64(r.innerSum()-r.outer.value))
			if broken.Proxy == 0 || broken.TraceFlush == 0 || broken.ladder()[n].outer.value != r.innerSum() || broken.ladder()[n].innerSum() != r.innerSum() {
				continue // it is not what makes the outer limit
			}
			moved++
			if err := broken.check(); err == nil || !strings.Contains(err.Error(), r.outer.name+" ("+short(r.innerSum())+") must be longer than "+r.innerNames()) {
				t.Errorf("with %s at %s the check says %v", r.outer.name, r.innerSum(), err)
			}
		}
		if moved == 0 {
			t.Errorf("no field moves %s", r.outer.name)
		}
	}
}

func TestShortDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 400 * time.Millisecond: "400ms", 11 * time.Second: "11s", time.Minute: "1m", 125 * time.Second: "2m5s",
		time.Hour: "1h", 90 * time.Minute: "1h30m", 30 * time.Minute: "30m", 10*time.Minute + 10*time.Second: "10m10s",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%d ms) = %q, want %q", d.Milliseconds(), got, want)
		}
	}
}
