//go:build linux || darwin

package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// pollInterval is how often a waiting loop looks again. Processes give no
// better signal than that without a goroutine (see process).
const pollInterval = 10 * time.Millisecond

// A process is a child that lives for as long as the cluster does. It is reaped
// by asking, not by a goroutine in exec.Cmd.Wait, because a cluster belongs to
// test binaries that check themselves for leaked goroutines at the end.
//
// Until it is reaped nobody else can get its pid, so signals cannot go astray.
type process struct {
	pid  int
	gone bool
}

// startProcess starts the command and takes it out of exec's hands.
func startProcess(cmd *exec.Cmd) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	p := &process{pid: cmd.Process.Pid}
	return p, cmd.Process.Release()
}

// exited tells whether the process is over, and reaps it if it is.
func (p *process) exited() bool {
	if p.gone {
		return true
	}
	pid, err := syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
	p.gone = pid == p.pid || errors.Is(err, syscall.ECHILD)
	return p.gone
}

// signal sends a signal to the process itself, and to nobody if it is over.
func (p *process) signal(sig syscall.Signal) error {
	if p.exited() {
		return nil
	}
	return syscall.Kill(p.pid, sig)
}

// end waits for a process that was asked to stop, and kills it when it does not.
func (p *process) end(patience time.Duration) {
	if p.exitsWithin(patience) {
		return
	}
	_ = p.signal(syscall.SIGKILL)
	p.exitsWithin(killPatience)
}

// exitsWithin waits for the end of the process.
func (p *process) exitsWithin(d time.Duration) bool {
	deadline := time.Now().Add(d)
	for !p.exited() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pollInterval)
	}
	return true
}

// pause waits a moment between two looks at something, or until the context
// ends, whose error it then returns.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollInterval):
		return nil
	}
}

// A guard makes sure that the server does not outlive this process. It is a
// shell that reads from a pipe whose other end only this process holds: however
// we end, the kernel closes our end, the shell sees the end of its input, stops
// the server and removes the data.
type guard struct {
	process *process
	pipe    *os.File
}

// guardScript reads the pid of what is running now, one per line, 0 for
// nothing. Signals from a terminal are not for it: Ctrl-C is how people stop
// the process that it has to clear up after. A fast shutdown lets clients see a
// proper error; then come an immediate one and the kill, five seconds each.
const guardScript = `
trap '' HUP INT QUIT
pid=0
while read -r line; do pid=$line; done
for signal in INT QUIT KILL; do
	[ "$pid" -gt 0 ] || break
	kill -$signal "$pid" 2>/dev/null || break
	for tick in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
		kill -0 "$pid" 2>/dev/null || break 2
		sleep 0.2
	done
done
rm -rf "$1"
`

// startGuard starts the shell for a directory. It runs as ourselves and not as
// the server's user, who may not be allowed to remove the directory.
func startGuard(dir string) (*guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// The guard stands outside the directory that it removes.
	cmd := account{}.command("/", "sh", "-c", guardScript, "pawl-pgcluster-guard", dir)
	cmd.Stdin = r
	p, err := startProcess(cmd)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return &guard{process: p, pipe: w}, nil
}

// launchScript tells the guard its own pid before it becomes the program, so
// that there is no moment at which the program runs and the guard does not know
// it. The program itself does not get the pipe: it would keep it open.
const launchScript = `echo $$ >&3 && exec "$@" 3>&-`

// command prepares a program that runs under the guard.
func (g *guard) command(account account, dir string, args ...string) *exec.Cmd {
	shell := append([]string{"sh", "-c", launchScript, "pawl-pgcluster-launch"}, args...)
	cmd := account.command(dir, shell...)
	cmd.ExtraFiles = []*os.File{g.pipe}
	return cmd
}

// forget tells the guard that the last program is over and reaped. From now on
// the system may give its pid to somebody else.
func (g *guard) forget() error {
	if _, err := g.pipe.WriteString("0\n"); err != nil {
		return fmt.Errorf("the guard of the server is gone: %w", err)
	}
	return nil
}

// release makes the guard act.
func (g *guard) release() {
	_ = g.pipe.Close()
}
