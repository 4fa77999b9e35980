// Package smalldisk mounts file systems in memory that faults may fill.
package smalldisk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Disk is a small file system of its own.
type Disk struct {
	dir   string
	guard *exec.Cmd
	pipe  *os.File
}

// guardScript unmounts when its input ends, which is when the process that mounted is over or
// asks for it: no mount stays behind a process that was killed.
const guardScript = `
trap '' HUP INT QUIT TERM
read -r line
umount -l "$1"
rmdir "$1"
`

// Mount mounts a file system of a size in bytes. It takes the right to do so, which root has
// outside of most containers.
func Mount(size int64) (*Disk, error) {
	dir, err := os.MkdirTemp("", "pawl-disk-")
	if err != nil {
		return nil, err
	}
	d := &Disk{dir: dir}
	if err := d.watch(); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	// Servers have users of their own, who may get there.
	if err := errors.Join(os.Chmod(dir, 0o755), syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("mode=0755,size=%d", size))); err != nil {
		return nil, errors.Join(fmt.Errorf("mounting a small disk: %w", err), d.Unmount())
	}
	return d, nil
}

// watch starts the guard. It is in a session of its own: what ends this process does not end it.
func (d *Disk) watch() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	d.guard = exec.Command("sh", "-c", guardScript, "pawl-disk-guard", d.dir) //nolint:noctx // it ends by its input
	d.guard.Dir, d.guard.Stdin, d.guard.SysProcAttr = "/", r, &syscall.SysProcAttr{Setsid: true}
	d.pipe = w
	if err := d.guard.Start(); err != nil {
		return errors.Join(err, w.Close())
	}
	return nil
}

// Dir is where the disk is.
func (d *Disk) Dir() string { return d.dir }

// Unmount removes the disk and what is on it, also what is still open.
func (d *Disk) Unmount() error {
	_ = d.pipe.Close()
	err := d.guard.Wait()
	if err == nil {
		return nil
	}
	return errors.Join(fmt.Errorf("the guard of the small disk: %w", err), syscall.Unmount(d.dir, syscall.MNT_DETACH), os.Remove(d.dir))
}
