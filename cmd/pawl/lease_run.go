package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/job"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/lease"
)

// leaseCmd is "pawl lease".
type leaseCmd struct {
	Run leaseRunCmd `cmd:"" help:"Run a command while holding a lease."`
}

// leaseRunCmd is "pawl lease run".
type leaseRunCmd struct {
	Name    string   `arg:"" help:"Name of the lease."`
	Command []string `arg:"" passthrough:"partial" help:"Command to run, with its arguments; \"--\" before it keeps its options its own."`

	Duration    time.Duration `default:"30s" placeholder:"DURATION" help:"How long the others wait if this process dies. It is no limit for the command: the lease is renewed. Default: ${default}."`
	Wait        bool          `short:"w" help:"Wait in line while the lease is held."`
	WaitTimeout time.Duration `placeholder:"DURATION" help:"With --wait: how long at most. Default: no limit."`
	Grace       time.Duration `default:"10s" placeholder:"DURATION" help:"How long the command may take to end once the lease is lost. Default: ${default}."`
	PassDB      bool          `name:"pass-db" help:"Leave PAWL_DB, and what else names pawl's database, in the command's environment."`

	migrateFlag
}

// Help is printed by --help.
func (*leaseRunCmd) Help() string {
	return `Runs the command if nobody else holds the lease, on whatever machine: a flock(1)
over a database, as cron jobs want it. The command has this process's standard
input, output and error, and in the environment PAWL_LEASE_NAME and
PAWL_LEASE_TOKEN, a number that grows with every run: a place that refuses lower
numbers than the highest it has seen is safe from a run that lost its lease.
PAWL_DB it has only with --pass-db, as there may be a password in it.

Exit codes are those of the command, 128 and the signal if one killed it, and:

    75      the lease is held, or --wait-timeout is over: nothing was run
    79      the lease was lost while the command ran
    126     the command cannot be run
    127     the command is not found
    1, 2    failure and wrong usage, as ever: nothing was run

What pawl itself has to say it says on standard error.

When the lease is lost (to "pawl leases release", or because the database was
away for longer than --duration), the command and all that it started get
SIGTERM, and SIGKILL after --grace. For so long it may overlap with the next
holder's. SIGINT and SIGTERM to pawl are passed on; it waits for the command,
gives the lease back at once and exits as the command did. A second one, at least a
second after the first, kills the command. At a terminal Ctrl-C goes to the command alone, and Ctrl-Z does
nothing: who holds a lease is not to sleep.

Whether the lease was still held is asked once more when the command has ended. If
the database cannot say, that is said, and the exit code is the command's.

What the command leaves in the background when it ends by itself runs on without
the lease. If pawl is killed the lease runs out after --duration, and the command is
killed with its process group; on Windows it runs on.

Examples:

    pawl lease run nightly -- ./close-books.sh --all
    pawl lease run deploy --wait --wait-timeout 10m -- make deploy
    pawl lease run sync --duration 5m -- sh -c './sync --fence "$PAWL_LEASE_TOKEN"'`
}

// Run holds the lease while the command runs.
func (c *leaseRunCmd) Run(ctx context.Context, a *app, g *options) error {
	cmd, err := c.command(a)
	if err != nil {
		return err
	}
	logger := newLogger(a.stderr, slog.LevelWarn, g.JSON, terminal.Is(a.stderr))
	s, err := g.open(ctx, opening{make: true, migrate: c.Migrate, Options: target.Options{Logger: logger}})
	if err != nil {
		return err
	}
	held, err := c.acquire(ctx, components(s, logger).Leases)
	if err != nil {
		return s.close(err)
	}
	if err = c.notHad(ctx, ctx.Err()); err == nil { // else there is no point in beginning
		err = c.hold(ctx, a, held, cmd)
	}
	if failure := held.Close(ctx); failure != nil {
		logger.Warn("could not give a lease back, it runs out", "lease", c.Name, "owner", held.Owner(), "error", failure)
	}
	if failure := s.Close(); failure != nil { // how the command ended tells more
		logger.Warn("could not close the database", "error", failure)
	}
	return err
}

