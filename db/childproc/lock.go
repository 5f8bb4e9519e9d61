package childproc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// An InUseError says that another process keeps the servers of a directory.
type InUseError struct {
	Dir string // the data directory
	Pid string // the other process, as it wrote itself down; may be empty
}

func (e *InUseError) Error() string {
	who := "another process"
	if e.Pid != "" {
		who = "process " + e.Pid
	}
	return fmt.Sprintf("data directory %s is in use by %s: stop it, or set BONGSU_DATA_DIR to another directory", e.Dir, who)
}

// A Lock is held on a file by this process alone. The kernel frees it when the
// process dies, however it dies.
type Lock struct{ file *os.File }

// Acquire locks the file "lock" in dir for this process, or returns an
// *InUseError that names owner, the directory as its user knows it.
func Acquire(dir, owner string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		pid, _ := io.ReadAll(io.LimitReader(f, 20))
		f.Close()
		return nil, &InUseError{Dir: owner, Pid: strings.TrimSpace(string(pid))}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &Lock{file: f}, nil
}

// Release frees the lock. The file stays: removing it would let two processes
// hold a lock on two files of one name.
func (l *Lock) Release() {
	_ = l.file.Close()
}

// Held reports whether some process holds the lock of dir, without taking it. A
// directory that is not there is held by nobody.
func Held(dir string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		return false, fmt.Errorf("look at the lock %s: %w", f.Name(), err)
	}
	return lock.Type != unix.F_UNLCK, nil
}
