package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bongsu/db/dbtest"
)

// apiImport is an import as the API gives it, as far as tests look.
type apiImport struct {
	ID                                                               int64
	State                                                            string
	Total, Processed, Created, Updated, Unchanged, Rejected, Doubled int64
	Error                                                            *struct{ Code, Message string }
}

// deviceList is a list of n devices.
func deviceList(n int) string {
	var b strings.Builder
	b.WriteString("token,platform,user,tags\n")
	for i := range n {
		fmt.Fprintf(&b, "list-token-%07d,android,user-%d,news|all\n", i, i%5000)
	}
	return b.String()
}

// uploads gives a list to the API of one process.
func (s *site) uploads(base, list string) (i apiImport, status int) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, base+"/api/v1/imports", strings.NewReader(list))
	s.no(err)
	req.Header.Set("Authorization", "Bearer "+s.api.token)
	req.Header.Set("Content-Type", "text/csv")
	resp, err := http.DefaultClient.Do(req)
	s.no(err)
	defer resp.Body.Close()
	s.no(json.NewDecoder(resp.Body).Decode(&i))
	return i, resp.StatusCode
}

// imported waits until the import is done, and wants no look at it to count a row
// twice.
func (s *site) imported(base string, id int64) (i apiImport) {
	s.t.Helper()
	s.until("the import has ended", func() bool {
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, fmt.Sprintf("%s/api/v1/imports/%d", base, id), nil)
		s.no(err)
		req.Header.Set("Authorization", "Bearer "+s.api.token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false // the page process is on its way back
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK || json.NewDecoder(resp.Body).Decode(&i) != nil {
			return false
		}
		if i.Processed > i.Total {
			s.t.Fatalf("%d of %d rows are done", i.Processed, i.Total)
		}
		return i.State != "pending" && i.State != "running"
	})
	return i
}

// TestImportIncident replays the second incident: the same 1,200 rows at the same
// moment through two processes, and once more two minutes later by the database's
// clock. It is one import of 1,200 devices, and every answer names it.
func TestImportIncident(t *testing.T) {
	t.Parallel()
	s := newSite(t, plainVendor())
	bases := []string{s.start(roleWeb).base, s.start(roleWeb).base}
	list := deviceList(1_200)
	var all sync.WaitGroup
	var got [2]apiImport
	var status [2]int
	for k := range 2 {
		all.Go(func() { got[k], status[k] = s.uploads(bases[k], list) })
	}
	all.Wait()
	if got[0].ID != got[1].ID || status[0]+status[1] != http.StatusAccepted+http.StatusOK {
		t.Errorf("at once: imports %d and %d, answers %v", got[0].ID, got[1].ID, status)
	}
	s.exec("UPDATE import SET accepted_at = accepted_at - interval '2 minutes'")
	if again, code := s.uploads(bases[1], list); again.ID != got[0].ID || code != http.StatusOK {
		t.Errorf("two minutes later: import %d, answer %d", again.ID, code)
	}
	s.start(roleWorker)
	i := s.imported(bases[0], got[0].ID)
	if i.State != "done" || i.Created != 1_200 || i.Processed != 1_200 {
		t.Errorf("%+v", i)
	}
	if again, code := s.uploads(bases[0], list); again.ID != got[0].ID || code != http.StatusOK {
		t.Errorf("after its end: import %d, answer %d", again.ID, code)
	}
	if n := s.count("SELECT count(*) FROM device") + 10_000*s.count("SELECT count(*) FROM import"); n != 11_200 {
		t.Errorf("devices and ten thousand times imports: %d, want 11,200", n)
	}
}

func (s *site) exec(sql string, args ...any) {
	s.t.Helper()
	_, err := s.pool.Exec(s.t.Context(), sql, args...)
	s.no(err)
}

// TestFaultImportKilled kills the worker at three moments of an import by SIGKILL, and
// empties Redis once. The import ends by itself with exact counts.
func TestFaultImportKilled(t *testing.T) {
	t.Parallel()
	const rows = 200_000
	s := newSite(t, plainVendor())
	base := s.start(roleWeb).base
	i, _ := s.uploads(base, deviceList(rows)+"bad,palm,,\n")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 3 {
		worker := s.start(roleWorker)
		// A random moment of the work that is left, by the rows read and written.
		done := func() int64 { return s.count("SELECT read_to + write_to FROM import WHERE id = $1", i.ID) }
		from := done()
		until := from + 1 + random.Int64N(max(1, (2*rows-from)/3))
		s.until("the import has moved", func() bool { return done() >= until })
		s.dies(worker)
	}
	s.redis.StartEmpty()
	s.start(roleWorker)
	i = s.imported(base, i.ID)
	if i.State != "done" || i.Created != rows || i.Rejected != 1 || i.Total != rows+1 || i.Processed != rows+1 {
		t.Errorf("%+v", i)
	}
	if n := s.count("SELECT count(*) FROM device"); n != rows {
		t.Errorf("%d devices", n)
	}
}

// TestFaultImportAndPostgres kills the private PostgreSQL with SIGKILL in mid-import: it
// comes back by itself, the rows that were staged are gone with the crash, and the
// import ends with exact counts.
func TestFaultImportAndPostgres(t *testing.T) {
	t.Parallel()
	const rows = 150_000
	dir, err := dbtest.MkdirData("bongsu-import-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	environ := []string{"PATH=" + os.Getenv("PATH"), "BONGSU_DATA_DIR=" + dir, "BONGSU_ADDR=" + addr, "BONGSU_VENDOR_URL=http://127.0.0.1:1/"}
	stop := startServe(t, environ, addr)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	token, err := command(t, environ, "", "token", "add", "--name", "lists", "--role", "admin")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, api: demoAPI{token: strings.TrimSpace(token)}}
	base := "http://" + addr
	i, status := s.uploads(base, deviceList(rows))
	if status != http.StatusAccepted {
		t.Fatalf("answer %d", status)
	}
	for _, at := range []int64{rows / 3, 2 * rows / 3} {
		s.until("rows are written", func() bool {
			var now apiImport
			code := apiGet(t, fmt.Sprintf("%s/api/v1/imports/%d", base, i.ID), s.api.token, &now)
			return code == http.StatusOK && now.Created >= at
		})
		killPostgres(t, dir)
	}
	i = s.imported(base, i.ID)
	if i.State != "done" || i.Created != rows || i.Processed != rows {
		t.Errorf("%+v", i)
	}
}

// killPostgres kills the private server whose data lies under dir.
func killPostgres(t *testing.T, dir string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "postgres", "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
