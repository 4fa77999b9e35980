//go:build !unix

package shell

import (
	"os"
	"os/exec"
)

// ownGroup: without process groups only the shell itself can be ended.
func ownGroup(*exec.Cmd) {}

func endGroup(group int) error {
	killGroup(group)
	return nil
}

func killGroup(group int) {
	if p, err := os.FindProcess(group); err == nil {
		_ = p.Kill()
	}
}
