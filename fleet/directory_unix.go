//go:build unix

package fleet

import (
	"os"
	"syscall"
)

// identityOf returns a value that is the same for all names of a file.
func identityOf(info os.FileInfo) (id [2]uint64, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return id, false
	}
	return [2]uint64{uint64(s.Dev), s.Ino}, true //nolint:unconvert // a device has other types on other systems
}
