//go:build unix && !linux

package job

import "syscall"

// dieWithParent is a thing of Linux: elsewhere there is the Keeper alone.
func dieWithParent(*syscall.SysProcAttr) {}
