//go:build unix && !linux

package shell

import "syscall"

// dieWithParent is a thing of Linux: elsewhere the command of a killed worker
// runs on.
func dieWithParent(*syscall.SysProcAttr) {}
