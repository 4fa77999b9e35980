//go:build unix

package anydriver

import (
	"os"
	"strconv"
	"syscall"
)

// fileNumber tells a file from others on its disk, however it is called.
func fileNumber(info os.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(s.Ino, 10)
	}
	return ""
}
