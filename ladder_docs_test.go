package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bongsu/views"
)

// envDocs, where it is set, has the tests write the documents and pictures that
// they otherwise compare.
const envDocs = "BONGSU_TEST_DOCS"

// ladderTable is the ladder as ARCHITECTURE prints it.
func ladderTable(l Limits) string {
	var b strings.Builder
	b.WriteString("| limit | value | longer than | set by |\n|---|---|---|---|\n")
	for _, s := range l.steps() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.Name, s.Value, s.Longer, s.Variable)
	}
	return b.String()
}

func TestArchitecturePrintsTheLadder(t *testing.T) {
	const file, begin, end = "ARCHITECTURE.md", "<!-- ladder: written by a test -->\n", "<!-- end of the ladder -->"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("ARCHITECTURE.md has no place for the ladder")
	}
	want := ladderTable(goodLimits(t, "BONGSU_PROXY_TIMEOUT=12s", "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318"))
	if os.Getenv(envDocs) != "" {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, old); diff != "" {
		t.Errorf("%s=1 go test -run %s . mends this (-want +got):\n%s", envDocs, t.Name(), diff)
	}
}

// proxyLines are the limits that docs/proxy.md tells a proxy to have: a pattern
// whose first group is the value, and what it must be between, both left out.
var proxyLines = []struct {
	pattern     string
	over, under func(Limits) time.Duration
}{
	{`BONGSU_PROXY_TIMEOUT=(\w+)`, writeLimit, browserLimit},
	{`proxy_read_timeout +(\w+);`, writeLimit, browserLimit},
	{`proxy_send_timeout +(\w+);`, writeLimit, browserLimit},
	{`keepalive_timeout +(\w+);`, nil, idleLimit},
	{`response_header_timeout +(\w+)`, writeLimit, browserLimit},
	{`\bkeepalive +(\d+s)\n`, nil, idleLimit},
	{`timeout server +(\w+)`, writeLimit, browserLimit},
	{`timeout http-keep-alive +(\w+)`, nil, idleLimit},
	{`timeout http-request +(\w+)`, headerLimit, nil},
	{`TimeoutStopSec=(\w+)`, graceLimit, nil},
	{`stop_grace_period: (\w+)`, graceLimit, nil},
	{`terminationGracePeriodSeconds: (\w+)`, graceLimit, nil},
}

func writeLimit(l Limits) time.Duration   { return l.Write }
func browserLimit(l Limits) time.Duration { return l.Browser }
func idleLimit(l Limits) time.Duration    { return l.Idle }
func headerLimit(l Limits) time.Duration  { return l.Header }
func graceLimit(l Limits) time.Duration   { return l.Grace }

func TestProxyDocumentFitsTheLadder(t *testing.T) {
	raw, err := os.ReadFile("docs/proxy.md")
	if err != nil {
		t.Fatal(err)
	}
	l := goodLimits(t)
	for _, line := range proxyLines {
		found := regexp.MustCompile(line.pattern).FindAllStringSubmatch(string(raw), -1)
		if len(found) == 0 {
			t.Errorf("docs/proxy.md says nothing like %s", line.pattern)
		}
		for _, m := range found {
			value := m[1]
			if !strings.ContainsAny(value, "smh") {
				value += "s"
			}
			d, err := time.ParseDuration(value)
			if err != nil || line.over != nil && d <= line.over(l) || line.under != nil && d >= line.under(l) {
				t.Errorf("%q does not fit the ladder: %v", m[0], err)
			}
		}
	}
	if err := goodLimits(t, regexp.MustCompile(`BONGSU_PROXY_TIMEOUT=\w+`).FindString(string(raw))).check(); err != nil {
		t.Error(err)
	}
}

