package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// workers are the worker processes. They end when their standard input does, and so
// soon after this process, however it ends.
type workers struct {
	environment []string
	args        []string
	all         []*worker
}

// worker is one process.
type worker struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr bytes.Buffer
	ended  chan struct{}
	err    error // valid once ended
	killed bool
}

func newWorkers(at *location, args []string) *workers {
	// The options of "pawl", which come from such variables too, are not the workers'.
	options := func(v string) bool { return strings.HasPrefix(v, "PAWL_") && !strings.HasPrefix(v, "PAWL_TEST_") }
	environment := slices.DeleteFunc(os.Environ(), options)
	return &workers{args: args, environment: append(environment, EnvDB+"="+at.DB, EnvSchema+"="+at.Schema)}
}

// start starts a worker.
func (w *workers) start() (*worker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	one := &worker{cmd: exec.Command(program, w.args...), ended: make(chan struct{})}
	one.cmd.Env = w.environment
	one.cmd.Stderr = &one.stderr
	if one.stdin, err = one.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := one.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	go func() {
		one.err = one.cmd.Wait()
		close(one.ended)
	}()
	w.all = append(w.all, one)
	return one, nil
}

func (w *worker) pid() int { return w.cmd.Process.Pid }

// kill ends a worker with SIGKILL, which it cannot handle.
func (w *worker) kill() error {
	w.killed = true
	if err := w.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill worker %d: %w", w.pid(), err)
	}
	<-w.ended
	return nil
}

// oldest returns the worker that was started first and is alive.
func (w *workers) oldest() *worker {
	return w.all[slices.IndexFunc(w.all, func(one *worker) bool { return !one.killed })]
}

// check returns an error if a worker ended that was not killed.
func (w *workers) check() error {
	for _, one := range w.all {
		select {
		case <-one.ended:
			if !one.killed {
				return fmt.Errorf("worker %d ended (%v): %s", one.pid(), one.err, strings.TrimSpace(one.stderr.String()))
			}
		default:
		}
	}
	return nil
}

// stop has all workers finish what they are at, and kills those that have not after the
// timeout.
func (w *workers) stop(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for _, one := range w.all {
		_ = one.stdin.Close() // that of a killed one is closed
	}
	for _, one := range w.all {
		select {
		case <-one.ended:
		case <-ctx.Done():
			_ = one.cmd.Process.Kill() // it may just have ended
			<-one.ended
		}
	}
}
