package smalldisk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// D-320: a disk is full when its size is written, and nothing of it stays mounted.
func TestMount(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	d, err := Mount(size)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	open, err := os.Create(filepath.Join(d.Dir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if _, err := open.Write(make([]byte, 2*size)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("twice the size was written: %v", err)
	}
	if err := d.Unmount(); err != nil {
		t.Error(err)
	}
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.Dir()); !errors.Is(err, os.ErrNotExist) || strings.Contains(string(mounts), d.Dir()) {
		t.Errorf("the disk is there still: %v\n%s", err, mounts)
	}
}
