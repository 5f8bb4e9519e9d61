package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"bongsu/db/childproc"
	"bongsu/db/dbtest"
)

// TestDemo runs the demo as a person does, beside another that has its address:
// it takes a free one, shows the table, goes on serving, and leaves nothing
// running after Ctrl-C. Rows that depend on how busy the machine is may fail.
func TestDemo(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	data, err := dbtest.MkdirData("bongsu-demo-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	p := startDemo(t, data, "BONGSU_ADDR="+taken.Addr().String())
	err = poll(t.Context(), ends+runLimit, 100*time.Millisecond, "the table is there and the panel goes on", func() (bool, error) {
		return ended(p) || strings.Contains(p.said(t), "The panel goes on"), nil
	})
	if err != nil {
		t.Errorf("%v:\n%s", err, p.said(t))
	}
	said := p.said(t)
	t.Log(said)
	for _, row := range []string{"answer to the first submit", "answer to the second submit", "parts add up", "devices told twice",
		"good devices never told", "failed devices in the archive", "replay of all 100 vendor_error", "replay of all 100 token_expired"} {
		if !regexp.MustCompile(`(?m)^` + row + `.* ok\s*$`).MatchString(said) {
			t.Errorf("%s: the row is not there or does not hold", row)
		}
	}
	for _, row := range []string{"50 submits, idle", "50 submits, while sending", "sending again", "orphaned claims done", "the whole"} {
		if !strings.Contains(said, row) {
			t.Errorf("%s: the row is not there", row)
		}
	}
	for _, line := range []string{"operator  http", "support   http", "user=person-8", "user=person-31", "admin     http", "notices to nobody that measured the answers out of the list"} {
		if !strings.Contains(said, line) {
			t.Errorf("it does not say %q", line)
		}
	}
	if !regexp.MustCompile(`operator +\S+/notices/1 `).MatchString(said) {
		t.Error("the incident is not notice 1")
	}
	checkPanel(t, said, taken.Addr().String())
	checkTour(t, said)
	p.Signal(os.Interrupt.(syscall.Signal))
	if err := p.Err(); err != nil {
		t.Errorf("after Ctrl-C it ended with %v", err)
	}
	if said := p.said(t); !strings.Contains(said, "all has stopped: ") {
		t.Errorf("its last words are %q", said[max(0, len(said)-300):])
	}
	if left := processesOver(t, data); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
}

// startDemo starts the demo over a data directory. It ends with the test.
func startDemo(t *testing.T, data string, settings ...string) *proc {
	t.Helper()
	p := &proc{log: filepath.Join(t.TempDir(), "out")}
	out, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := append(ownedEnv(os.Environ()), asProgram+"=1", "BONGSU_DATA_DIR="+data)
	p.Process, err = childproc.Start(childproc.Command{
		Path: program, Args: []string{"demo"}, Env: append(env, settings...), Log: out, DeathSignal: syscall.SIGTERM})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(t.Context(), childproc.Step{Signal: syscall.SIGTERM, Wait: 2 * time.Minute}); err != nil {
			t.Error(err)
		}
	})
	return p
}

// said is what p has written so far.
func (p *proc) said(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// checkPanel wants three people to sign in with, and a panel that answers at
// another address than the taken one.
func checkPanel(t *testing.T, said, taken string) {
	t.Helper()
	at := regexp.MustCompile(`panel: http://(\S+)`).FindStringSubmatch(said)
	if at == nil || at[1] == taken || !strings.Contains(said, taken+" is taken") {
		t.Fatalf("the panel's address is %q, and %s was taken", at, taken)
	}
	if people := regexp.MustCompile(`(operator|support|admin)@demo\.example +\S{20,}`).FindAllString(said, -1); len(people) != 3 {
		t.Errorf("people to sign in with: %q", people)
	}
	resp, err := http.Get("http://" + at[1] + "/signin")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the sign-in page answered %s", resp.Status)
	}
}

