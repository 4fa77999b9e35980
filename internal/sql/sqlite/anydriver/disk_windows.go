package anydriver

import (
	"context"
	"path/filepath"

	"golang.org/x/sys/windows"
)

func diskOf(path string) (disk, error) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(path))
	if err != nil {
		return disk{}, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(dir, &free, nil, nil); err != nil {
		return disk{}, err
	}
	d := disk{free: int64(min(free, 1<<62))}
	if root, err := windows.UTF16PtrFromString(filepath.VolumeName(path) + `\`); err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		d.network = "a network drive"
	}
	return d, nil
}

// writable returns nil: another check tries to write.
func writable(string) error { return nil }

// readers returns "": this system does not show who holds locks.
func (x *examiner) readers(context.Context) string { return "" }
