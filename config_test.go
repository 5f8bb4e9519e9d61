package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bongsu/jobs/push"
)

func TestConfigPresets(t *testing.T) {
	got, err := loadConfig([]string{"HOME=/root", "BONGSU_TEST_ANYTHING=1", "BONGSU_RATE="})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Addr:          "127.0.0.1:8080",
		DataDir:       "./.bongsu",
		VendorTimeout: 3 * time.Second,
		MaxInFlight:   256,
		RetryDelays:   push.Schedule{2 * time.Second, 6 * time.Second, 18 * time.Second},
		Lease:         10 * time.Second,

		BreakerBacklog: 500,
		RefusalPause:   0.5,
		Expiry:         24 * time.Hour,
		StopTimeout:    30 * time.Second,
	}
	presetVendors(&want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("presets (-want +got):\n%s", diff)
	}
}

func TestConfigReadsEveryVariable(t *testing.T) {
	got, err := loadConfig([]string{
		"DATABASE_URL=postgres://u:p@db/x", "REDIS_URL=unix:///run/redis.sock", "BONGSU_ADDR=:80",
		"BONGSU_HTTPS=true", "BONGSU_DATA_DIR=/data", "BONGSU_LOG=debug", "BONGSU_VENDOR_URL=https://push.example.com/send",
		"BONGSU_VENDOR_TOKEN=t", "BONGSU_VENDOR_TIMEOUT=1500ms", "BONGSU_MAX_IN_FLIGHT=8", "BONGSU_RATE=100",
		"BONGSU_RETRY_DELAYS=1s, 1m", "BONGSU_LEASE=1m", "BONGSU_UNKNOWN=hold", "BONGSU_BREAKER_BACKLOG=0",
		"BONGSU_REFUSAL_PAUSE=0.25", "BONGSU_EXPIRY=1h",
		"BONGSU_PROXY_TIMEOUT=12s", "BONGSU_STOP_TIMEOUT=45s", "BONGSU_TRUSTED_PROXIES=10.1.2.3/8, 192.0.2.7,2001:db8::/32",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		DatabaseURL: "postgres://u:p@db/x", RedisURL: "unix:///run/redis.sock", Addr: ":80",
		HTTPS: true, DataDir: "/data", Log: slog.LevelDebug, VendorURL: "https://push.example.com/send",
		VendorToken: "t", VendorTimeout: 1500 * time.Millisecond, MaxInFlight: 8, Rate: 100,
		RetryDelays: push.Schedule{time.Second, time.Minute}, Lease: time.Minute, HoldUnknown: true,
		RefusalPause: 0.25, Expiry: time.Hour, ProxyTimeout: 12 * time.Second, StopTimeout: 45 * time.Second,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("2001:db8::/32")},
	}
	presetVendors(&want)
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfigTellsEverythingThatIsWrong(t *testing.T) {
	_, err := loadConfig([]string{
		"BONGSU_RATES=5", "BONGSU_LEESE=1s", "BONGSU_ADDR=nowhere", "BONGSU_MAX_IN_FLIGHT=0", "BONGSU_RATE=1.5",
		"BONGSU_RETRY_DELAYS=2s,soon", "BONGSU_LEASE=10", "BONGSU_UNKNOWN=drop", "BONGSU_REFUSAL_PAUSE=NaN",
		"BONGSU_EXPIRY=-1h", "BONGSU_HTTPS=yes", "BONGSU_LOG=loud", "BONGSU_VENDOR_URL=ftp://x", "BONGSU_BREAKER_BACKLOG=-1",
		"BONGSU_VENDOR_TIMEOUT=0s", "BONGSU_VENDOR_TOKEN=two words", "BONGSU_PROXY_TIMEOUT=-1s", "BONGSU_STOP_TIMEOUT=0", "BONGSU_TRUSTED_PROXIES=10.0.0.0/8,proxy",
		"DATABASE_URL=postgres://u:hunter2@[bad", "REDIS_URL=http://u:hunter2@x",
	})
	if err == nil {
		t.Fatal("loadConfig took it all")
	}
	lines := strings.Split(err.Error(), "\n")
	wants := []string{
		"BONGSU_RATES is not a setting; did you mean BONGSU_RATE?", "BONGSU_LEESE is not a setting; did you mean BONGSU_LEASE?",
		`BONGSU_ADDR is "nowhere"`, "BONGSU_MAX_IN_FLIGHT is 0, not between 1 and", `BONGSU_RATE is "1.5"`,
		`BONGSU_RETRY_DELAYS is "soon"`, `BONGSU_LEASE is "10"`, `BONGSU_UNKNOWN is "drop", not one of: resend, hold`,
		`BONGSU_REFUSAL_PAUSE is "NaN"`, "BONGSU_EXPIRY is -1h0m0s", `BONGSU_HTTPS is "yes"`, `BONGSU_LOG is "loud"`,
		"BONGSU_VENDOR_URL is not a URL", "BONGSU_BREAKER_BACKLOG is -1", "BONGSU_VENDOR_TIMEOUT is 0s",
		"BONGSU_VENDOR_TOKEN has characters", "BONGSU_PROXY_TIMEOUT is -1s", "BONGSU_STOP_TIMEOUT is 0s", `BONGSU_TRUSTED_PROXIES has "proxy"`, "DATABASE_URL is not a PostgreSQL URL", "REDIS_URL is not a Redis URL",
	}
	for _, want := range wants {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("no line begins with %q", want)
		}
	}
	if len(lines) != len(wants) {
		t.Errorf("%d lines, want %d:\n%s", len(lines), len(wants), err)
	}
	if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "two words") {
		t.Errorf("the error shows a secret:\n%s", err)
	}
}

