package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/shell"
	"github.com/bravellian/pawl/cmd/pawl/internal/spool"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/webhook"
)

// workCmd is "pawl work".
type workCmd struct {
	Topic []string `short:"t" xor:"topics" sep:"none" placeholder:"TOPIC" help:"Topic to serve, may be repeated. One that ends in * is a pattern."`
	Exec  string   `short:"e" xor:"handler" placeholder:"COMMAND" help:"Command to run for every message, by sh -c."`
	On    []string `xor:"topics,handler" sep:"none" placeholder:"TOPIC=COMMAND" help:"Topic with a command of its own, in place of --topic and --exec; may be repeated."`

	webhookFlags

	Concurrency int           `short:"c" placeholder:"N" help:"Commands at once for each queue, with --fleet in all. Default: one per CPU, at least 4."`
	Drain       bool          `help:"Stop as soon as nothing is due. What waits for a retry stays."`
	Lease       time.Duration `default:"30s" placeholder:"DURATION" help:"How long after a crash of this process its messages come back. It is no limit for commands. Default: ${default}."`
	Queue       []string      `sep:"none" placeholder:"NAME" help:"Queue to serve, may be repeated. Default: default."`
	MaxAttempts int           `default:"10" placeholder:"N" help:"Executions of a message before it counts as failed, 0 for no limit. Default: ${default}."`
	Timeout     time.Duration `placeholder:"DURATION" help:"Stop a command or a webhook after so long and try again. Default: none for commands, 15s for webhooks."`
	Grace       time.Duration `default:"20s" placeholder:"DURATION" help:"How long commands may go on when this process is to stop. Default: ${default}."`
	Listen      string        `placeholder:"ADDRESS" help:"Serve the probes /livez and /readyz, and /metrics for Prometheus, at HOST:PORT; without a host only this machine reaches them."`
	PassDB      bool          `name:"pass-db" help:"Leave PAWL_DB, and what else names pawl's database, in the environment of commands."`
	Quiet       bool          `short:"q" help:"No progress, no summary."`
	Verbose     bool          `short:"v" help:"Log every message."`

	migrateFlag
	shareFlags
}

