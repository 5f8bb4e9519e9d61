package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// writesTwice are the functions of this package that write to the ledger more than
// once, so that a request can end between two of the writes, and why that does no
// harm. A test finds all others.
var writesTwice = map[string]string{
	"run":              "when somebody was seen, and a refusal; the first counts by itself",
	"startReplay":      "one of the two",
	"apiStartReplay":   "one of the two",
	"testForm":         "a test send, or what was looked for",
	"endUserSessions":  "one of the two",
	"endOwnSession":    "each session ends by itself; pressing again ends the rest",
	"signIn":           "a refusal, or a session",
	"checkPassword":    "a try that is not given back comes back by itself; nothing else is written but a refusal",
	"takeTries":        "the same",
	"checkCode":        "a used code, or a refusal",
	"useCode":          "a code of the app, or else a recovery code",
	"submitSignInCode": "a code is used up and the session is not there: the next code signs in",
	"changePassword":   "the password is changed and others are signed out; the own session is begun anew by signing in",
	"turnSecondOff":    "a refusal, or the act",
	"keep":             "parts of a file: nothing of them counts before AcceptImport, and what is left is swept",
	"receive":          "as keep",
	"acceptUpload":     "as keep; AcceptImport goes on without the request",
}

// TestNoRequestEndsBetweenTwoWrites finds every place where it could: a function
// that calls, itself or by others, more than one method of the ledger that writes.
// Each method is one transaction, and so all or nothing.
func TestNoRequestEndsBetweenTwoWrites(t *testing.T) {
	writers := writersOf(t)
	for _, name := range []string{"AcceptNotice", "AcceptImport", "PauseNotice", "StartReplayFilter", "AddUser", "PutDevices"} {
		if !writers[name] {
			t.Fatalf("%s does not count as writing: this test sees nothing", name)
		}
	}
	for _, name := range []string{"Notice", "Status", "Deliveries", "Audit"} {
		if writers[name] {
			t.Errorf("%s counts as writing", name)
		}
	}
	calls := callsOf(t, ".")
	found := map[string]int{}
	for name := range calls {
		if n := sitesOf(name, calls, writers, nil); n > 1 {
			found[name] = n
		}
	}
	for name, n := range found {
		if writesTwice[name] == "" {
			t.Errorf("%s writes %d times: a request can end between two of them. Make it one method of package db, or say why it does no harm: %v",
				name, n, calls[name])
		}
	}
	for name := range writesTwice {
		if found[name] == 0 {
			t.Errorf("%s does not write twice any more", name)
		}
	}
}

// sitesOf counts the places from which name writes. A function that writes several
// times counts once for who calls it: it is looked at itself.
func sitesOf(name string, calls map[string][]string, writers map[string]bool, above []string) (n int) {
	if slices.Contains(above, name) {
		return 0
	}
	for _, c := range calls[name] {
		if method, ok := strings.CutPrefix(c, "db."); ok {
			if writers[method] {
				n++
			}
			continue
		}
		if sitesOf(c, calls, writers, append(above, name)) > 0 {
			n++
		}
	}
	return n
}

var sqlWrites = regexp.MustCompile(`(?i)\b(INSERT INTO|DELETE FROM|UPDATE [a-z_]+( [a-z])? SET|SET [a-z_]+ =)`)

// writersOf finds the methods of db.DB that write: by their own SQL, by constants
// with SQL, or by functions of package db that do.
func writersOf(t *testing.T) map[string]bool {
	t.Helper()
	bodies, uses := map[string]string{}, map[string][]string{}
	var methods []string
	eachFunc(t, "../db", func(name string, method bool, body string, f *ast.FuncDecl) {
		bodies[name] = body
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				if sel, ok := x.Fun.(*ast.SelectorExpr); ok {
					uses[name] = append(uses[name], sel.Sel.Name)
				}
			case *ast.Ident: // a function, or a constant with SQL
				if !ast.IsExported(x.Name) {
					uses[name] = append(uses[name], x.Name)
				}
			}
			return true
		})
		if method && ast.IsExported(name) {
			methods = append(methods, name)
		}
	}, func(name, value string) { bodies[name] = value })
	memo := map[string]bool{}
	var writes func(name string) bool
	writes = func(name string) bool {
		if known, ok := memo[name]; ok {
			return known
		}
		memo[name] = false
		memo[name] = sqlWrites.MatchString(bodies[name]) || slices.ContainsFunc(uses[name], writes)
		return memo[name]
	}
	out := map[string]bool{}
	for _, m := range methods {
		out[m] = writes(m)
	}
	return out
}

// callsOf gives, for each function of a package, what it calls: db.X for a method of
// the ledger, X for a function or method of its own.
func callsOf(t *testing.T, dir string) map[string][]string {
	t.Helper()
	own := map[string]bool{}
	eachFunc(t, dir, func(name string, _ bool, _ string, _ *ast.FuncDecl) { own[name] = true }, nil)
	calls := map[string][]string{}
	eachFunc(t, dir, func(name string, _ bool, _ string, f *ast.FuncDecl) {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.SelectorExpr: // a call of the ledger, or one of its methods that is handed on
				if of, ok := x.X.(*ast.SelectorExpr); ok && of.Sel.Name == "pages" {
					calls[name] = append(calls[name], "db."+x.Sel.Name)
				}
			case *ast.CallExpr:
				if id, ok := x.Fun.(*ast.Ident); ok && own[id.Name] {
					calls[name] = append(calls[name], id.Name)
				}
				if sel, ok := x.Fun.(*ast.SelectorExpr); ok && own[sel.Sel.Name] && ofServer(sel.X) {
					calls[name] = append(calls[name], sel.Sel.Name)
				}
			}
			return true
		})
	}, nil)
	return calls
}

// ofServer says whether a method is called of the server or of an upload, by the
// names that they go by.
func ofServer(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && (id.Name == "s" || id.Name == "u")
}

// eachFunc visits the functions of a package, without its tests, and its constants.
func eachFunc(t *testing.T, dir string, visit func(name string, method bool, body string, f *ast.FuncDecl), constant func(name, value string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, raw, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		text := func(n ast.Node) string { return string(raw[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset]) }
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body != nil {
					visit(d.Name.Name, d.Recv != nil, text(d.Body), d)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					v, ok := s.(*ast.ValueSpec)
					for i := 0; ok && constant != nil && i < min(len(v.Names), len(v.Values)); i++ {
						constant(v.Names[i].Name, text(v.Values[i]))
					}
				}
			}
		}
	}
}
