package web

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"bongsu/db"
)

const shortList = "token,platform\na,ios\nb,web\n"

// sendList gives a list to the API as its body.
func (x *rig) sendList(role db.Role, query, list string, change ...func(*http.Request)) answer {
	x.t.Helper()
	return x.send("POST", apiRoot+"/imports"+query, list, append(change, withToken(x.tokens[role]), withHeader("Content-Type", "text/csv"))...)
}

// asForm is a form with a file, whose fields come before it or after it.
func asForm(list string, before, after map[string]string) (body, kind string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range before {
		_ = w.WriteField(name, value)
	}
	f, _ := w.CreateFormFile("file", "list.csv")
	_, _ = io.WriteString(f, list)
	for name, value := range after {
		_ = w.WriteField(name, value)
	}
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

func TestAcceptImport(t *testing.T) {
	x := newRig(t)
	a := x.sendList(db.Operator, "?dry_run=true", shortList)
	checkDocumented(t, "POST", apiRoot+"/imports", shortList, a)
	first := read[importJSON](t, a)
	if a.status != 202 || first.ID == 0 || first.State != "pending" || !first.DryRun || first.Bytes != int64(len(shortList)) ||
		a.header.Get("Location") != fmt.Sprintf("/api/v1/imports/%d", first.ID) {
		t.Fatalf("%d %s %v", a.status, a.body, a.header)
	}
	// Options may stand in the address of a form too.
	body, kind := asForm(shortList, nil, nil)
	a = x.send("POST", apiRoot+"/imports?dry_run=true", body, withToken(x.tokens[db.Operator]), withHeader("Content-Type", kind))
	if got := read[importJSON](t, a); a.status != 200 || got.ID != first.ID || !got.DryRun {
		t.Errorf("a form with an option in its address: %d %s", a.status, a.body)
	}
	// The same bytes in a form, whatever the file's name and the order of the fields.
	for _, c := range []struct{ before, after map[string]string }{{map[string]string{"dry_run": "on"}, nil}, {nil, map[string]string{"dry_run": "1", "again_of": ""}}} {
		body, kind := asForm(shortList, c.before, c.after)
		a = x.send("POST", apiRoot+"/imports", body, withToken(x.tokens[db.Operator]), withHeader("Content-Type", kind))
		if got := read[importJSON](t, a); a.status != 200 || got.ID != first.ID || a.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("again: %d %s", a.status, a.body)
		}
	}
	if a = x.sendList(db.Admin, "?dry_run=true", shortList); a.status != 202 {
		t.Errorf("another token: %d %s", a.status, a.body)
	}
	if a = x.sendList(db.Operator, "", shortList); a.status != 202 {
		t.Errorf("other options: %d %s", a.status, a.body)
	}
	if a = x.call(db.Operator, "GET", fmt.Sprintf("/imports/%d", first.ID), ""); a.status != 200 || read[importJSON](t, a).ID != first.ID {
		t.Errorf("read: %d %s", a.status, a.body)
	}
	if a = x.call(db.Operator, "GET", "/imports?state=pending&limit=2", ""); a.status != 200 || !bytes.Contains(a.body, []byte(`"next_cursor":"`)) {
		t.Errorf("list: %d %s", a.status, a.body)
	}
	if a = x.call(db.Operator, "GET", "/imports?state=lost", ""); a.status != 422 || !a.problem(t).names("state") {
		t.Errorf("a state that is none: %d %s", a.status, a.body)
	}
	if a = x.call(db.Operator, "POST", fmt.Sprintf("/imports/%d/confirm", first.ID), `{"missing":3}`); a.status != 409 {
		t.Errorf("confirm unasked: %d %s", a.status, a.body)
	}
	if a = x.call(db.Operator, "POST", fmt.Sprintf("/imports/%d/cancel", first.ID), ""); a.status != 200 || read[importJSON](t, a).State != "cancelled" {
		t.Errorf("cancel: %d %s", a.status, a.body)
	}
	if a = x.sendList(db.Operator, "?dry_run=true", shortList); a.status != 202 {
		t.Errorf("after the cancellation: %d %s", a.status, a.body)
	}
}

