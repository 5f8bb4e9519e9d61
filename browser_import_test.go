package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bongsu/db"
	"bongsu/web"
)

// TestBrowserImport does with a real browser what an operator does with a list:
// uploads it, gets the original for the same file, reads the rejected rows, and
// cancels another.
func TestBrowserImport(t *testing.T) {
	s := newSite(t, plainVendor())
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Operator, web.HashPassword("correct horse battery"), commandActor())
	s.no(err)
	base := s.boot()
	b := newBrowser(t)
	b.open(base + "/imports")
	b.at("/signin")
	b.write("#email", "kim@example.com")
	b.write("#password", "correct horse battery")
	b.click("#signin button[type=submit]")
	b.at("/imports")

	workbook := s.file("book.csv", "PK\x03\x04 not a list")
	b.choose(workbook)
	b.click("#import button[type=submit]")
	b.says("#import [role=alert]", "save it as CSV UTF-8")

	list := s.file("list.csv", deviceList(3_000)+"bad,palm,,\n")
	b.choose(list)
	b.click("#import button[type=submit]")
	path := b.at("/imports/")
	b.says("#import-run", "3,000 new, 1 rejected")
	b.says("#rejects", "platform")
	if csv := b.eval(`async () => await (await fetch(document.querySelector("#rejected-csv").href)).text()`); !strings.Contains(csv, "bad,palm") {
		t.Errorf("the rejected rows as CSV: %q", csv)
	}

	b.open(base + "/imports")
	b.choose(list)
	b.click("#import button[type=submit]")
	b.until("the original is shown", func() bool { return b.eval("() => location.pathname + location.search") == path+"?original=1" })
	b.says("[role=status]", "This file was accepted at")
	if n := s.count("SELECT count(*) FROM import"); n != 1 {
		t.Errorf("the same file made %d imports", n)
	}

	b.open(base + "/imports")
	b.choose(s.file("long.csv", deviceList(150_000)))
	b.click("#import button[type=submit]")
	b.until("the second import is shown", func() bool {
		p := b.eval("() => location.pathname")
		return strings.HasPrefix(p, "/imports/") && p != path
	})
	b.click("#import-cancel")
	b.at("/imports/")
	b.click("main form button[type=submit]")
	b.says("#import-run", "Cancelled")
	if n := s.count("SELECT count(*) FROM import WHERE state = 'cancelled'"); n != 1 {
		t.Errorf("%d imports are cancelled", n)
	}
}

// TestBrowserImportWithoutScript uploads as with JavaScript off.
func TestBrowserImportWithoutScript(t *testing.T) {
	s := newSite(t, plainVendor())
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Operator, web.HashPassword("correct horse battery"), commandActor())
	s.no(err)
	base := s.boot()
	b := newBrowser(t)
	b.noScript()
	b.open(base + "/signin?next=/imports")
	b.write("#email", "kim@example.com")
	b.write("#password", "correct horse battery")
	b.click("#signin button[type=submit]")
	b.at("/imports")
	b.choose(s.file("list.csv", deviceList(10)))
	b.click("#import button[type=submit]")
	b.says("h1", "list.csv")
	if b.eval("() => typeof window.htmx") != "undefined" {
		t.Error("the script is there")
	}
	s.until("it is done", func() bool { return s.count("SELECT count(*) FROM import WHERE state = 'done' AND created = 10") == 1 })
}

// TestBrowserImportCut breaks the connection half-way: the page says that nothing
// was stored and that the same file can be sent again, and the button works again.
func TestBrowserImportCut(t *testing.T) {
	s := newSite(t, plainVendor())
	_, err := s.store.AddUser(t.Context(), "kim@example.com", db.Operator, web.HashPassword("correct horse battery"), commandActor())
	s.no(err)
	wire := newWire(t, strings.TrimPrefix(s.boot(), "http://"))
	base := "http://" + wire.addr
	b := newBrowser(t)
	b.open(base + "/signin?next=/imports")
	b.write("#email", "kim@example.com")
	b.write("#password", "correct horse battery")
	b.click("#signin button[type=submit]")
	b.at("/imports")
	b.choose(s.file("long.csv", deviceList(400_000)))
	b.slow(200_000) // bytes a second
	b.click("#import button[type=submit]")
	b.until("the upload has begun", func() bool { return s.count("SELECT count(*) FROM upload_chunk") > 0 })
	b.says("[data-upload-says]", "MB are there")
	wire.cut()
	b.says("#banner", "Send the same file again")
	wire.mend()
	b.slow(-1)
	b.until("nothing is kept", func() bool { return s.count("SELECT count(*) FROM upload") == 0 })
	b.click("#import button[type=submit]")
	b.at("/imports/")
	if n := s.count("SELECT count(*) FROM import"); n != 1 {
		t.Errorf("%d imports", n)
	}
}

// file writes a file to upload.
func (s *site) file(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), name)
	s.no(os.WriteFile(path, []byte(content), 0o600))
	return path
}
