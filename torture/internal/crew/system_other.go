//go:build !unix

package crew

import (
	"os/exec"
	"syscall"
)

// There is nothing of the kind: package torture does not run here.
const (
	sigStop = syscall.SIGTERM
	sigCont = syscall.SIGTERM
)

func apart(*exec.Cmd) {}
