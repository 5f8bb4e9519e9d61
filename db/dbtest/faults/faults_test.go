package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every test that the document names is there, and every test of a fault is in it.
func TestListNamesTheTests(t *testing.T) {
	const root = "../../.."
	text, err := os.ReadFile(root + "/" + list)
	if err != nil {
		t.Fatal(err)
	}
	names := named(string(text))
	if len(names) < 40 {
		t.Errorf("it names %d tests", len(names))
	}
	declared := map[string]bool{}
	for _, dir := range []string{".", "db", "jobs", "web", "views"} {
		files, err := os.ReadDir(root + "/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			code, err := os.ReadFile(root + "/" + dir + "/" + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(code), -1) {
				declared[m[1]] = true
			}
		}
	}
	for _, name := range names {
		if !declared[name] {
			t.Errorf("%s names %s, which is nowhere", list, name)
		}
	}
	for name := range declared {
		if (strings.HasPrefix(name, "TestFault") || strings.HasPrefix(name, "TestBrowserFault")) && !slices.Contains(names, name) {
			t.Errorf("%s is not in %s", name, list)
		}
	}
}

func TestFollow(t *testing.T) {
	for name, c := range map[string]struct {
		events string
		failed bool
		of     map[string]string
		says   string
	}{
		"passed": {`{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
			{"Action":"pass","Package":"p","Test":"TestA/b","Elapsed":1.5}
			{"Action":"pass","Package":"p","Test":"TestA","Elapsed":2}
			{"Action":"pass","Package":"p"}`, false, map[string]string{"TestA": "pass"}, "pass  TestA/b  1.5 s\npass  TestA  2.0 s\n"},
		"failed in one of two packages": {`{"Action":"output","Package":"p","Test":"TestA","Output":"told twice\n"}
			{"Action":"fail","Package":"p","Test":"TestA"}
			{"Action":"pass","Package":"q","Test":"TestA"}`, true, map[string]string{"TestA": "fail"}, "told twice"},
		"skipped":       {`{"Action":"skip","Package":"p","Test":"TestA"}`, true, map[string]string{"TestA": "skip"}, "skip  TestA"},
		"panicked":      {`{"Action":"output","Package":"p","Output":"panic: out of time\n"}` + "\n" + `{"Action":"fail","Package":"p"}`, true, map[string]string{}, "panic: out of time"},
		"did not build": {`{"Action":"build-output","Output":"undefined: x\n"}` + "\n" + `{"Action":"build-fail"}`, true, map[string]string{}, "undefined: x"},
	} {
		var out strings.Builder
		e, err := follow(strings.NewReader(c.events), &out)
		if err != nil || e.failed != c.failed || !strings.Contains(out.String(), c.says) || len(e.of) != len(c.of) || e.of["TestA"] != c.of["TestA"] {
			t.Errorf("%s: %+v, %v, %q", name, e, err, out.String())
		}
	}
	if _, err := follow(strings.NewReader("no event"), &strings.Builder{}); err == nil {
		t.Error("nonsense is taken")
	}
}

// What is missing or has failed makes the command fail, and the table says it.
func TestReport(t *testing.T) {
	file := t.TempDir() + "/rows"
	row := `{"Fault":"Redis emptied","Test":"TestFaultA/x","Calls":10,"Sent":9,"Twice":1,"Allowed":2,"Lost":0,"Recovered":1500000000}` + "\n"
	if err := os.WriteFile(file, []byte(row), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	passed, err := report(&out, []string{"TestFaultA", "TestB"}, &ends{of: map[string]string{"TestFaultA": "pass", "TestB": "pass"}}, file)
	if err != nil || !passed {
		t.Errorf("%v %v", passed, err)
	}
	for _, want := range []string{"Redis emptied", "1.5s", "all 1", "pass  TestB"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	for name, e := range map[string]*ends{
		"not found": {of: map[string]string{}}, "failed": {of: map[string]string{"TestB": "fail"}, failed: true},
	} {
		if passed, err := report(&out, []string{"TestB"}, e, file+"-none"); passed || err != nil {
			t.Errorf("%s: %v %v", name, passed, err)
		}
	}
}
