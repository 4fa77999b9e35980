// Package shell handles messages by running a command for each.
package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/job"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Exit codes by which a command says what becomes of its message, after
// sysexits.h. Any other than these and 0 retries as well.
const (
	exitFail  = 65 // EX_DATAERR: the message itself is wrong
	exitRetry = 75 // EX_TEMPFAIL
)

const (
	// killAfter is how long a command may take to end when asked to. It and
	// waitDelay are within the two seconds that the worker loop grants.
	killAfter = time.Second
	// waitDelay is how long to wait for output of processes that a command
	// left behind.
	waitDelay = 1500 * time.Millisecond
	// breather is the pause when this machine cannot start a process.
	breather = time.Second
)

// Runner runs commands, a process for every message: the payload on standard input, the fields
// in the environment.
type Runner struct {
	// PassDB leaves the variables that name pawl's database in the command's environment.
	PassDB bool
	// Unable is called, unless it is nil, when the command cannot be run, with the exit code that
	// shells have for that. No other message will fare better. It may be called concurrently.
	Unable func(code int, why error)

	stdout, stderr io.Writer
	running        atomic.Int64
	keeper         job.Keeper
}

// New returns what runs commands with sh -c. What a command prints arrives in stdout and
// stderr in one piece, whatever runs beside it; beyond 4 MiB as it comes, in whole lines. Messages
// are settled when both have taken it: they should not wait for who reads it.
func New(stdout, stderr io.Writer) (*Runner, error) {
	if _, err := exec.LookPath("sh"); err != nil {
		return nil, fmt.Errorf("cannot run commands: %w", err)
	}
	return &Runner{stdout: stdout, stderr: stderr}, nil
}

// Running is how many commands run now.
func (r *Runner) Running() int64 { return r.running.Load() }

// Kill ends all commands at once, for an exit that waits for nothing.
func (r *Runner) Kill() { r.keeper.Kill() }

// Close is called when no command runs any more.
func (r *Runner) Close() { r.keeper.Close() }

// Handler returns what runs a command for each message. When the context ends, the command and
// all that it started are asked to end, and killed a second later.
func (r *Runner) Handler(command string) outbox.Handler {
	return func(ctx context.Context, m *outbox.Message) error { return r.handle(ctx, command, m) }
}

func (r *Runner) handle(ctx context.Context, command string, m *outbox.Message) error {
	r.running.Add(1)
	defer r.running.Add(-1)
	stdout, stderr, last := &stream{to: r.stdout}, &stream{to: r.stderr}, &tail{}
	cmd := exec.CommandContext(ctx, "sh", "-c", job.Shell(command))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(m.Payload), stdout, io.MultiWriter(stderr, last)
	cmd.Env = append(job.Environ(r.PassDB), environment(ctx, m)...)
	err := r.run(ctx, cmd)
	if err := errors.Join(stdout.end(), stderr.end()); err != nil {
		return fmt.Errorf("pass the command's output on: %w", err)
	}
	err = verdict(ctx, err, last.text())
	var unable *unableError
	if errors.As(err, &unable) && r.Unable != nil {
		r.Unable(unable.code, unable.err)
		return worker.PutBack(0)
	}
	return err
}

func (r *Runner) run(ctx context.Context, cmd *exec.Cmd) error {
	job.Own(cmd)
	var kill *time.Timer
	cmd.Cancel = func() error {
		kill = time.AfterFunc(killAfter, func() { job.Kill(cmd.Process.Pid) })
		return job.Signal(cmd.Process.Pid, syscall.SIGTERM)
	}
	cmd.WaitDelay = waitDelay
	if err := r.keeper.Start(cmd); err != nil {
		return &startError{err}
	}
	group := cmd.Process.Pid
	defer r.keeper.Ended(group)
	err := cmd.Wait() // after it, Cancel is not running
	if kill != nil {
		kill.Stop()
		job.Kill(group) // who ignored the request and outlived the shell
	}
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		return nil // it succeeded and left something running in the background
	}
	return err
}

// startError: there was no command to judge the message.
type startError struct{ err error }

func (e *startError) Error() string { return "start command: " + e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// unableError: the command cannot be run, for this message or any other.
type unableError struct {
	code int
	err  error
}

func (e *unableError) Error() string { return e.err.Error() }
func (e *unableError) Unwrap() error { return e.err }

// verdict turns how a command ended into what becomes of its message.
func verdict(ctx context.Context, err error, stderr string) error {
	var start *startError
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return explain("timed out", stderr)
	case ctx.Err() != nil:
		return fmt.Errorf("command stopped: %w", ctx.Err())
	case errors.As(err, &start) && passing(start.err):
		return outbox.Snooze(breather) // not the message's fault: no attempt counted
	case errors.As(err, &start):
		return &unableError{job.CannotRun, err}
	case !errors.As(err, &exit):
		return err
	case exit.ExitCode() == job.CannotRun || exit.ExitCode() == job.NotFound:
		return &unableError{exit.ExitCode(), explain(exit.String(), stderr)}
	case exit.ExitCode() == exitFail:
		return outbox.Permanent(explain(exit.String(), stderr))
	case exit.ExitCode() == exitRetry && stderr == "":
		return errors.New("the command asked for a retry")
	}
	return explain(exit.String(), stderr)
}

// passing reports whether the machine only lacks something for the moment.
func passing(err error) bool {
	for _, e := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func explain(what, stderr string) error {
	if stderr == "" {
		return errors.New(what)
	}
	return fmt.Errorf("%s: %s", what, stderr)
}

// environment is a message's fields as environment variables. The store is empty
// outside of a fleet: it might be inherited from one otherwise.
func environment(ctx context.Context, m *outbox.Message) []string {
	store := ""
	if s := fleet.StoreOf(ctx); s != nil {
		store = s.Key
	}
	headers := []byte("{}")
	if len(m.Headers) > 0 {
		headers, _ = json.Marshal(m.Headers) // a map of strings always can be
	}
	due := ""
	if !m.Due.IsZero() {
		due = m.Due.Format(time.RFC3339Nano)
	}
	return []string{
		"PAWL_MESSAGE_ID=" + m.ID.String(),
		"PAWL_WORK_ITEM_ID=" + strconv.FormatInt(int64(m.Position), 10),
		"PAWL_TOPIC=" + m.Topic,
		"PAWL_CORRELATION_ID=" + m.CorrelationID,
		"PAWL_ATTEMPT=" + strconv.Itoa(m.RetryCount+1),
		"PAWL_CREATED_AT=" + m.CreatedAt.Format(time.RFC3339Nano),
		"PAWL_DUE=" + due,
		"PAWL_QUEUE=" + m.Queue,
		"PAWL_PRIORITY=" + strconv.Itoa(m.Priority),
		"PAWL_HEADERS=" + string(headers),
		"PAWL_STORE=" + store,
	}
}
