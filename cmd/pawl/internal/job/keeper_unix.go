//go:build unix

package job

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

// What this program is called with to be something else; see Process.
const (
	keepArgument = "job:keep"
	execArgument = "job:exec"
)

// announceFile is the pipe to the keeping process in a process that announces itself.
const announceFile = 3

// announceByShell stays on the command's first line, so that errors name the right one.
const announceByShell = "echo +$$ >&3; exec 3>&-; "

// Process is called before anything else with the arguments of the program. Where they, or
// being process 1, say that this process is one of this package's, it does what that is for.
func Process(arguments []string) (code int, ours bool) {
	switch {
	case os.Getpid() == 1:
		return reap()
	case len(arguments) == 1 && arguments[0] == keepArgument:
		keep(os.Stdin)
		return 0, true
	case len(arguments) > 2 && arguments[0] == execArgument:
		return become(arguments[1], arguments[2:]), true
	}
	return 0, false
}

// program is what runs this program once more: on Linux the very same file, even if that was
// replaced by a new version meanwhile.
func program() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// watch starts the keeping process unless there is one.
func (k *Keeper) watch() error {
	if k.ended != nil {
		select {
		case <-k.ended: // somebody killed it: another one takes its place
		default:
			return nil
		}
	} else {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		k.own, k.announce = r, w
	}
	path, err := program()
	if err != nil {
		return err
	}
	cmd := exec.Command(path) //nolint:noctx // it ends by its input
	cmd.Args, cmd.Stdin, cmd.Dir = []string{"pawl", keepArgument}, k.own, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal's signals are meant for it
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it has nothing to say
		close(ended)
	}()
	k.ended = ended
	for group := range k.groups {
		k.tell(group)
	}
	return nil
}

// handOver lets a command announce itself.
func (k *Keeper) handOver(cmd *exec.Cmd) { cmd.ExtraFiles = []*os.File{k.announce} }

// announced makes a command that is no shell announce itself before it runs.
func announced(cmd *exec.Cmd) error {
	path, err := program()
	if err != nil {
		return err
	}
	cmd.Args = append([]string{"pawl", execArgument, cmd.Path}, cmd.Args...)
	cmd.Path = path
	return nil
}

// stops are the signals that ask a program to end, and those that end one which expects none.
func stops() []os.Signal {
	return []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2}
}

// keep is the keeping process: it lives until the other one is gone.
func keep(in io.Reader) {
	signal.Ignore(stops()...)
	groups := map[int]struct{}{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch group, err := strconv.Atoi(lines.Text()); {
		case err != nil:
		case group > 1: // the group 1 would be everybody
			groups[group] = struct{}{}
		default:
			delete(groups, -group)
		}
	}
	for group := range groups {
		Kill(group)
	}
}

// become announces this process and turns it into a command. It returns an exit code only
// where that is not possible.
func become(path string, args []string) int {
	announce := os.NewFile(announceFile, "announce")
	fmt.Fprintf(announce, "%+d\n", os.Getpid())
	_ = announce.Close()
	err := syscall.Exec(path, args, os.Environ())
	fmt.Fprintf(os.Stderr, "pawl: cannot run %q: %v\n", args[0], err)
	if errors.Is(err, fs.ErrNotExist) {
		return NotFound
	}
	return CannotRun
}

// reap is process 1 of a container, which inherits whatever others leave behind and has to
// wait for each of them: this program runs in a child, and gets its signals. It is not ours
// if no child can be started.
func reap() (code int, ours bool) {
	path, err := program()
	if err != nil {
		return 0, false
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, stops()...)
	child, err := syscall.ForkExec(path, os.Args, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		signal.Stop(signals)
		return 0, false
	}
	go func() { // ends with the process
		for s := range signals {
			_ = syscall.Kill(child, s.(syscall.Signal)) //nolint:forcetypeassert // those of stops
		}
	}()
	for {
		var how syscall.WaitStatus
		switch ended, err := syscall.Wait4(-1, &how, 0, nil); {
		case ended == child:
			return exitCode(how), true
		case err != nil && !errors.Is(err, syscall.EINTR):
			return CannotRun, true
		}
	}
}
