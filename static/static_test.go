package static

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, target string) *http.Response {
	t.Helper()
	rec := httptest.NewRecorder()
	Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
	return rec.Result()
}

func TestEveryFileIsServedUnderItsHashedNameForEver(t *testing.T) {
	for _, name := range Names() {
		res := get(t, Path(name))
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", name, res.StatusCode)
		}
		if got := res.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("%s: Cache-Control %q", name, got)
		}
	}
}

func TestTypes(t *testing.T) {
	for name, want := range map[string]string{
		"app.css":           "text/css; charset=utf-8",
		"app.js":            "text/javascript; charset=utf-8",
		"icons/bongsu.svg":  "image/svg+xml",
		"LICENSES/pico.txt": "text/plain; charset=utf-8",
	} {
		if got := get(t, Path(name)).Header.Get("Content-Type"); got != want {
			t.Errorf("%s: type %q, want %q", name, got, want)
		}
	}
}

func TestNamesThatDoNotCarryTheHashAreNotFound(t *testing.T) {
	for _, target := range []string{"/static/app.css", "/static/", "/static/app.000000000000.css", "/static/../static.go"} {
		if got := get(t, target).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", target, got)
		}
	}
}

func TestPathChangesWithTheContent(t *testing.T) {
	a, b := hashedName("a/app.css", []byte("one")), hashedName("a/app.css", []byte("two"))
	if a == b {
		t.Errorf("both contents are named %s", a)
	}
	if !regexp.MustCompile(`^a/app\.[0-9a-f]{12}\.css$`).MatchString(a) {
		t.Errorf("name %q", a)
	}
}

func TestPathPanicsForAnUnknownName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Path("nothing.css")
}

// The pages run under a policy that forbids evaluated code and inline styles.
func TestOwnScriptNeedsNoEvalAndNoInlineStyle(t *testing.T) {
	src, err := os.ReadFile("app.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"eval(", "new Function", ".innerHTML", "insertAdjacentHTML", "document.write", ".style.", "setAttribute(\"style\""} {
		if strings.Contains(string(src), word) {
			t.Errorf("app.js contains %s", word)
		}
	}
}

func TestVersionsAreTheOnesThatWereChosen(t *testing.T) {
	for name, want := range map[string]string{
		"vendor/htmx.min.js":  `version:"2.0.11"`,
		"vendor/pico.min.css": "v2.1.1",
	} {
		if !strings.Contains(string(byName[name].body), want) {
			t.Errorf("%s does not say %s", name, want)
		}
	}
}
