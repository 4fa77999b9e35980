//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package job

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"unsafe"
)

// lend puts a command that is to be started into the foreground of the terminal
// that pawl itself has: in a process group of its own it would be stopped as soon
// as it read from it. Ctrl-C is the command's from then on, and Ctrl-Z does
// nothing: it would stop the command and leave nobody who could be told to go on.
// The terminal stays where it is if the command shares it with others, of a
// pipeline, or pawl runs in the background. back takes it back.
func lend(cmd *exec.Cmd) (back func()) {
	in, inOK := cmd.Stdin.(*os.File)
	out, outOK := cmd.Stdout.(*os.File)
	if !inOK || !outOK {
		return func() {}
	}
	ours := int32(syscall.Getpgrp())
	if ours == 0 { // it is of another PID namespace, and could not be given the terminal back
		return func() {}
	}
	if foreground(in) != ours || foreground(out) != ours {
		return func() {}
	}
	signal.Ignore(syscall.SIGTSTP, syscall.SIGTTOU)
	cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, int(in.Fd())
	return func() {
		_ = ioctl(in, syscall.TIOCSPGRP, &ours)
		signal.Reset(syscall.SIGTSTP, syscall.SIGTTOU)
	}
}

// foreground is the process group that a terminal listens to, or 0 where there
// is no terminal.
func foreground(f *os.File) (group int32) {
	if ioctl(f, syscall.TIOCGPGRP, &group) != 0 {
		return 0
	}
	return group
}

func ioctl(f *os.File, request uintptr, group *int32) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(group)))
	return errno
}