// checkTour asks the API whether what a newcomer is led to is there: one notice, and the
// devices of the two persons as the tour tells of them.
func checkTour(t *testing.T, said string) {
	t.Helper()
	at := regexp.MustCompile(`panel: (http://\S+)`).FindStringSubmatch(said)
	token := regexp.MustCompile(`Bearer (\S+)`).FindStringSubmatch(said)
	if at == nil || token == nil {
		t.Fatal("no address or no token")
	}
	api := demoAPI{base: at[1] + "/api/v1", token: token[1]}
	var notices struct{ Items []apiNotice }
	if _, err := api.ask(t.Context(), http.MethodGet, "/notices", nil, &notices); err != nil || len(notices.Items) != 1 || notices.Items[0].ID != 1 {
		t.Errorf("the list has %+v, %v; want notice 1 alone", notices.Items, err)
	}
	for user, want := range map[string]string{demoUser(tourExpired): "failed token_expired", demoUser(tourDown): "sent "} {
		var devices struct{ Items []struct{ ID int64 } }
		if _, err := api.ask(t.Context(), http.MethodGet, "/devices?user="+user, nil, &devices); err != nil || len(devices.Items) != 2 {
			t.Fatalf("%s has %+v, %v", user, devices.Items, err)
		}
		// The newer of the two, whose number is odd.
		var history struct {
			Items []struct {
				Status, Reason string
				Generation     int
			}
		}
		path := fmt.Sprintf("/devices/%d/deliveries", devices.Items[0].ID)
		if _, err := api.ask(t.Context(), http.MethodGet, path, nil, &history); err != nil || len(history.Items) != 1 {
			t.Fatalf("%s: %+v, %v", user, history.Items, err)
		}
		if h := history.Items[0]; h.Status+" "+h.Reason != want || user == demoUser(tourDown) && h.Generation != 2 {
			t.Errorf("%s: %+v, want %s", user, h, want)
		}
	}
}

// processesOver gives the command lines of processes that name the directory or
// work in it.
func processesOver(t *testing.T, dir string) (lines []string) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		line, _ := os.ReadFile(filepath.Join(p, "cmdline")) // it may be gone by now
		env, _ := os.ReadFile(filepath.Join(p, "environ"))
		cwd, _ := os.Readlink(filepath.Join(p, "cwd"))
		if bytes.Contains(line, []byte(dir)) || bytes.Contains(env, []byte(dir)) || strings.HasPrefix(cwd, dir) {
			lines = append(lines, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return lines
}

func TestDemoTable(t *testing.T) {
	var table demoTable
	table.add("first", true, "at most 2", "%d", 1)
	if err := table.err(); err != nil {
		t.Errorf("all rows hold, and it says %v", err)
	}
	table.add("second", false, "at most 2", "%d", 3)
	if err := table.err(); err == nil || err.Error() != "1 of 2 rows do not hold" {
		t.Errorf("one row does not hold, and it says %v", err)
	}
	var out bytes.Buffer
	table.print(&out)
	if !regexp.MustCompile(`(?m)^first +1 +at most 2 +ok\n^second +3 +at most 2 +FAILED\n`).Match(out.Bytes()) {
		t.Errorf("the table is\n%s", &out)
	}
}

func TestAnswersLimit(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		inserts []time.Duration
		want    time.Duration
	}{
		{[]time.Duration{3 * ms, ms, 2 * ms}, 10 * ms},
		{[]time.Duration{9 * ms, 1 * ms, 3 * ms, 5 * ms}, 20 * ms},
	} {
		if got := (answers{inserts: c.inserts}).limit(); got != c.want {
			t.Errorf("%v: the limit is %s, want %s", c.inserts, got, c.want)
		}
	}
	var table demoTable
	answers{submits: []time.Duration{ms}, inserts: []time.Duration{ms}}.row(&table, "few")
	if table.err() == nil {
		t.Errorf("a median of one submit holds")
	}
}

func TestProgressLine(t *testing.T) {
	c := apiCounts{Total: 10_000, Sent: 7_900, Failed: 99, Skipped: 0, Retrying: 300, Pending: 1_701}
	want := "[#######################.......]  79 %  7,900 sent  300 retrying  99 failed  12 s  so far"
	if got := progressLine(c, 10_000, 12*time.Second, "so far"); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestOwnedEnv(t *testing.T) {
	got := ownedEnv([]string{"HOME=/h", "BONGSU_RATE=3", "DATABASE_URL=x", "REDIS_URL_FILE=y", "BONGSU_LOG=warn", "PATH=/bin"}, "BONGSU_LOG")
	if s := strings.Join(got, " "); s != "HOME=/h BONGSU_LOG=warn PATH=/bin" {
		t.Errorf("kept %q", s)
	}
}
