package shell

import "syscall"

// dieWithParent ends a command whose worker was killed: its message will be
// delivered again, and then two of it would run.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
