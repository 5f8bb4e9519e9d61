package childproc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// socketPathLimit is how many bytes the kernel takes in a socket's path.
const socketPathLimit = 107

// SocketDir makes a directory of mode 0700 owned by uid and gid, in which a
// socket of the given file name has a path that fits. It is dir/run where that
// fits, else a directory under the system's temporary one that belongs to dir
// alone. It fails where somebody else already has a directory of that name.
func SocketDir(dir, socket string, uid, gid int) (string, error) {
	run := filepath.Join(dir, "run")
	if !fits(run, socket) {
		sum := sha256.Sum256([]byte(dir))
		name := "bongsu-" + hex.EncodeToString(sum[:8])
		run = filepath.Join(os.TempDir(), name)
		if !fits(run, socket) {
			run = filepath.Join("/tmp", name)
		}
	}
	return run, OwnDir(run, uid, gid)
}

func fits(dir, socket string) bool {
	return len(filepath.Join(dir, socket)) <= socketPathLimit
}

// OwnDir makes path a directory of mode 0700 that belongs to uid and gid. It
// refuses a link, and a directory of any third user.
func OwnDir(path string, uid, gid int) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || (int(stat.Uid) != uid && int(stat.Uid) != os.Getuid()) {
		return fmt.Errorf("%s is not a directory of ours: remove it", path)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return err
	}
	if int(stat.Uid) == uid {
		return nil
	}
	return os.Chown(path, uid, gid)
}

// Base makes the directory that a private server named name has under the
// data directory, and returns both as absolute paths. As root both may be
// passed through by the server's own user, but not listed.
func Base(dataDir, name string) (abs, base string, err error) {
	abs, err = filepath.Abs(dataDir)
	if err != nil {
		return "", "", err
	}
	base = filepath.Join(abs, name)
	mode := os.FileMode(0o700)
	if os.Getuid() == 0 {
		mode = 0o711
	}
	return abs, base, os.MkdirAll(base, mode)
}

// maxLog is the size in bytes at which a server's log starts afresh.
const maxLog = 8 << 20

// OpenLog opens the server's log in dir for appending.
func OpenLog(dir string) (*os.File, error) {
	path := filepath.Join(dir, "log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// LogTail returns at most the last 2 KiB that the log in dir holds after its
// first from bytes.
func LogTail(dir string, from int64) string {
	f, err := os.Open(filepath.Join(dir, "log"))
	if err != nil {
		return ""
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return ""
	}
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	if len(b) > 2048 {
		b = b[len(b)-2048:]
	}
	return strings.TrimSpace(string(b))
}

// PublishURL writes where the server in dir can be reached, for other commands
// of the same user.
func PublishURL(dir, url string) error {
	path := filepath.Join(dir, "url")
	if err := os.WriteFile(path+".new", []byte(url+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// WithdrawURL removes what PublishURL wrote.
func WithdrawURL(dir string) {
	_ = os.Remove(filepath.Join(dir, "url"))
}

// AwaitURL returns the URL that the process which holds dir's lock published.
// A server that is just starting gets until ctx ends.
func AwaitURL(ctx context.Context, dir string) (string, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		b, err := os.ReadFile(filepath.Join(dir, "url"))
		if err == nil {
			return strings.TrimSpace(string(b)), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("the server in %s did not say where it is: %w", dir, ctx.Err())
		case <-tick.C:
		}
	}
}
