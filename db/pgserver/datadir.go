package pgserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bongsu/db/childproc"
)

// elsewhere holds the data of directories that the server's user cannot reach.
const elsewhere = "/var/lib/bongsu"

// dataDir returns PostgreSQL's own directory for base, as a path without
// links. It is base/data; where the account may not enter base, base/data is a
// link to a directory under /var/lib/bongsu whose name comes from base's path.
//
// A base that was removed and made anew starts with no data, as its owner will
// expect: what the last one left elsewhere is kept once, as NAME.old.
func dataDir(base string, acc account) (string, error) {
	link := filepath.Join(base, "data")
	target, err := os.Readlink(link)
	if err == nil {
		return target, nil
	}
	if acc.reaches(link) {
		return link, nil
	}
	if _, err := os.Lstat(link); err == nil {
		return "", fmt.Errorf("the user that PostgreSQL runs as may no longer enter %s: open the folders above it for others again", base)
	}
	sum := sha256.Sum256([]byte(base))
	target = filepath.Join(elsewhere, hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(elsewhere, 0o711); err != nil {
		return "", err
	}
	if err := setAside(target); err != nil {
		return "", err
	}
	return target, os.Symlink(target, link)
}

// setAside renames dir, if there is one, over an earlier one set aside.
func setAside(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := os.RemoveAll(dir + ".old"); err != nil {
		return err
	}
	return os.Rename(dir, dir+".old")
}

// initData creates PostgreSQL's directory where there is none. It is made
// beside its place and renamed, so that a kill in between leaves no half.
func initData(ctx context.Context, bin, base, data string, acc account, durable bool) error {
	if _, err := os.Stat(filepath.Join(data, "PG_VERSION")); err == nil {
		return nil
	}
	fresh := data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := childproc.OwnDir(fresh, acc.uid, acc.gid); err != nil {
		return err
	}
	logFile, err := childproc.OpenLog(base)
	if err != nil {
		return err
	}
	defer logFile.Close()
	before, err := logFile.Seek(0, 2)
	if err != nil {
		return err
	}
	for _, locale := range []string{"C.UTF-8", "C"} { // not every system has the first
		err = childproc.Run(ctx, childproc.Command{
			Path:        filepath.Join(bin, "initdb"),
			Args:        initArgs(fresh, locale, durable),
			Dir:         fresh,
			Env:         serverEnv(),
			Log:         logFile,
			Credential:  acc.credential(),
			DeathSignal: syscall.SIGKILL,
		})
		if err == nil {
			return os.Rename(fresh, data)
		}
	}
	return fmt.Errorf("initdb: %w\n%s", err, childproc.LogTail(base, before))
}

func initArgs(dir, locale string, durable bool) []string {
	args := []string{
		"-D", dir, "-U", superuser, "-E", "UTF8", "--locale=" + locale,
		"--auth-local=trust", "--auth-host=reject", "--no-instructions",
	}
	if !durable {
		args = append(args, "--no-sync")
	}
	return args
}

// endOrphans ends what an earlier process left running over data. One whose
// parent was killed is shutting down already. Then nobody is left who could
// own postmaster.pid, and it goes too: PostgreSQL would take any process that
// has got the number in it for a server.
func endOrphans(ctx context.Context, data string) error {
	err := childproc.EndOrphans(ctx, "postgres", data, postmaster(data),
		childproc.Step{Signal: syscall.SIGINT, Wait: 20 * time.Second},
		childproc.Step{Signal: syscall.SIGQUIT, Wait: 10 * time.Second})
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(data, "postmaster.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// postmaster is the process that data's server wrote down as its first, or 0.
func postmaster(data string) int {
	b, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
