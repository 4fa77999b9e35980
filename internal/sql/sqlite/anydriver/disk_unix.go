//go:build darwin || freebsd

package anydriver

import (
	"context"
	"slices"

	"golang.org/x/sys/unix"
)

func diskOf(path string) (disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return disk{}, err
	}
	d := disk{free: int64(s.Bavail) * int64(s.Bsize)}
	if kind := unix.ByteSliceToString(s.Fstypename[:]); slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav"}, kind) {
		d.network = kind
	}
	return d, nil
}

func writable(path string) error { return unix.Access(path, unix.W_OK) }

// readers returns "": this system does not show who holds locks.
func (x *examiner) readers(context.Context) string { return "" }