func TestConfigTrustsNotEverybody(t *testing.T) {
	for _, all := range []string{"0.0.0.0/0", "10.0.0.0/8,::/0"} {
		if _, err := loadConfig([]string{"BONGSU_TRUSTED_PROXIES=" + all}); err == nil || !strings.Contains(err.Error(), "trusts everybody") {
			t.Errorf("%s: %v", all, err)
		}
	}
	for _, s := range settings {
		if s.name == "BONGSU_TRUSTED_PROXIES" {
			if got := s.get(Config{}); got != "(unset)" {
				t.Errorf("check prints %q where nobody is trusted", got)
			}
			if got := s.get(Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32")}}); got != "10.0.0.0/8,192.0.2.7/32" {
				t.Errorf("check prints %q", got)
			}
		}
	}
}

func TestConfigSecretsFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig([]string{"BONGSU_VENDOR_TOKEN_FILE=" + file})
	if err != nil || c.VendorToken != "s3cret" {
		t.Errorf("token %q, %v; want what the file holds, without the line's end", string(c.VendorToken), err)
	}
	for _, environ := range [][]string{
		{"BONGSU_VENDOR_TOKEN_FILE=" + file, "BONGSU_VENDOR_TOKEN=other"},
		{"BONGSU_VENDOR_TOKEN_FILE=" + file + ".none"},
		{"BONGSU_VENDOR_TOKEN_FILE=/dev/null"},
		{"BONGSU_ADDR_FILE=" + file}, // no secret, so no file
	} {
		if _, err := loadConfig(environ); err == nil {
			t.Errorf("loadConfig took %v", environ)
		}
	}
}

