//go:build !unix

package job

import (
	"os"
	"os/exec"
)

// Own does nothing: without process groups only the command itself can be ended.
func Own(*exec.Cmd) {}

// Signal kills the command: there is no other signal.
func Signal(group int, _ os.Signal) error {
	Kill(group)
	return nil
}

// Kill ends the command.
func Kill(group int) {
	if p, err := os.FindProcess(group); err == nil {
		_ = p.Kill()
	}
}

// Empty cannot tell, and says that nobody is left.
func Empty(int) bool { return true }

// status is a command's exit code.
func status(s *os.ProcessState) int { return s.ExitCode() }
