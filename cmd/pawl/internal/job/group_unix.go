//go:build unix

package job

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Own gives a command that is to be started a process group of its own, whose
// number is that of its process. That keeps the terminal's Ctrl-C from it, which
// may finish when pawl is to stop, and lets all it starts be ended together.
// On Linux the command itself dies with pawl even if its Keeper's process is killed, too.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// Signal sends a signal to everyone in a group.
func Signal(group int, s os.Signal) error {
	number, ok := s.(syscall.Signal)
	if !ok {
		number = syscall.SIGTERM
	}
	return syscall.Kill(-group, number)
}

// Kill ends everyone in a group. It may find that nobody is left.
func Kill(group int) { _ = Signal(group, syscall.SIGKILL) }

// Empty reports whether nobody is left in a group.
func Empty(group int) bool { return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) }

// status is a command's exit code as shells put it: 128 and the signal for one
// that was killed.
func status(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok {
		return exitCode(w)
	}
	return s.ExitCode()
}

func exitCode(w syscall.WaitStatus) int {
	if w.Signaled() {
		return 128 + int(w.Signal())
	}
	return w.ExitStatus()
}
