package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sceneless are routes that nobody looks at in a browser.
var sceneless = map[string]string{
	"/static/": "files", "/healthz": "for programs", "/readyz": "for programs", "/metrics": "for programs",
	"/signin/code": "the scene signin-code comes there by an act",
}

// TestScreensAreWhole wants a scene for every page that can be asked for. The
// routes are read out of the tables of web, in the source.
func TestScreensAreWhole(t *testing.T) {
	mux := http.NewServeMux()
	seen := map[string]bool{}
	for _, path := range pagePaths(t) {
		seen[path] = false
		mux.HandleFunc("GET "+path, func(http.ResponseWriter, *http.Request) {})
	}
	if len(seen) < 20 {
		t.Fatalf("only %d pages were found in the tables of web", len(seen))
	}
	for _, a := range acts() {
		for _, c := range a.scenes {
			r, err := http.NewRequest("GET", c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, pattern := mux.Handler(r)
			seen[strings.TrimPrefix(pattern, "GET ")] = true
		}
	}
	for path, is := range seen {
		if !is {
			t.Errorf("GET %s has no scene in screens_table_test.go", path)
		}
	}
}

// pagePaths gives the paths of GET routes that are pages: no fragments, no files.
func pagePaths(t *testing.T) (paths []string) {
	t.Helper()
	files, err := filepath.Glob("web/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok && !strings.HasSuffix(file, "_test.go") {
				if path, ok := pageOf(lit); ok {
					paths = append(paths, path)
				}
			}
			return true
		})
	}
	return paths
}

// pageOf reads one row of a routing table.
func pageOf(lit *ast.CompositeLit) (path string, ok bool) {
	row := map[string]string{}
	for _, e := range lit.Elts {
		kv, is := e.(*ast.KeyValueExpr)
		if !is {
			return "", false
		}
		key, _ := kv.Key.(*ast.Ident)
		if key == nil {
			return "", false
		}
		switch v := kv.Value.(type) {
		case *ast.BasicLit:
			row[key.Name], _ = strconv.Unquote(v.Value)
		case *ast.Ident:
			row[key.Name] = v.Name
		}
	}
	path = row["path"]
	_, none := sceneless[path]
	shown := row["kind"] == "page" || row["kind"] == "open"
	return path, row["method"] == "GET" && path != "" && shown && !none && !strings.HasSuffix(path, ".csv")
}