func TestListsThatAreNone(t *testing.T) {
	x := newRig(t)
	twice, kind := asForm(shortList, nil, nil)
	twice = strings.Replace(twice, "list.csv", "one.csv", 1)
	for name, c := range map[string]struct {
		a      answer
		status int
		says   string
	}{
		"empty":          {x.sendList(db.Operator, "", ""), 422, "The file is empty"},
		"xlsx":           {x.sendList(db.Operator, "", "PK\x03\x04"+strings.Repeat("x", 2<<20)), 422, ".xlsx"},
		"no header":      {x.sendList(db.Operator, "", "abc,ios\n"), 422, "must name the columns"},
		"doubled header": {x.sendList(db.Operator, "", "token,platform,token\n"), 422, "token is there twice"},
		"option":         {x.sendList(db.Operator, "?dryrun=1", shortList), 422, "dry_run, enable"},
		"option twice":   {x.sendList(db.Operator, "?dry_run=true&dry_run=false", shortList), 422, "dry_run"},
		"flag":           {x.sendList(db.Operator, "?enable=maybe", shortList), 422, "true or false"},
		"again of":       {x.sendList(db.Operator, "?again_of=99", shortList), 422, "names import 99"},
		"again of text":  {x.sendList(db.Operator, "?again_of=x", shortList), 422, "number of an import"},
		"no file":        {x.send("POST", apiRoot+"/imports", "--b--\r\n", withToken(x.tokens[db.Operator]), withHeader("Content-Type", "multipart/form-data; boundary=b")), 422, "is missing"},
		"no boundary":    {x.send("POST", apiRoot+"/imports", "x", withToken(x.tokens[db.Operator]), withHeader("Content-Type", "multipart/form-data")), 400, "cannot be read"},
		"cut form":       {x.send("POST", apiRoot+"/imports", twice[:len(twice)-30], withToken(x.tokens[db.Operator]), withHeader("Content-Type", kind)), 400, "Send the same file again"},
		"support":        {x.sendList(db.Support, "", shortList), 403, "operator"},
	} {
		if c.a.status != c.status || !strings.Contains(string(c.a.body), c.says) {
			t.Errorf("%s: %d %s", name, c.a.status, c.a.body)
		}
	}
	if n := x.count("SELECT (SELECT count(*) FROM import) + (SELECT count(*) FROM upload)"); n != 0 {
		t.Errorf("%d imports and uploads are kept", n)
	}
}

// A client whose connection breaks at any moment of an upload leaves no import and
// no part of a file, and a line in the log; the same file can be sent again.
func TestUploadCut(t *testing.T) {
	x := newRig(t)
	list := "token,platform\n" + strings.Repeat("token-with-some-length,android\n", 100_000)
	for _, sent := range []int{0, 10, 1 << 20, 1<<20 + 1, 2 << 20, len(list) - 1} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(x.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		head := fmt.Sprintf("POST /api/v1/imports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: text/csv\r\nContent-Length: %d\r\n\r\n", x.tokens[db.Operator], len(list))
		if _, err := io.WriteString(conn, head+list[:sent]); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	cut := func() int {
		return len(x.log.of("a file was not taken")) + len(x.log.of("an upload ended before its end; nothing of it is kept"))
	}
	eventually(t, "the log tells each of the six", func() bool { return cut() == 6 })
	eventually(t, "all parts are gone", func() bool { return x.count("SELECT count(*) FROM upload_chunk") == 0 })
	if n := x.count("SELECT count(*) FROM import"); n != 0 || cut() != 6 {
		t.Errorf("%d imports, %d lines in the log", n, cut())
	}
	if a := x.sendList(db.Operator, "", list); a.status != 202 || read[importJSON](t, a).Bytes != int64(len(list)) {
		t.Errorf("sent again: %d %s", a.status, a.body)
	}
	if n := x.count("SELECT sum(length(data)) FROM upload_chunk"); n != int64(len(list)) {
		t.Errorf("%d of %d bytes are kept", n, len(list))
	}
}

// An upload that lasts longer than a page may is not cut, one that does not move is.
func TestUploadLimits(t *testing.T) {
	x := newRig(t, func(d *Deps) {
		d.Limits = Limits{Handler: 500 * time.Millisecond, Upload: time.Minute, UploadIdle: time.Second}
	})
	slow, feed := io.Pipe()
	go func() {
		for _, part := range []string{"token,platform\n", "a,ios\n", "b,ios\n"} {
			_, _ = io.WriteString(feed, part)
			time.Sleep(400 * time.Millisecond)
		}
		_ = feed.Close()
	}()
	post := func(body io.Reader) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), "POST", x.base+apiRoot+"/imports", body)
		if err != nil {
			t.Fatal(err)
		}
		withToken(x.tokens[db.Operator])(req)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		return res
	}
	if res := post(slow); res.StatusCode != 202 {
		t.Errorf("a slow upload: %d", res.StatusCode)
	}
	still, hold := io.Pipe()
	go func() { _, _ = io.WriteString(hold, "token,platform\n") }()
	defer func() { _ = hold.Close() }()
	began := time.Now()
	if res := post(still); res.StatusCode != 408 || time.Since(began) > 5*time.Second {
		t.Errorf("an upload that does not move: %d after %s", res.StatusCode, time.Since(began))
	}
}

