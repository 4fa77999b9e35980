package anydriver

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// networkFileSystem returns the name of a kind of network file system, "" for others.
func networkFileSystem(kind uint32) string { // the kernel's numbers have 32 bits, whatever the field has
	switch kind {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.V9FS_MAGIC:
		return "9P"
	}
	return ""
}

func diskOf(path string) (disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return disk{}, err
	}
	//nolint:unconvert // the fields' types differ from machine to machine
	return disk{free: int64(s.Bavail) * int64(s.Bsize), network: networkFileSystem(uint32(s.Type))}, nil
}

func writable(path string) error { return unix.Access(path, unix.W_OK) }

// The bytes of the -shm file that readers lock to keep their part of the log.
const (
	firstReadMark = 123
	lastReadMark  = 127
)

// readers names the processes that read from the log at this moment, as far as the kernel
// shows their locks.
func (x *examiner) readers(ctx context.Context) string {
	path, err := x.path(ctx)
	if err != nil {
		return ""
	}
	var shm unix.Stat_t
	if unix.Stat(path+"-shm", &shm) != nil {
		return ""
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return ""
	}
	defer locks.Close()
	var found []string
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		var nth, kind, mode, access, place string
		var pid, from, to int64
		n, _ := fmt.Sscan(lines.Text(), &nth, &kind, &mode, &access, &pid, &place, &from, &to)
		if n == 8 && strings.HasSuffix(place, fmt.Sprintf(":%d", shm.Ino)) && from >= firstReadMark && to <= lastReadMark {
			found = append(found, fmt.Sprintf("process %d", pid))
		}
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), ", ")
}