// command finds mistakes before anything is opened, and the command.
func (c *leaseRunCmd) command(a *app) (*exec.Cmd, error) {
	if c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	switch {
	case len(c.Command) == 0:
		return nil, usage("a command is missing")
	case c.Duration < time.Second:
		return nil, usage("--duration: shorter than a second")
	case c.Grace < 0, c.WaitTimeout < 0:
		return nil, usage("a duration is negative")
	case c.WaitTimeout > 0 && !c.Wait:
		return nil, usage("--wait-timeout goes with --wait")
	}
	if err := checkLease(c.Name); err != nil {
		return nil, err
	}
	cmd := exec.Command(c.Command[0], c.Command[1:]...) //nolint:noctx // job ends it, in order
	if cmd.Err != nil {
		return nil, c.cannotRun(cmd.Err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
	return cmd, nil
}

// cannotRun is that there is no such command, or it does not start.
func (c *leaseRunCmd) cannotRun(err error) error {
	code := exitNoStart
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = exitNoCommand
	}
	return &exitError{code, fmt.Errorf("cannot run %q: %w", c.Command[0], err)}
}

func (c *leaseRunCmd) acquire(ctx context.Context, leases *lease.Leases) (*lease.Lease, error) {
	o := lease.Options{Duration: c.Duration}
	if !c.Wait {
		l, err := leases.Acquire(ctx, c.Name, o)
		return l, c.notHad(ctx, err)
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if c.WaitTimeout > 0 {
		limited, cancel = context.WithTimeout(ctx, c.WaitTimeout)
	}
	defer cancel()
	l, err := leases.AcquireWait(limited, c.Name, o)
	if err == nil || ctx.Err() != nil || limited.Err() == nil {
		return l, c.notHad(ctx, err)
	}
	text := fmt.Sprintf("waited %s for the lease", engine.Exact(c.WaitTimeout))
	if info, err := leases.Get(ctx, c.Name); err == nil { // at least how it is now
		text = fmt.Sprintf("%s: %s", text, holding(&lease.HeldError{Name: info.Name, Owner: heldBy(info), Until: info.Until, Waiting: info.Waiting}))
	}
	return nil, &exitError{exitHeld, errors.New(text)}
}

// notHad gives the exit codes of a lease that was not to be had.
func (c *leaseRunCmd) notHad(ctx context.Context, err error) error {
	var held *lease.HeldError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return &exitError{exitHeld, errors.New(holding(held))}
	case ctx.Err() != nil:
		code := exitInterrupted
		if number, ok := interruptOf(ctx).(syscall.Signal); ok {
			code = 128 + int(number)
		}
		return &exitError{code, errors.New("interrupted before the lease was had")}
	}
	return err
}

// holding says who has a lease.
func holding(e *lease.HeldError) string {
	if e.Owner != "" {
		return fmt.Sprintf("%q is held by %s until %s", e.Name, e.Owner, stamp(e.Until))
	}
	return fmt.Sprintf("%q is free, but others wait for it: %d", e.Name, e.Waiting)
}

// abortPatience is how long an exit that waits for nothing waits for a command
// that was killed and for the lease to be given back. Then the lease runs out.
const abortPatience = 5 * time.Second

// hold runs the command under the lease.
func (c *leaseRunCmd) hold(ctx context.Context, a *app, l *lease.Lease, cmd *exec.Cmd) error {
	cmd.Env = append(job.Environ(c.PassDB), "PAWL_LEASE_NAME="+c.Name, "PAWL_LEASE_TOKEN="+strconv.FormatInt(l.Token(), 10))
	running, err := job.Start(cmd, c.Grace)
	if err != nil {
		return c.cannotRun(err)
	}
	a.beforeAbort(func() {
		running.Kill()
		_ = engine.Sleep(context.WithoutCancel(ctx), abortPatience) // Run ends the process before
	})
	signals := make(chan os.Signal, 1)
	defer context.AfterFunc(ctx, func() { signals <- interruptOf(ctx) })()
	code, err := running.Wait(signals, l.Context().Done())
	switch ended := l.Err(); {
	case ended != nil:
		return &exitError{exitLost, fmt.Errorf("%w; the command ended with exit code %d", ended, code)}
	case err != nil:
		return fmt.Errorf("run %q: %w", c.Command[0], err)
	}
	if err := c.heldToTheEnd(ctx, a, l); err != nil {
		return &exitError{exitLost, fmt.Errorf("%w; the command ended with exit code %d", err, code)}
	}
	if code != exitOK {
		return &exitError{code, nil}
	}
	return nil
}

// heldToTheEnd asks the database once more: the lease may have been taken away since
// the last renewal. A database that does not answer says nothing about the command.
func (c *leaseRunCmd) heldToTheEnd(ctx context.Context, a *app, l *lease.Lease) error {
	// In half of the time that is left: asking must not let the lease run out.
	asking, cancel := engine.Detach(ctx, min(time.Until(l.Deadline())/2, abortPatience))
	defer cancel()
	err := l.Renew(asking)
	if err == nil || errors.Is(err, lease.ErrLost) {
		return err
	}
	fmt.Fprintln(a.stderr, "pawl: "+terminal.Clean(fmt.Sprintf("could not ask whether the lease was held to the end: %s", oneLine(err.Error()))))
	return nil
}

// checkLease says what is wrong with the name of a lease.
func checkLease(name string) error {
	if err := engine.CheckText("name of a lease", name, maxLeaseName, true); err != nil {
		return usage("%w", err)
	}
	return nil
}

// maxLeaseName is how many characters the name of a lease may have.
const maxLeaseName = 255
