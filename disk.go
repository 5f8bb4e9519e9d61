package main

import (
	"golang.org/x/sys/unix"

	"bongsu/web"
)

// diskOf gives a look at the disk on which dir lies.
func diskOf(dir string) func() (web.Disk, error) {
	return func() (web.Disk, error) {
		var s unix.Statfs_t
		if err := unix.Statfs(dir, &s); err != nil {
			return web.Disk{}, err
		}
		size := int64(s.Bsize) //nolint:unconvert // another type on other systems
		return web.Disk{Free: int64(s.Bavail) * size, Total: int64(s.Blocks) * size}, nil
	}
}
