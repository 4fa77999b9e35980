//go:build unix

package anydriver

import (
	"os"
	"strconv"
	"syscall"
)

// fileNumber identifies a file on its disk, independent of its name.
func fileNumber(info os.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(s.Ino, 10)
	}
	return ""
}
