package job

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// Keeper starts commands, and a process beside this one that outlives it: once this process is
// gone, even by SIGKILL, that one kills the groups of commands that still run, and ends. The zero
// value is ready for use. A Keeper may be used concurrently.
//
// Elsewhere than on Unix there is no such process, and commands outlive this one.
type Keeper struct {
	mu       sync.Mutex
	groups   map[int]struct{}
	own      *os.File      // the end of the pipe that the keeping process reads, for another one if that is killed
	announce *os.File      // what commands and this process write to: +7 for a group that begins, -7 for one that is over
	ended    chan struct{} // closed when the keeping process has ended; nil before the first
}

// Shell returns the text for sh -c that announces itself to the keeper and then is the command:
// before the command can start anything, so that there is no moment at which a kill is missed.
func Shell(command string) string { return announceByShell + command }

// Start starts a command that Own was called for and that announces itself, as sh -c does with
// a text of Shell.
func (k *Keeper) Start(cmd *exec.Cmd) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.watch(); err != nil {
		return fmt.Errorf("start the process that ends commands: %w", err)
	}
	k.handOver(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	if k.groups == nil {
		k.groups = map[int]struct{}{}
	}
	k.groups[cmd.Process.Pid] = struct{}{}
	return nil
}

// Ended is called when a command has ended: what it left in the background is no longer
// to be killed.
func (k *Keeper) Ended(group int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.groups, group)
	k.tell(-group)
}

// Kill ends all commands at once, and all that they started.
func (k *Keeper) Kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for group := range k.groups {
		Kill(group)
	}
}

// Close ends the process beside this one, which kills what still runs.
func (k *Keeper) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended == nil {
		return
	}
	_ = k.announce.Close()
	<-k.ended
	_ = k.own.Close()
	k.ended = nil
}

// tell tells the keeping process of a group; it may have ended.
func (k *Keeper) tell(group int) {
	if k.ended != nil {
		fmt.Fprintf(k.announce, "%+d\n", group)
	}
}