// The files that operators start from give the program the time that it takes.
func TestStarterFilesGiveTheGrace(t *testing.T) {
	for file, pattern := range map[string]string{"compose.yaml": `stop_grace_period: (\w+)`, "bongsu.service": `TimeoutStopSec=(\w+)`} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(pattern).FindSubmatch(raw)
		if m == nil {
			t.Fatalf("%s names no limit", file)
		}
		if err := goodLimits(t, "BONGSU_STOP_TIMEOUT="+string(m[1])).check(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// timesElsewhere are the files besides the ladder that name lengths of time, and
// why they may: nothing in them bounds a wait that lies inside another.
var timesElsewhere = map[string]string{
	"bench*.go": "what the benchmark measures", "demo*.go": "what the demo plays",
	"jobs/limits.go":         "read by the ladder",
	"jobs/caller.go":         "how long retries are expected",
	"jobs/breaker.go":        "how long a guard lets the ledger alone",
	"jobs/vendor_watch.go":   "when the first probe goes out",
	"jobs/exchange.go":       "pauses between tries",
	"jobs/feed.go":           "how often is rung again",
	"jobs/feeder.go":         "how often is looked for work",
	"jobs/guard.go":          "how long a refusal waits for the next answer",
	"jobs/keep.go":           "when the sweep looks at something",
	"jobs/rate.go":           "the slice of a rate",
	"jobs/task_test_send.go": "when a test send expires",
	"jobs/worker.go":         "how often an empty queue is looked at",
	"jobs/push/backoff.go":   "the schedule of retries",
	"jobs/push/http/*.go":    "presets of a package that the ladder's values replace",
	"jobs/push/wire/*.go":    "what Retry-After may say",
	"jobs/push/pushsim/*.go": "the stand-in",
	"jobs/push/webpush/*.go": "presets that the ladder's values replace, the life of a token and of a message",

	"jobs/push/pushsim/autopush/*.go": "the stand-in", "jobs/push/pushsim/firefox/*.go": "start and end of a browser",
	"jobs/push/pushtest/*.go": "tests", "jobs/push/bareloop/*.go": "what the benchmark measures against",
	"jobs/redisserver/*.go": "start and end of a private server", "jobs/redisserver/redistest/*.go": "tests",
	"db/childproc/*.go": "start and end of a private server", "db/pgserver/*.go": "start and end of a private server",
	"db/dbtest/*.go": "tests", "db/dbtest/faulttable/*.go": "tests", "db/dbtest/testpg/*.go": "tests", "db/dbtest/faults/*.go": "tests",
	"db/pace.go": "the steps of a chart", "db/testsend.go": "how long a test send that is the same is told of",
	"db/replay_plan.go": "how long a plan is kept", "web/page_replay.go": "how long a run is looked at after its end",
	"db/db.go":           "the age of a connection",
	"db/token.go":        "how often the last use is noted",
	"db/worker.go":       "read by the ladder",
	"servers.go":         "start of a private server",
	"traces.go":          "how often a collector's failure is told",
	"calm.go":            "how often a Redis that is away is asked",
	"keeper.go":          "the pause before a restart",
	"config_settings.go": "bounds of settings", "config_vendors.go": "how often keys are read again, how long a host is looked up",
	"jobs/push/fcm/*.go": "the life of an access token, and what FCM asks for",
	"web/signin.go":      "tries that come back", "db/tries.go": "a moment, rounded",
	"web/errors.go":    "what Retry-After says",
	"web/page_rate.go": "the window of a rate",
	"web/poll.go":      "how often a page asks",
	"web/parts.go":     "when a part is worth a warning",
	"web/watch.go":     "how long a full disk is remembered",
	"db/stalled.go":    "when a notice counts as stalled",
	"web/session.go":   "the life of a session",

	"db/import_accept.go": "how long a file is remembered", "db/import_feed.go": "how long a file waits to become an import",
	"db/user_link.go": "the life of a link", "web/page_tokens.go": "the life of a token",
	"web/page_import.go": "when an import counts as stalled", "web/second.go": "the steps of a code, and how long one is awaited",
}

// TestEveryTimeIsOnTheLadder finds lengths of time that were written down
// somewhere else: they could contradict it.
func TestEveryTimeIsOnTheLadder(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != "." {
			return fs.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == "ladder.go" || !namesTimes(t, path) {
			return nil
		}
		for pattern := range timesElsewhere {
			if ok, _ := filepath.Match(pattern, filepath.ToSlash(path)); ok {
				used[pattern] = true
				return nil
			}
		}
		t.Errorf("%s names lengths of time: a limit belongs into ladder.go, anything else onto this test's list", path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pattern := range timesElsewhere {
		if !used[pattern] {
			t.Errorf("%s names no lengths of time any more", pattern)
		}
	}
}

// namesTimes says whether the file mentions a unit of time, such as time.Second.
func namesTimes(t *testing.T, path string) (found bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		found = found || ok && x.Name == "time" && slices.Contains([]string{"Millisecond", "Second", "Minute", "Hour"}, s.Sel.Name)
		return true
	})
	return found
}

// The pages' script gives up when the ladder says so, and names that time.
func TestPagesGiveUpWhenTheLadderSays(t *testing.T) {
	var b strings.Builder
	if err := views.ProblemPage(views.Problem{}).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	limit := goodLimits(t).Browser
	for _, want := range []string{
		fmt.Sprintf(`&#34;timeout&#34;:%d,`, limit.Milliseconds()), fmt.Sprintf("within %d seconds", int(limit.Seconds())),
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}
