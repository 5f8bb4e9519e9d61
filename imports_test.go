package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A room says what a package of ours may import. What a room's tests import is
// not held to it, but for production code there is no exception.
type room struct {
	path  string   // below the module; "jobs/push/VENDOR" stands for each vendor
	ours  []string // packages of ours that it may import itself
	never []string // what it must not even reach through others, with all below it
}

const (
	pgxPath   = "github.com/jackc/pgx/v5"
	asynqPath = "github.com/hibiken/asynq"
	redisPath = "github.com/redis/go-redis/v9"
	scsPath   = "github.com/alexedwards/scs/v2"
	otelPath  = "go.opentelemetry.io/otel"
	sdkPath   = otelPath + "/sdk"       // what records and sends spans: web and jobs only begin them
	sendPath  = otelPath + "/exporters" // and hand them to nobody
)

// rooms is the import table of ARCHITECTURE.md. A new package needs a line.
var rooms = []room{
	{path: "db", ours: []string{"db/migrations"}, never: []string{"bongsu/web", "bongsu/views", "bongsu/jobs", "net/http", asynqPath, scsPath, otelPath}},
	{path: "db/devicelist", never: []string{"bongsu/db/...", "net/http", pgxPath, asynqPath}},
	{path: "db/migrations", never: []string{"bongsu/db/..."}},
	{path: "db/childproc", never: []string{"net/http", pgxPath, redisPath}},
	{path: "db/pgserver", ours: []string{"db/childproc"}, never: []string{"bongsu/jobs", "bongsu/web", redisPath}},
	{path: "db/dbtest", ours: []string{"db/childproc", "db/migrations", "db/pgserver"}, never: []string{"bongsu/jobs", "bongsu/web"}},
	{path: "db/dbtest/faulttable"},
	{path: "db/dbtest/testpg", ours: []string{"db/dbtest"}},
	{path: "db/dbtest/faults", ours: []string{"db/dbtest/faulttable"}},
	{path: "jobs", ours: []string{"db", "db/devicelist", "jobs/push"}, never: []string{"bongsu/web", "bongsu/views", sdkPath, sendPath}},
	{path: "jobs/redisserver", ours: []string{"db/childproc"}, never: []string{"bongsu/web", asynqPath, pgxPath}},
	{path: "jobs/redisserver/redistest", ours: []string{"jobs/redisserver"}},
	{path: "jobs/push", never: []string{"bongsu/db", asynqPath, redisPath, pgxPath, "net/http", otelPath}},
	{path: "jobs/push/wire", ours: []string{"jobs/push"}, never: []string{"bongsu/db", asynqPath, pgxPath, otelPath}},
	{path: "jobs/push/pushsim", never: []string{"bongsu/jobs/push", "bongsu/db", asynqPath, pgxPath}},
	{path: "jobs/push/pushsim/autopush", never: []string{"bongsu/jobs/push", "bongsu/db", asynqPath, pgxPath}},
	{path: "jobs/push/pushsim/firefox", never: []string{"bongsu/jobs/push", "bongsu/db", asynqPath, pgxPath, "net/http"}},
	{path: "jobs/push/pushtest", ours: []string{"jobs/push"}, never: []string{"bongsu/db", asynqPath, pgxPath}},
	{path: "jobs/push/bareloop", ours: []string{"jobs/push"}, never: []string{"bongsu/db", asynqPath, pgxPath}},
	{path: "jobs/push/VENDOR", ours: []string{"jobs/push", "jobs/push/wire"}, never: []string{"bongsu/db", asynqPath, pgxPath, otelPath}},
	{path: "static"},
	{path: "views", ours: []string{"static", "views/ui"}, never: []string{"bongsu/db", "bongsu/web", "bongsu/jobs", otelPath}},
	{path: "views/ui", never: []string{"bongsu/db", "bongsu/web", "bongsu/jobs", otelPath}},
	{path: "web", ours: []string{"db", "db/devicelist", "static", "views"}, never: []string{"bongsu/jobs", asynqPath, redisPath, sdkPath, sendPath}},
}

// notDirectly lists what a room must not import itself, though it may reach it:
// web reaches pgx through db, and views net/http through templ.
var notDirectly = map[string][]string{
	"web":      {pgxPath},
	"jobs":     {pgxPath},
	"views":    {"net/http"},
	"views/ui": {"net/http"},
}

func TestImports(t *testing.T) {
	packages := listPackages(t)
	for path, p := range packages {
		short, ours := strings.CutPrefix(path, "bongsu/")
		if !ours {
			continue
		}
		r, ok := roomOf(short)
		if !ok {
			t.Errorf("%s is in no room: the table here and in ARCHITECTURE.md needs a line for it", path)
			continue
		}
		for _, imp := range p.Imports {
			if inner, ok := strings.CutPrefix(imp, "bongsu/"); ok && !slices.Contains(r.ours, inner) {
				t.Errorf("%s imports %s: it may import %v of ours", path, imp, r.ours)
			}
			if slices.ContainsFunc(notDirectly[short], func(root string) bool { return under(imp, root) }) {
				t.Errorf("%s imports %s itself", path, imp)
			}
		}
		for _, dep := range p.Deps {
			if root := forbidden(r, path, dep); root != "" {
				t.Errorf("%s reaches %s: it must not reach %s", path, dep, root)
			}
		}
	}
}

// roomOf returns the rules of a package of ours.
func roomOf(short string) (room, bool) {
	for _, r := range rooms {
		if r.path == short {
			return r, true
		}
	}
	if rest, ok := strings.CutPrefix(short, "jobs/push/"); ok && !strings.Contains(rest, "/") {
		return roomOf("jobs/push/VENDOR")
	}
	return room{}, false
}

// forbidden returns the entry of r.never that dep is under, or nothing.
func forbidden(r room, path, dep string) string {
	for _, root := range r.never {
		if dep != path && under(dep, strings.TrimSuffix(root, "/...")) {
			return root
		}
	}
	return ""
}

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// TestViewsReadNoClock holds what no import shows: a view is given every time.
func TestViewsReadNoClock(t *testing.T) {
	out, err := exec.Command("grep", "-rnE", `time\.(Now|Since|Until)\(`, "views", "--include=*.go", "--include=*.templ", "--exclude=*_test.go").CombinedOutput()
	exit := new(exec.ExitError)
	if err == nil {
		t.Errorf("views read the clock:\n%s", out)
	} else if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("grep: %v\n%s", err, out)
	}
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// listPackages asks the toolchain what each package imports, tests left out.
func listPackages(t *testing.T) map[string]goPackage {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	packages := map[string]goPackage{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
	if len(packages) < 5 {
		t.Fatalf("go list found only %d packages", len(packages))
	}
	return packages
}