// A server that stops ends an upload with an answer, not with its grace.
func TestUploadAndShutdown(t *testing.T) {
	x := newRig(t)
	body, feed := io.Pipe()
	status := make(chan int, 1)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", x.base+apiRoot+"/imports", body)
		withToken(x.tokens[db.Operator])(req)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			status <- 0
			return
		}
		_ = res.Body.Close()
		status <- res.StatusCode
	}()
	if _, err := io.WriteString(feed, "token,platform\n"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = feed.Close() }()
	began := time.Now()
	x.server.stop()
	if got := <-status; got != 503 || time.Since(began) > 3*time.Second {
		t.Errorf("%d after %s", got, time.Since(began))
	}
}

func TestImportPages(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	if v := x.get("/imports"); !strings.Contains(v.text("main"), "Nothing was imported yet") {
		t.Errorf("empty: %s", v.text("main"))
	}
	v := x.uploadForm("PK\x03\x04")
	if v.status != 422 || !strings.Contains(v.text("#import [role=alert]"), "save it as CSV UTF-8") {
		t.Errorf("a workbook: %d %s", v.status, v.text("main"))
	}
	body, kind := asForm("PK\x03\x04", map[string]string{"dry_run": "true", "full_list": "true"}, nil)
	if v = x.doRaw("POST", "/imports", body, kind); v.Find("#import input[checked]").Length() != 2 {
		t.Errorf("what was ticked is lost: %s", v.text("#import"))
	}
	list := "token,platform,user\nabcdefghijkl,palm,=kim\nb,ios,x\n"
	v = x.uploadForm(list)
	if v.status != 200 || v.at != "/imports/1" || !strings.Contains(v.text("#import-run"), "waits for its turn") {
		t.Fatalf("%d at %s: %s", v.status, v.at, v.text("main"))
	}
	v = x.uploadForm(list)
	if v.at != "/imports/1?original=1" || !strings.Contains(v.text("[role=status] .note"), "This file was accepted at") {
		t.Errorf("the same again is at %s: %s", v.at, v.text("main"))
	}
	if again, _ := v.Find("#import input[name=again_of]").Attr("value"); again != "1" {
		t.Errorf("there is no way to import it again: %s", v.text("main"))
	}
	if v = x.get("/imports/1/cancel"); !strings.Contains(v.text("main"), "list.csv") {
		t.Errorf("it asks %s", v.text("main"))
	}
	x.sql(`UPDATE import SET state = 'running', phase = 'writing', total = 2, total_known = true, created = 1, rejected = 1`)
	x.sql(`INSERT INTO import_reject VALUES (1, 2, 'platform', 'palm', 'bad_platform', 'must be android, ios or web', '{abcdefghijkl,palm,=kim}')`)
	x.sql(`INSERT INTO import_reason VALUES (1, 'bad_platform', 1)`)
	x.sql(`UPDATE import SET columns = '{token,platform,user}'`)
	v = x.get("/imports/1")
	poll, _ := v.Find("#import-run").Attr("hx-get")
	if !strings.Contains(v.text("#import-run"), "2 of 2 rows done") || !strings.HasPrefix(poll, "/imports/1/progress?") {
		t.Errorf("running: %s, asks %s", v.text("#import-run"), poll)
	}
	if v = x.htmx("GET", poll); v.status != 204 && v.status != 200 {
		t.Errorf("nothing new: %d", v.status)
	}
	x.sql(`UPDATE import SET state = 'done', finished_at = now()`)
	if v = x.htmx("GET", poll); v.header.Get("HX-Redirect") != "/imports/1" {
		t.Errorf("at the end with rejected rows: %d %v", v.status, v.header)
	}
	v = x.get("/imports/1")
	if strings.Contains(v.text("main"), "abcdefghijkl") || !strings.Contains(v.text("#rejects"), "must be android") {
		t.Errorf("rejected rows: %s", v.text("main"))
	}
	if _, asks := v.Find("#import-run").Attr("hx-get"); asks {
		t.Error("an ended import is asked for")
	}
	href, _ := v.Find("#rejected-csv").Attr("href")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(x.get(href).Find("body").Text(), "\ufeff"))).ReadAll()
	if err != nil || fmt.Sprint(rows) != "[[row rejected because token platform user] [2 platform must be android, ios or web abcdefghijkl palm '=kim]]" {
		t.Errorf("%v %v", rows, err)
	}
	x.sql(`UPDATE import SET state = 'running', phase = 'confirm', missing = 5, enabled = 10, full_list = true, finished_at = NULL`)
	v = x.get("/imports/1")
	if v.Find("form[action='/imports/1/confirm'] input[name=again]").Length() != 1 || !strings.Contains(v.text("#import-run"), "5 enabled devices are not in the list, of 10") {
		t.Errorf("it asks: %s", v.text("#import-run"))
	}
	if v = x.post("/imports/1/confirm", "missing", "5"); v.status != 409 || !strings.Contains(v.text("main"), "more than a fifth") {
		t.Errorf("one word for half of all: %d %s", v.status, v.text("main"))
	}
	if v = x.post("/imports/1/confirm", "missing", "5", "again", "true"); v.at != "/imports/1" {
		t.Errorf("confirmed: %d at %s", v.status, v.at)
	}
	if v = x.post("/imports/1/cancel"); v.at != "/imports/1" || !strings.Contains(v.text("#import-run"), "Cancelled") {
		t.Errorf("cancelled: %d at %s: %s", v.status, v.at, v.text("main"))
	}
	if v = x.get("/imports?state=cancelled&mine=1"); v.Find("tbody tr").Length() != 1 {
		t.Errorf("the list: %s", v.text("main"))
	}
}

