//go:build unix

package crew

import (
	"os/exec"
	"syscall"
)

// Signals that stop a process where it is, and let it go on.
const (
	sigStop = syscall.SIGSTOP
	sigCont = syscall.SIGCONT
)

// apart puts a process into a group of its own: Ctrl-C is for the harness.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
