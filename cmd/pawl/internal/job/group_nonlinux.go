//go:build unix && !linux

package job

import "syscall"

// dieWithParent is a thing of Linux: elsewhere the command of a pawl that was
// killed runs on.
func dieWithParent(*syscall.SysProcAttr) {}
