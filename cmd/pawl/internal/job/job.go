// Package job runs commands in process groups of their own, and ends them with
// all that they started.
package job

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// The exit codes of shells for a command that cannot be run, and for one that is not found.
const (
	CannotRun = 126
	NotFound  = 127
)

// Job is a command that runs.
type Job struct {
	cmd    *exec.Cmd
	grace  time.Duration
	ended  chan error // what waiting for the command returned
	back   func()     // takes the terminal back
	keeper Keeper
}

// Start starts a command. Whoever is told to stop and does not within grace is
// killed; see Wait. If pawl has a terminal, the command has it until Wait returns.
// Where the system refuses to run the command, the job may end with CannotRun or NotFound
// instead, and the reason is on standard error.
func Start(cmd *exec.Cmd, grace time.Duration) (*Job, error) {
	if err := announced(cmd); err != nil {
		return nil, err
	}
	Own(cmd)
	j := &Job{cmd: cmd, grace: grace, ended: make(chan error, 1), back: lend(cmd)}
	if err := j.keeper.Start(cmd); err != nil {
		j.back()
		j.keeper.Close()
		return nil, err
	}
	go func() { j.ended <- cmd.Wait() }()
	return j, nil
}

// Kill ends the command and all that it started, at once.
func (j *Job) Kill() { Kill(j.group()) }

func (j *Job) group() int { return j.cmd.Process.Pid }

// Wait waits for the command's end and returns its exit code, 128 and the signal
// for one that was killed. What arrives in signals is passed on to the whole
// group, and the command may take its time. When lost is closed the group is
// asked to end and killed once the grace is over. Either way nobody of the group
// is left when Wait returns; only the background processes of a command that
// ended unasked are.
func (j *Job) Wait(signals <-chan os.Signal, lost <-chan struct{}) (int, error) {
	defer j.back()
	defer j.keeper.Close()
	defer j.keeper.Ended(j.group())
	var kill <-chan time.Time
	asked := false
	for {
		select {
		case err := <-j.ended:
			if asked {
				j.clear(kill)
			}
			return j.code(err)
		case s := <-signals:
			asked = true
			_ = Signal(j.group(), s) // it may have ended just now
		case <-lost:
			lost, asked = nil, true
			_ = Signal(j.group(), syscall.SIGTERM)
			grace := time.NewTimer(j.grace)
			defer grace.Stop()
			kill = grace.C
		case <-kill:
			j.Kill()
		}
	}
}

// look is how often to look whether a group is empty: nothing tells.
const look = 20 * time.Millisecond

// clear waits for the rest of the group, which has heard that it is to end, and
// kills who has not when the grace is over.
func (j *Job) clear(kill <-chan time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), j.grace)
	defer cancel()
	for !Empty(j.group()) {
		select {
		case <-kill: // counts from when the command was asked
			cancel()
		default:
		}
		if engine.Sleep(ctx, look) != nil {
			j.Kill()
			return
		}
	}
}

// code is the exit code, unless waiting itself failed.
func (j *Job) code(err error) (int, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return status(j.cmd.ProcessState), nil
}