// uploadForm sends a list as the form of the page does without script.
func (x *site) uploadForm(list string) seen {
	x.t.Helper()
	body, kind := asForm(list, nil, nil)
	return x.doRaw("POST", "/imports", body, kind)
}

func TestExportAndImportAgain(t *testing.T) {
	x := newRig(t)
	for _, body := range []string{
		`[{"token":"=danger","platform":"ios","user":"+kim","tags":["vip"],"consent":false},{"token":"b","platform":"web","installation":"i1"}]`,
		`{"token":"gone","platform":"web"}`,
	} {
		if a := x.call(db.Admin, "PUT", "/devices", body); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if a := x.call(db.Admin, "DELETE", "/devices/3", ""); a.status != 204 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a := x.send("GET", apiRoot+"/devices/export", "", withToken(x.tokens[db.Admin]))
	want := "\ufefftoken,platform,user,tags,consent,installation,vendor,environment,p256dh,auth\r\n'=danger,ios,'+kim,vip,false,,http,,,\r\nb,web,,,true,i1,http,,,\r\n"
	if a.status != 200 || string(a.body) != want {
		t.Errorf("%d %q, want %q", a.status, a.body, want)
	}
	if a = x.send("GET", apiRoot+"/devices/export?platform=web", "", withToken(x.tokens[db.Admin])); strings.Count(string(a.body), "\n") != 2 {
		t.Errorf("only web: %q", a.body)
	}
	for query, field := range map[string]string{"?platform=palm": "platform", "?state=lost": "state"} {
		if a = x.call(db.Admin, "GET", "/devices/export"+query, ""); a.status != 422 || !a.problem(t).names(field) {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	if a = x.send("GET", apiRoot+"/devices/export", "", withToken(x.tokens[db.Operator])); a.status != 403 {
		t.Errorf("an operator: %d", a.status)
	}
	if n := x.count("SELECT count(*) FROM audit WHERE act = 'device.export'"); n != 2 {
		t.Errorf("%d exports in the log", n)
	}
	if strings.Contains(x.log.text(), "danger") {
		t.Error("a token is in the log")
	}
}