// Help is printed by --help.
func (*workCmd) Help() string {
	return `Serves each --on TOPIC=COMMAND, or every --topic with one --exec or --webhook.

The command gets the payload on standard input and the fields of the message
in the environment: PAWL_MESSAGE_ID, PAWL_TOPIC, PAWL_CORRELATION_ID,
PAWL_ATTEMPT (1 for the first), PAWL_HEADERS (JSON), PAWL_QUEUE, PAWL_PRIORITY,
PAWL_CREATED_AT, PAWL_DUE, PAWL_WORK_ITEM_ID and, with --fleet, PAWL_STORE.
PAWL_DB, and any PAWL variable with a URL or password, it gets only with --pass-db: a
pawl that it calls needs that, or a --db of its own.

Its exit code says what becomes of the message:

    0         done
    65        failed for good: see "pawl ls --failed" and "pawl retry"
    75        try again later
    126, 127  the command cannot be run, or is not found: the worker stops
              with this exit code, and the message is as it was
    others    try again later

Retries come after 1, 2, 4, … 60 seconds. The end of what the command wrote to
standard error is kept with the message. A message may come more than once, for
instance after a crash: PAWL_MESSAGE_ID is the same each time.

On a terminal a line shows what was done and, with --drain, what is left.

What a command prints is passed on in one piece when it ends; beyond 4 MiB as it
comes, in whole lines, of which longer ones are broken. No message waits for it: output
that nobody reads is kept in memory, then in a temporary file of up to 1 GiB.

The first Ctrl-C waits for running commands, a second one, at least a second after it,
stops them. If this process is killed, so are its commands with all of their process
groups, except on Windows. What a command leaves in the background when it ends runs on.

With --drain the exit code is 3 if work of these topics and queues is left behind:
messages that failed for good, that failed and are to be tried again, or that are due but
paused, limited or behind others. What is scheduled, or failed for good before, is not.

A worker takes messages of its queue whatever their topic, and puts those of
other topics back for a while. Where topics have workers of their own, give
each a queue of its own.

Timers that are due and runs of jobs become messages as long as any worker runs,
whatever topics and queues it serves.

With --on TOPIC=COMMAND, one process runs a command of its own for each topic, by the same
rules; --concurrency is that of all of them together. The first = ends the topic. A topic
goes before a pattern, and a longer pattern before a shorter one. A command that cannot be
run stops the worker for all topics.

With --listen ADDRESS, /livez says whether this process does its work, and /readyz
whether everything is well, its database and the work that waits included: 200, or
503 with the reason. "?verbose" and "?format=json" say more.

With --fleet, all stores of a fleet are served, see "pawl fleet --help". One that
fails or has no tables (see --migrate) holds up no other: it is logged and tried
again, and what --drain could not reach makes the exit code 1. As PAWL_STORE is
set, a pawl that the command runs with the same PAWL_FLEET is about that store.

With --share DB, the processes of a fleet divide its stores among themselves: each
store has one of them, or --share-copies of them. They find each other in DB, a
database of pawl's with no need of messages, by leases that "pawl leases ls" lists. If one
dies, others take its stores within ten seconds. --drain is about the stores of this process.

With --webhook URL, the payload is sent to an endpoint instead, as Standard Webhooks
or CloudEvents, and signed by the secrets in the variable that --secret-env names. 2xx
is done, all else is tried again: after 5 seconds, 5 and 30 minutes, 2, 5, 10, 14, 20
and 24 hours, and not before Retry-After says. 429 and 503 with Retry-After count no
attempt for the first three days. A topic whose webhooks have failed for 5 days,
or whose endpoint answers 410, is paused: see "pawl pause --help" and "pawl health".
Addresses that are not public are refused without --allow-private.

Examples:

    pawl work --topic mail --exec ./send-mail.sh
    pawl work --topic t --exec cat --drain
    pawl work --on mail=./send-mail.sh --on 'backup.*=./backup.sh'
    pawl work --topic hook --webhook https://example.com/hook --secret-env HOOK_SECRET
    pawl work --fleet dir:tenants --topic t --exec './handle.sh "$PAWL_STORE"'
    pawl work --fleet dir:tenants --share sqlite:control.db --topic t --exec ./handle.sh`
}

// outputPatience is how long a stop waits for who reads the output.
const outputPatience = 5 * time.Second

// Run works until ctx ends or, with --drain, until nothing is due.
func (c *workCmd) Run(ctx context.Context, a *app, g *options) (err error) {
	live := terminal.NewLive(a.stderr)
	if c.Quiet {
		live = terminal.NewLive(nil)
	}
	defer live.Clear()
	all, err := c.check()
	if err != nil {
		return err
	}
	if c.Share != "" && !g.wholeFleet() {
		return usage("--share goes with --fleet")
	}
	out, logs := spool.New(live.Through(a.stdout)), spool.New(live.Through(a.stderr))
	defer func() { err = errors.Join(err, passOn(ctx, out, logs)) }()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &progress{live: live, logs: logs, json: g.JSON, quiet: c.Quiet, grace: c.Grace}
	done, err := c.commands(a, all, p, out, stop)
	if err != nil {
		return err
	}
	defer done()
	logger := c.logger(a, g, logs)
	if g.wholeFleet() {
		err = c.workFleet(ctx, g, p, all, logger)
	} else {
		err = c.workOne(ctx, g, p, all, logger)
	}
	var unable *exitError
	if errors.As(context.Cause(ctx), &unable) {
		return unable
	}
	return err
}

// passOn waits until all that was printed is passed on, and not for long where ctx ended.
// What is lost of the logs there is no place to say.
func passOn(ctx context.Context, out, logs *spool.Spool) error {
	limited, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(outputPatience, cancel) })()
	err := out.Close(limited)
	_ = logs.Close(limited)
	return err
}

