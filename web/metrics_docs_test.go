package web

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"bongsu/views"
)

// What an expression of Prometheus asks for. It need not understand the whole of
// the language, only find each metric in it with its labels.
var (
	askedMetric = regexp.MustCompile(`\b((?:bongsu|process|go)_[a-z0-9_]+)(?:\{([^}]*)\})?`)
	askedLabel  = regexp.MustCompile(`(\w+)(=~|!~|!=|=)"([^"]*)"`)
	askedGroup  = regexp.MustCompile(`\b(?:by|without) \(([^)]*)\)`)
	askedRate   = regexp.MustCompile(`\b(?:rate|increase)\((\w+)`)
)

// wrongIn tells what an expression asks for that is not in text, which /metrics
// gave: a metric, a label, a label's value, or the rate of what is no counter.
// Prometheus itself adds the labels job and instance.
func wrongIn(expr, text string) (wrong []string) {
	lines := strings.Split(text, "\n")
	has := func(begin, within string) bool {
		return slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, begin) && strings.Contains(l, within) })
	}
	for _, m := range askedMetric.FindAllStringSubmatch(expr, -1) {
		name := m[1]
		if !has(name+" ", "") && !has(name+"{", "") {
			wrong = append(wrong, name)
		}
		for _, l := range askedLabel.FindAllStringSubmatch(m[2], -1) {
			within := l[1] + `="`
			if l[2] == "=" {
				within += l[3] + `"`
			}
			if l[1] != "job" && l[1] != "instance" && !has(name+"{", within) {
				wrong = append(wrong, name+"{"+l[0]+"}")
			}
		}
	}
	for _, m := range askedGroup.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(m[1], ", ") {
			if label != "job" && label != "instance" && !has("", label+`="`) {
				wrong = append(wrong, "by "+label)
			}
		}
	}
	for _, m := range askedRate.FindAllStringSubmatch(expr, -1) {
		if !regexp.MustCompile(`_(total|bucket|sum|count)$`).MatchString(m[1]) {
			wrong = append(wrong, "rate of "+m[1])
		}
	}
	return wrong
}

func TestMetricsThatAreMissingAreFound(t *testing.T) {
	const text = "# HELP bongsu_old Old.\nbongsu_a 1\nbongsu_b_total{kind=\"http\",state=\"ok\"} 1\nbongsu_c_seconds_bucket{le=\"1\"} 1\n"
	for expr, want := range map[string]string{
		`max(bongsu_a) == 0 or up{job="x"} == 0`:                                "[]",
		`sum by (kind, le) (rate(bongsu_b_total{state="ok",instance="x"}[5m]))`: "[]",
		`histogram_quantile(0.5, rate(bongsu_c_seconds_bucket[5m]))`:            "[]",
		`bongsu_old`:                         "[bongsu_old]",
		`max(bongsu_c_seconds) + bongsu_b`:   "[bongsu_c_seconds bongsu_b]",
		`bongsu_b_total{state="gone"}`:       `[bongsu_b_total{state="gone"}]`,
		`bongsu_b_total{type=~".*"}`:         `[bongsu_b_total{type=~".*"}]`,
		`max by (kind, route) (bongsu_a)`:    "[by route]",
		`rate(bongsu_a[5m]) / go_goroutines`: "[go_goroutines rate of bongsu_a]",
	} {
		if got := fmt.Sprint(wrongIn(expr, text)); got != want {
			t.Errorf("%s: %s, not %s", expr, got, want)
		}
	}
}

// allMetrics is what /metrics gives when each metric has a value.
func allMetrics(t *testing.T) string {
	t.Helper()
	x := newRig(t)
	x.fillLedger()
	x.sql(`UPDATE vendor SET ok_at = now()`)
	return string(x.send("GET", "/metrics", "").body)
}

type alertRule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func TestMetricsOfTheAlertsExist(t *testing.T) {
	raw, err := os.ReadFile("../docs/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []alertRule
		}
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) != 1 || file.Groups[0].Name != "bongsu" || len(file.Groups[0].Rules) < 12 {
		t.Fatalf("%+v", file)
	}
	text, seen := allMetrics(t), map[string]bool{}
	for _, r := range file.Groups[0].Rules {
		if seen[r.Alert] || !strings.HasPrefix(r.Alert, "Bongsu") {
			t.Errorf("%q is there twice or has no good name", r.Alert)
		}
		seen[r.Alert] = true
		for _, wrong := range wrongIn(r.Expr, text) {
			t.Errorf("%s asks for %s, which /metrics does not give", r.Alert, wrong)
		}
		r.check(t)
	}
}

// check holds a rule to what each must say.
func (r alertRule) check(t *testing.T) {
	t.Helper()
	if d, err := time.ParseDuration(r.For); err != nil || d <= 0 {
		t.Errorf("%s waits for %q", r.Alert, r.For)
	}
	if s := r.Labels["severity"]; s != "critical" && s != "warning" {
		t.Errorf("%s has the severity %q", r.Alert, s)
	}
	if r.Expr == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
		t.Errorf("%s is not whole: %+v", r.Alert, r)
	}
	pages := regexp.MustCompile(`/runbook/[a-z-]+`).FindAllString(r.Annotations["description"], -1)
	for _, path := range append(pages, r.Annotations["runbook"]) {
		if key, ok := strings.CutPrefix(path, views.RunbookPath("")); !ok || views.MessageTitle(key) == "" {
			t.Errorf("%s leads to %q, and there is no such page", r.Alert, path)
		}
	}
}

type dashboardPanel struct {
	ID                       int
	Type, Title, Description string
	Datasource               struct{ UID string }
	Targets                  []struct{ Expr string }
}

func TestMetricsOfTheDashboardExist(t *testing.T) {
	raw, err := os.ReadFile("../docs/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		SchemaVersion int
		Templating    struct{ List []struct{ Name, Type string } }
		Panels        []dashboardPanel
	}
	if err := json.Unmarshal(raw, &board); err != nil {
		t.Fatal(err)
	}
	if v := board.Templating.List; board.SchemaVersion < 39 || len(v) != 1 || v[0].Name != "datasource" || v[0].Type != "datasource" {
		t.Errorf("schema %d, variables %v", board.SchemaVersion, v)
	}
	text, ids, rows := allMetrics(t), map[int]bool{}, []string{}
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("%q has the number of another", p.Title)
		}
		ids[p.ID] = true
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		if p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("%q asks %q for %v", p.Title, p.Datasource.UID, p.Targets)
		}
		for _, target := range p.Targets {
			for _, wrong := range wrongIn(target.Expr, text) {
				t.Errorf("%q asks for %s, which /metrics does not give", p.Title, wrong)
			}
		}
		for _, path := range regexp.MustCompile(`/runbook/[a-z-]+`).FindAllString(p.Description, -1) {
			if views.MessageTitle(strings.TrimPrefix(path, views.RunbookPath(""))) == "" {
				t.Errorf("%q leads to %s, and there is no such page", p.Title, path)
			}
		}
	}
	if want := []string{"What people ask", "What waits", "Who works", "Outside", "Answers", "Process"}; !slices.Equal(rows, want) {
		t.Errorf("the rows are %q", rows)
	}
}
