//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps the terminal's Ctrl-C from a command, which may finish when
// its worker stops, and lets all it started be ended together.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

func endGroup(group int) error { return syscall.Kill(-group, syscall.SIGTERM) }

// killGroup may find that nobody is left.
func killGroup(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }
