package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"testing"
	"time"

	"bongsu/db"
	"bongsu/web"
)

// A person is somebody signed in at the pages, by plain HTTP.
type person struct {
	t    *testing.T
	base string
	http *http.Client
}

// horse is the stored form of everybody's password; it is slow to make.
var horse = sync.OnceValue(func() string { return web.HashPassword("correct horse") })

// signsIn adds a person with this role and signs them in at a process.
func (s *site) signsIn(base, email string, role db.Role) *person {
	s.t.Helper()
	_, err := s.store.AddUser(s.t.Context(), email, role, horse(), commandActor())
	s.no(err)
	jar, err := cookiejar.New(nil)
	s.no(err)
	p := &person{t: s.t, base: base, http: &http.Client{Jar: jar, Timeout: 15 * time.Second}}
	if a := p.post("/signin", "email", email, "password", "correct horse"); a.at != "/notices" {
		s.t.Fatalf("signing in led to %s: %d %s", a.at, a.status, a.body)
	}
	return p
}

// An answer is what came back: status 0 and body the error where nothing did.
type answer struct {
	status int
	at     string
	header http.Header
	body   string
	took   time.Duration
}

func (p *person) get(path string) answer { return p.do(http.MethodGet, path, nil) }

// post sends a form of name, value, ….
func (p *person) post(path string, fields ...string) answer {
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return p.do(http.MethodPost, path, form)
}

func (p *person) do(method, path string, form url.Values) (a answer) {
	p.t.Helper()
	var resp *http.Response
	var err error
	began := time.Now()
	if method == http.MethodPost {
		resp, err = p.http.PostForm(p.base+path, form)
	} else {
		resp, err = p.http.Get(p.base + path)
	}
	a.took = time.Since(began)
	if err != nil {
		a.body = err.Error()
		return a
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		a.body = err.Error()
		return a
	}
	a.status, a.at, a.header, a.body = resp.StatusCode, resp.Request.URL.Path, resp.Header, string(raw)
	a.took = time.Since(began)
	return a
}

// statusPage is the Status page as an admin sees it now.
func (s *site) statusPage() string {
	s.t.Helper()
	base := s.api.base[:len(s.api.base)-len("/api/v1")]
	return s.signsIn(base, "status@example.com", db.Admin).get("/status").body
}
