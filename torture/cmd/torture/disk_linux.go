package main

import (
	"os"
	"path/filepath"
	"syscall"
)

// smallDisk mounts a file system in memory that may be filled. Who may not mount does
// without: "" is returned.
func smallDisk(dir string) (disk string, remove func()) {
	disk = filepath.Join(dir, "disk")
	if err := os.MkdirAll(disk, 0o755); err != nil {
		return "", func() {}
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256m"); err != nil {
		_ = os.Remove(disk)
		return "", func() {}
	}
	return disk, func() {
		_ = syscall.Unmount(disk, syscall.MNT_DETACH)
		_ = os.Remove(disk)
	}
}
