package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// benchKeys are the rows of the table, in their order.
var benchKeys = []string{
	"first_call", "ratio_slow", "sequential_slow", "ratio_fast", "sequential_fast", "memory", "memory_ever", "redis",
	"ratio_million", "memory_million", "memory_ever_million", "redis_million", "page_progress", "page_archive", "page_notice", "page_device",
	"accept_idle", "first_call_one", "late_idle", "late_idle_never_early", "late_busy", "late_busy_never_early",
	"accept_busy", "busy_rate", "per_device_slow", "per_device_fast",
}

// TestBench runs a small benchmark on real servers: its table is complete, on
// the screen and as JSON, and nothing of it is left.
func TestBench(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "bongsu")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data := filepath.Join(dir, "data")
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, "bench", "--quick", "--profile", filepath.Join(dir, "profile"))
	cmd.Env = append(os.Environ(), "BONGSU_DATA_DIR="+data, "BONGSU_MAX_IN_FLIGHT=7")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	var r benchReport
	raw, err := os.ReadFile(filepath.Join(data, "bench.json"))
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	checkBenchRows(t, r, stdout.String())
	if left, err := os.ReadDir(data); err != nil || len(left) != 1 {
		t.Errorf("the data directory holds %v, %v", left, err)
	}
	for _, name := range []string{"slow.pprof", "fast.pprof"} {
		if info, err := os.Stat(filepath.Join(dir, "profile", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBenchImport runs the small benchmark of device lists.
func TestBenchImport(t *testing.T) {
	dir := t.TempDir()
	if _, err := command(t, []string{"PATH=" + os.Getenv("PATH")}, "", "bench", "--import", "--million"); err == nil {
		t.Error("two kinds of benchmark at once are taken")
	}
	program := filepath.Join(dir, "bongsu")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "bench", "--quick", "--import")
	cmd.Env = append(os.Environ(), "BONGSU_DATA_DIR="+filepath.Join(dir, "data"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, row := range []string{"import of 10000 rows", "memory of the process above", "calls beside an import"} {
		if !bytes.Contains(out, []byte(row)) {
			t.Errorf("no row %q in\n%s", row, out)
		}
	}
}

func checkBenchRows(t *testing.T, r benchReport, table string) {
	t.Helper()
	var keys []string
	for _, x := range r.Rows {
		keys = append(keys, x.Key)
		if !strings.Contains(table, x.What) {
			t.Errorf("the table lacks %q", x.What)
		}
		absent := strings.HasSuffix(x.Key, "_million")
		switch {
		case absent != (x.Measured == nil):
			t.Errorf("%s: measured %v", x.Key, x.Measured)
		case !absent && *x.Measured <= 0:
			t.Errorf("%s: measured %v", x.Key, *x.Measured)
		case (x.Bound == nil) != (x.Holds == nil):
			t.Errorf("%s: bound %v, holds %v", x.Key, x.Bound, x.Holds)
		}
	}
	if !slices.Equal(keys, benchKeys) {
		t.Errorf("the rows are %v\nwant %v", keys, benchKeys)
	}
}

func TestBenchReport(t *testing.T) {
	r := newBenchReport(benchOptions{})
	r.atLeast("fast", "fast enough", 0.5, "", 0.35, 0.60, "")
	r.atMost("small", "small enough", 60, "MiB", 200, 100, "")
	r.absent("later", "not looked at", "")
	if err := r.check(); err != nil {
		t.Errorf("all rows hold: %v", err)
	}
	if fast, small := r.Rows[0], r.Rows[1]; *fast.AimMet || !*small.AimMet || fast.AtMost || !small.AtMost {
		t.Errorf("rows %+v and %+v", fast, small)
	}
	r.atLeast("slow", "too slow", 0.3, "", 0.35, 0.60, "")
	r.atMost("large", "too large", 300, "MiB", 200, 100, "")
	err := r.check()
	if err == nil || !strings.Contains(err.Error(), "too slow") || !strings.Contains(err.Error(), "too large") || strings.Contains(err.Error(), "enough") {
		t.Errorf("check: %v", err)
	}
	var table bytes.Buffer
	if err := r.print(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.500", "≥ 0.350", "≤ 200.0 MiB", "yes, and the aim", "NO", "–"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &table)
		}
	}
}

func TestQuantile(t *testing.T) {
	all := []time.Duration{50, 10, 40, 20, 30}
	for q, want := range map[float64]time.Duration{0: 10, 0.5: 30, 0.99: 50, 1: 50} {
		if got := quantile(all, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if all[0] != 50 {
		t.Error("quantile changed its argument")
	}
}

func TestBenchEnv(t *testing.T) {
	got := benchEnv([]string{"HOME=/root", "DATABASE_URL=x", "REDIS_URL_FILE=x", "BONGSU_RATE=1", "PATH=/bin"})
	if want := []string{"HOME=/root", "PATH=/bin"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMemoryReadings(t *testing.T) {
	if v, err := peakMemory(os.Getpid()); err != nil || v < mebi {
		t.Errorf("peak of this process: %v, %v", v, err)
	}
	if v, err := redisPeak("# Memory\r\nused_memory:5\r\nused_memory_peak:7340032\r\nused_memory_peak_human:7M\r\n"); err != nil || v != 7*mebi {
		t.Errorf("peak of redis: %v, %v", v, err)
	}
	if _, err := redisPeak("# Memory\r\n"); err == nil {
		t.Error("no peak, no error")
	}
}
