package pgserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bongsu/db/childproc"
)

// debianBins is where Debian puts the programs, outside PATH.
const debianBins = "/usr/lib/postgresql/*/bin"

// Installed fails with *childproc.MissingError where PostgreSQL's programs are
// not to be found.
func Installed(ctx context.Context) error {
	_, err := findBin(ctx, "", binDirs(os.Getenv("PATH"), debianBins))
	return err
}

// findBin returns the one of dirs whose version made data where there is data,
// else the one of the highest version. It fails with *childproc.MissingError
// when there is none.
func findBin(ctx context.Context, data string, dirs []string) (string, error) {
	byVersion := map[int]string{}
	for _, dir := range dirs {
		major, err := majorVersion(ctx, dir)
		if err == nil && byVersion[major] == "" {
			byVersion[major] = dir
		}
	}
	if len(byVersion) == 0 {
		return "", &childproc.MissingError{Program: "PostgreSQL", Setting: "DATABASE_URL"}
	}
	b, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if err != nil {
		highest := 0
		for v := range byVersion {
			highest = max(highest, v)
		}
		return byVersion[highest], nil
	}
	made, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || byVersion[made] == "" {
		return "", fmt.Errorf("the data in %s was made by PostgreSQL %s, which is not installed: run `apt-get install postgresql-%[2]s`", data, strings.TrimSpace(string(b)))
	}
	return byVersion[made], nil
}

// binDirs lists the folders that hold both postgres and initdb: path's first,
// then those that the pattern finds.
func binDirs(path, pattern string) []string {
	dirs := filepath.SplitList(path)
	debian, err := filepath.Glob(pattern)
	if err == nil {
		dirs = append(dirs, debian...)
	}
	var found []string
	for _, dir := range dirs {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err != nil {
			continue
		}
		dir = filepath.Dir(path)
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil && !slices.Contains(found, dir) {
			found = append(found, dir)
		}
	}
	return found
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// majorVersion asks the postgres in dir for its version.
func majorVersion(ctx context.Context, dir string) (int, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0, err
	}
	m := versionPattern.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("no version in %q", out)
	}
	return strconv.Atoi(string(m[1]))
}
