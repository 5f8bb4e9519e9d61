package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// A front is a proxy that can answer with a page of its own instead.
type front struct {
	url  string
	page atomic.Int64 // the status to answer with; 0: it passes on
}

// foreignPage is what a proxy says when it has no answer.
const foreignPage = `<html><head><title>Gateway</title></head><body><h1 id="foreign">A page of the proxy's</h1></body></html>`

// newFront leads to target until the test ends.
func newFront(t *testing.T, target string) *front {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
	}, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := f.page.Load(); status != 0 {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(int(status))
			_, _ = io.WriteString(w, foreignPage)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.url = server.URL + to.Path
	return f
}
