package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

type document struct {
	doc    *openapi3.T
	router routers.Router
}

// theDocument is openapi.yaml, checked as a document.
var theDocument = sync.OnceValues(func() (document, error) {
	openapi3filter.RegisterBodyDecoder("application/problem+json", openapi3filter.JSONBodyDecoder)
	openapi3filter.RegisterBodyDecoder("text/csv", openapi3filter.FileBodyDecoder)
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		return document{}, err
	}
	router, err := legacy.NewRouter(doc)
	return document{doc, router}, err
})

// conflicts says how an answer, and a request that was taken, differ from the
// document; nil where they do not.
func conflicts(method, path, body string, a answer) error {
	d, err := theDocument()
	if err != nil {
		return err
	}
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
		if !strings.ContainsAny(body[:1], "{[") {
			req.Header.Set("Content-Type", "text/csv")
		}
	}
	route, params, err := d.router.FindRoute(req)
	if err != nil {
		return err
	}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}}
	if a.status < 300 {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			return err
		}
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)),
	})
}

func checkDocumented(t *testing.T, method, path, body string, a answer) {
	t.Helper()
	if a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotFound && bytes.Contains(a.body, []byte("nothing at this address")) {
		return // no operation, so nothing that the document could say
	}
	if err := conflicts(method, path, body, a); err != nil {
		t.Errorf("%s %s answered %d %s, which is not as documented: %v", method, path, a.status, a.body, err)
	}
}

func TestDocumentNamesEveryRouteOfTheAPI(t *testing.T) {
	d, err := theDocument()
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for path, item := range d.doc.Paths.Map() {
		for method, op := range item.Operations() {
			roles := []string{}
			for _, r := range op.Extensions["x-roles"].([]any) {
				roles = append(roles, r.(string))
			}
			documented[method+" "+apiRoot+path] = roles
		}
	}
	for _, rt := range routes() {
		if !strings.HasPrefix(rt.path, apiRoot) {
			continue
		}
		name := rt.method + " " + rt.path
		roles, ok := documented[name]
		want := []string{}
		for _, r := range rt.roles {
			want = append(want, string(r))
		}
		if !ok || !slices.Equal(roles, want) {
			t.Errorf("%s: documented %t with roles %v, the table has %v", name, ok, roles, want)
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("%s is documented and does not exist", name)
	}
}

func TestDocumentIsHeldAgainstAnswers(t *testing.T) {
	counts := `{"total":0,"pending":0,"retrying":0,"sending":0,"sent":0,"failed":0,"skipped":0,"unknown":0}`
	good := `{"id":1,"state":"sending","title":"T","body":"B","category":"info","audience":{"platforms":[],"tags":[]},"counts":` + counts + `,
		"possibly_twice":0,"fanned_out":false,"accepted_by":"a","accepted_at":"2026-01-01T00:00:00Z","started_at":null,"finished_at":null,
		"expires_at":"2026-01-02T00:00:00Z"}`
	delivery := `{"items":[{"notice_id":1,"device_id":1,"status":"sent","attempts":1,"generation":1,"possibly_twice":false,
		"updated_at":"2026-01-01T00:00:00Z"}],"next_cursor":null}`
	for name, c := range map[string]struct {
		path, body string
		status     int
		ok         bool
	}{
		"a notice":                {"/notices/1", good, 200, true},
		"a field nobody wrote of": {"/notices/1", strings.Replace(good, `"id":1`, `"id":1,"extra":2`, 1), 200, false},
		"an id as text":           {"/notices/1", strings.Replace(good, `"id":1`, `"id":"1"`, 1), 200, false},
		"a count missing":         {"/notices/1", strings.Replace(good, `"sent":0,`, "", 1), 200, false},
		"a time that is none":     {"/notices/1", strings.Replace(good, `2026-01-01T00:00:00Z`, "yesterday", 1), 200, false},
		"another state":           {"/notices/1", strings.Replace(good, `sending"`, `asleep"`, 1), 200, false},
		"a list":                  {"/notices/1/deliveries", delivery, 200, true},
		"an extra in a list":      {"/notices/1/deliveries", strings.Replace(delivery, `"attempts"`, `"x":1,"attempts"`, 1), 200, false},
		"a list without its end":  {"/notices/1/deliveries", strings.Replace(delivery, `,"next_cursor":null`, "", 1), 200, false},
		"an error without a code": {"/notices/1", `{"type":"about:blank","title":"Not Found","status":404,"detail":"x","request_id":"r"}`, 404, false},
	} {
		kind := "application/json"
		if c.status >= 400 {
			kind = "application/problem+json"
		}
		err := conflicts("GET", apiRoot+c.path, "", answer{c.status, http.Header{"Content-Type": {kind}}, []byte(c.body)})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDocumentIsServed(t *testing.T) {
	x := newRig(t)
	a := x.send("GET", apiRoot+"/openapi.yaml", "")
	if a.status != 200 || a.header.Get("Content-Type") != "application/yaml" || !bytes.Equal(a.body, openAPI) {
		t.Errorf("%d %s, %d bytes", a.status, a.header.Get("Content-Type"), len(a.body))
	}
}
