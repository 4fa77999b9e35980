//go:build unix

package anydriver

import (
	"errors"

	"golang.org/x/sys/unix"
)

// watches is true: on this system files can be deleted and replaced while they are open.
const watches = true

// identify returns the file at a path; the zero value if there is none. If it cannot be
// determined, for lack of permission for instance, that is an error.
func identify(path string) (fileID, error) {
	var s unix.Stat_t
	for {
		err := unix.Stat(path, &s)
		switch {
		case err == nil:
			return fileID{uint64(s.Dev), s.Ino}, nil //nolint:unconvert // a device has other types on other systems
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
			return fileID{}, nil
		case !errors.Is(err, unix.EINTR):
			return fileID{}, err
		}
	}
}