// commands gives every topic the handler that runs its command, if it has one. It returns done, for
// when they ran for the last time. stop is called when one cannot be run.
func (c *workCmd) commands(a *app, all []served, p *progress, out io.Writer, stop context.CancelCauseFunc) (done func(), err error) {
	if c.Webhook != "" {
		p.running = func() int64 { return p.stats().Running }
		a.beforeAbort(p.live.Abandon)
		return func() {}, nil
	}
	runner, err := shell.New(out, p.logs)
	if err != nil {
		return nil, err
	}
	runner.PassDB = c.PassDB
	runner.Unable = func(code int, why error) {
		stop(&exitError{code, fmt.Errorf("the command cannot be run, its message was put back: %w", why)})
	}
	p.running = runner.Running
	a.beforeAbort(func() {
		runner.Kill()
		p.live.Abandon()
	})
	for i := range all {
		all[i].handler = limited(runner.Handler(all[i].command), c.Timeout)
	}
	return runner.Close, nil
}

func (c *workCmd) logger(a *app, g *options, w io.Writer) *slog.Logger {
	level := slog.LevelWarn
	if c.Verbose {
		level = slog.LevelInfo
	}
	return newLogger(w, level, g.JSON, terminal.Is(a.stderr))
}

// workOne works on the database that --db names.
func (c *workCmd) workOne(ctx context.Context, g *options, p *progress, all []served, logger *slog.Logger) error {
	s, err := g.open(ctx, opening{make: true, migrate: c.Migrate, wait: !c.Drain, Options: target.Options{Logger: logger}})
	if err != nil {
		return err
	}
	w, err := pawl.New(s, c.options(logger))
	if err != nil {
		return s.close(err)
	}
	err = c.serving(w, all, func(o webhook.Options) (*webhook.Sink, error) { return webhook.New(w, o) }, logger)
	if err != nil {
		return s.close(err)
	}
	m, err := metrics.New(w, metrics.Options{})
	if err != nil {
		return s.close(err)
	}
	unlisten, err := c.serve(w, m, logger)
	if err != nil {
		return s.close(err)
	}
	defer unlisten()
	p.stats = w.Internal(access.Key{}).Stats
	if c.Drain {
		p.left = func(ctx context.Context) (backlog, error) { return countWaiting(ctx, s, c.queues()) }
	}
	left := c.drained(all)
	if left != nil {
		w.Observe(left.observer(""))
	}
	stop := p.start(ctx)
	err = w.Run(ctx)
	stop()
	if err == nil && left != nil {
		err = left.leftIn(ctx, w.Outbox)
	}
	return s.close(err)
}

// check returns what is served. It finds mistakes in the options that Run would only report later.
func (c *workCmd) check() ([]served, error) {
	all, err := c.served()
	if err != nil {
		return nil, err
	}
	for _, queue := range c.Queue {
		m := outbox.Message{Topic: "any", Queue: queue}
		if err := m.Validate(); err != nil || queue == "" {
			return nil, usage("--queue: empty, or %w", err)
		}
	}
	switch {
	case c.Lease < time.Second:
		return nil, usage("--lease: shorter than a second")
	case !addressable(c.Listen):
		return nil, usage("--listen: %q is no HOST:PORT", c.Listen)
	case c.Concurrency < 0, c.MaxAttempts < 0, c.Timeout < 0, c.Grace < 0:
		return nil, usage("a number or duration is negative")
	}
	if err := c.shareFlags.check(); err != nil {
		return nil, err
	}
	return all, c.webhookFlags.check()
}

// queues are those that are served.
func (c *workCmd) queues() []string {
	if len(c.Queue) == 0 {
		return []string{outbox.DefaultQueue}
	}
	return c.Queue
}

func (c *workCmd) options(logger *slog.Logger) pawl.Options {
	concurrency := c.Concurrency
	if concurrency == 0 {
		concurrency = max(4, runtime.NumCPU())
	}
	return pawl.Options{
		Logger: logger, Queues: c.Queue, Concurrency: concurrency, Lease: c.Lease, Grace: max(c.Grace, time.Millisecond), StopWhenEmpty: c.Drain,
		// Commands are slow next to a claim: other workers want some, too.
		BatchSize: 2 * concurrency,
	}
}

// newLogger logs to w: for programs, for people who watch, or for a file.
func newLogger(w io.Writer, level slog.Level, asJSON, toTerminal bool) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	switch {
	case asJSON:
		return slog.New(slog.NewJSONHandler(terminal.JSON(w), o))
	case toTerminal:
		return slog.New(terminal.NewLog(w, level))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