// wrongTraces are settings of traces that must not start.
var wrongTraces = []struct{ environ, want string }{
	{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318", "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL such as http://collector:4318"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://u:hunter2@c", "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://", "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL"},
	{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=grpc://c", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not a URL"},
	{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c?key=hunter2", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not a URL"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_PROTOCOL=grpc", `OTEL_EXPORTER_OTLP_PROTOCOL is "grpc", not one of: http/protobuf`},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json", `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is "http/json", not one of: http/protobuf`},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_HEADERS=a=b,hunter2", "OTEL_EXPORTER_OTLP_HEADERS is not a list such as name=value"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=hunter2%zz", "OTEL_EXPORTER_OTLP_TRACES_HEADERS is not a list"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_TRACES_SAMPLER=jaeger_remote", `OTEL_TRACES_SAMPLER is "jaeger_remote", not one of`},
	{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_TRACES_SAMPLER_ARG=2", `OTEL_TRACES_SAMPLER_ARG is "2", not a share`},
}

func TestConfigOfTracesThatIsWrong(t *testing.T) {
	for _, x := range wrongTraces {
		_, err := loadConfig(strings.Fields(x.environ))
		if err == nil || !strings.HasPrefix(err.Error(), x.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error is %v, want %s", x.environ, err, x.want)
		}
	}
}

// Variables of OpenTelemetry may stand there for others. Where no traces are sent
// they are none of our business.
func TestConfigLeavesOtherTelemetryAlone(t *testing.T) {
	others := []string{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_HEADERS=odd", "OTEL_TRACES_SAMPLER=jaeger_remote",
		"OTEL_TRACES_SAMPLER_ARG=endpoint=http://x", "OTEL_METRICS_EXPORTER=none", "OTEL_ANYTHING=1", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=x"}
	for _, off := range [][]string{{}, {"OTEL_SDK_DISABLED=TRUE", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318"}} {
		c, err := loadConfig(append(others, off...))
		if err != nil || c.traced() || c.Sampler != "" || c.CollectorHeaders != "" {
			t.Errorf("%v: %+v, %v", off, c, err)
		}
	}
}

// Where spans go and what is sent with them, by the two names of each variable.
func TestConfigOfTraces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("authorization=Bearer%20hunter2, x-team = push,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ environ, url, headers string }{
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "http://c:4318/v1/traces", "map[]"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=https://c/otlp/ OTEL_EXPORTER_OTLP_HEADERS=a=b%3Dc", "https://c/otlp/v1/traces", "map[a:b=c]"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c/in OTEL_EXPORTER_OTLP_HEADERS_FILE=" + file, "http://c/in", "map[authorization:Bearer hunter2 x-team:push]"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://t/x OTEL_EXPORTER_OTLP_HEADERS=a=b OTEL_EXPORTER_OTLP_TRACES_HEADERS=d=e", "http://t/x", "map[d:e]"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf", "http://c/v1/traces", "map[]"},
	} {
		c, err := loadConfig(strings.Fields(x.environ))
		if err != nil {
			t.Errorf("%s: %v", x.environ, err)
			continue
		}
		headers, err := c.traceHeaders()
		if !c.traced() || c.traceURL() != x.url || fmt.Sprint(headers) != x.headers || err != nil {
			t.Errorf("%s: to %s with %v, %v", x.environ, c.traceURL(), headers, err)
		}
		for _, s := range settings {
			if strings.Contains(s.get(c), "hunter2") || strings.Contains(s.get(c), "b%3Dc") {
				t.Errorf("%s is shown as %s", s.name, s.get(c))
			}
		}
	}
}

func TestSecretsPrintMasked(t *testing.T) {
	c := Config{DatabaseURL: "postgres://u:hunter2@db/x?password=hunter2", VendorToken: "hunter2", CollectorHeaders: "a=hunter2", CollectorTraceHeaders: "a=hunter2",
		FCM: fcmConfig{Key: "hunter2"}, WebPush: webPushConfig{Key: "hunter2"}}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		fmt.Fprintf(&out, verb+"\n", c)
		fmt.Fprintf(&out, verb+"\n", c.VendorToken)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("", "config", c, "token", c.VendorToken)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("", "config", c, "token", c.VendorToken)
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b)
	for _, s := range settings {
		fmt.Fprintln(&out, s.get(c))
	}
	if text := out.String(); strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", "hunter2")) {
		t.Errorf("a secret is shown:\n%s", text)
	}
	if got := maskURL("postgres://u:hunter2@db:5432/x?password=hunter2#f"); got != "postgres://u:xxxxx@db:5432/x?xxxxx" {
		t.Errorf("maskURL = %q", got)
	}
	if got := maskURL("host=db password=hunter2"); got != mask {
		t.Errorf("maskURL of a keyword string = %q", got)
	}
}
