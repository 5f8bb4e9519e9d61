package pgserver

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// An account is the user that the server runs as. PostgreSQL refuses root.
type account struct {
	uid, gid int
	other    bool // not this process's own user
}

// serverAccount is this process's own user, or, when that is root, the user
// postgres where there is one, else nobody.
func serverAccount() (account, error) {
	if os.Getuid() != 0 {
		return account{uid: os.Getuid(), gid: os.Getgid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2); err != nil {
			return account{}, err
		}
		return account{uid: uid, gid: gid, other: true}, nil
	}
	return account{}, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")
}

// credential is what makes a child run as the account; nil for our own user.
func (a account) credential() *syscall.Credential {
	if !a.other {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
}

// reaches reports whether the account may enter every folder above path.
func (a account) reaches(path string) bool {
	if !a.other {
		return true
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || !a.enters(info) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// enters reports whether the account may pass through the folder.
func (a account) enters(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	mode := info.Mode().Perm()
	switch {
	case int(stat.Uid) == a.uid:
		return mode&0o100 != 0
	case int(stat.Gid) == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
