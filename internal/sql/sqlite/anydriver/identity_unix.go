//go:build unix

package anydriver

import (
	"errors"

	"golang.org/x/sys/unix"
)

// watches: on this system files can be deleted and replaced while they are open.
const watches = true

// identify returns which file a path names; the zero value if there is none. What
// cannot be told, for want of rights for instance, is an error.
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
