//go:build linux || darwin

package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clock is a server's clock that can be stepped: libfaketime reads from a file by how much it
// differs from the machine's.
type clock struct {
	library, file string
	made          time.Time
}

// ErrNoClock says that the server has the machine's clock.
var ErrNoClock = errors.New("the server's clock cannot be stepped: libfaketime is not installed")

// newClock makes a clock; nil without libfaketime.
func newClock() (*clock, error) {
	for _, pattern := range []string{
		"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1", "/opt/homebrew/lib/faketime/libfaketime.1.dylib",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return clockOf(found[0])
		}
	}
	return nil, nil
}

// clockOf makes the clock's file, which the server's user may read.
func clockOf(library string) (*clock, error) {
	dir, err := os.MkdirTemp("", "pawl-clock-")
	if err != nil {
		return nil, err
	}
	c := &clock{library: library, file: filepath.Join(dir, "clock"), made: time.Now()}
	return c, errors.Join(os.Chmod(dir, 0o755), c.set(0))
}

// remove removes the file, and what libfaketime left behind of processes that were killed: an hour of
// torture left more than 400 files in memory.
func (c *clock) remove() error {
	if c == nil {
		return nil
	}
	err := os.RemoveAll(filepath.Dir(c.file))
	for _, pattern := range []string{"/dev/shm/faketime_shm_*", "/dev/shm/sem.faketime_sem_*"} {
		left, globErr := filepath.Glob(pattern)
		err = errors.Join(err, globErr)
		for _, path := range left {
			if c.leftover(path) {
				_ = os.Remove(path) // what cannot be removed is of another user
			}
		}
	}
	return err
}

// leftover reports whether a file of libfaketime's, which ends with a process id, is younger than the clock and
// of a process that is gone.
func (c *clock) leftover(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.ModTime().Before(c.made.Truncate(time.Second)) {
		return false
	}
	pid, err := strconv.Atoi(path[strings.LastIndexByte(path, '_')+1:])
	return err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// environ makes a program have the clock. It reads the file for each time that it asks for, so
// that all its processes notice a step at once. What measures time that passes is not changed.
func (c *clock) environ() []string {
	if c == nil {
		return nil
	}
	return []string{"LD_PRELOAD=" + c.library, "DYLD_INSERT_LIBRARIES=" + c.library, "FAKETIME_TIMESTAMP_FILE=" + c.file, "FAKETIME_NO_CACHE=1", "DONT_FAKE_MONOTONIC=1"}
}

// set puts the clock ahead of the machine's. The file is replaced as a whole.
func (c *clock) set(ahead time.Duration) error {
	if err := os.WriteFile(c.file+".next", fmt.Appendf(nil, "%+d\n", int64(ahead.Seconds())), 0o644); err != nil {
		return err
	}
	return os.Rename(c.file+".next", c.file)
}
