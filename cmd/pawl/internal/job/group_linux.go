package job

import "syscall"

// dieWithParent ends a command whose pawl was killed together with the Keeper's process: what
// it was to do will be done by another, and then two of it would run.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
