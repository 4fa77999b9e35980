package main

import (
	"context"
	"errors"
	"io"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/bravellian/pawl/cmd/pawl/internal/job"
)

// Exit codes. They are part of the interface; see the help text.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitLeft    = 3 // of "work --drain"

	// Those of "pawl lease run", besides the ones of the command it runs; the last two also of "pawl work". 75 is
	// EX_TEMPFAIL of sysexits.h, and 79 means nothing there nor to shells, which
	// say 126 and 127.
	exitHeld      = 75
	exitLost      = 79
	exitNoStart   = job.CannotRun
	exitNoCommand = job.NotFound
)

const description = `Durable work on SQLite or PostgreSQL: messages that are enqueued in a
transaction and delivered at least once.

SQL Server is a preview: no SQL Server has run it.

WHEN is a time (2030-01-31T12:00:00Z), a duration from now or ago (10m, 2d12h), or now.

Exit codes: 0 success, 1 failure, 2 wrong usage; "work" and "lease run" have more.

Examples:

    printf '%s\n' '{"n":1}' '{"n":2}' | pawl enqueue --topic mail
    pawl work --topic mail --exec ./send-mail.sh
    pawl ls --failed
    pawl retry --all --topic mail --error timeout --since 2h --dry-run
    pawl pause topic mail --reason 'the mail server is down'
    pawl joins ls --status pending
    pawl timers add --topic remind --due 30m --key order-17 --data '{"order":17}'
    pawl jobs put report --topic report --schedule '0 6 * * MON-FRI' --zone Europe/Berlin
    pawl lease run nightly -- ./close-books.sh
    pawl --db postgres://app@db.example/shop ls --counts
    pawl fleet status --fleet 'dir:tenants/*.db'
    pawl doctor
    pawl demo`

// app is one run of the program.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	mu      sync.Mutex
	onAbort func()
}

// cli is the command line's grammar.
type cli struct {
	options

	VersionFlag kong.VersionFlag `name:"version" help:"Print the version."`

	Migrate      migrateCmd      `cmd:"" help:"Create pawl's tables, or bring them up to date."`
	AfterRestore afterRestoreCmd `cmd:"" help:"Record that a database was restored from a backup."`
	Enqueue      enqueueCmd      `cmd:"" help:"Enqueue messages from the command line, standard input or a file."`
	Import       importCmd       `cmd:"" help:"Move rows of other outbox tables of the database into pawl."`
	Work         workCmd         `cmd:"" help:"Run a command for every message."`
	Ls           lsCmd           `cmd:"" aliases:"list" help:"List messages, newest first."`
	Show         showCmd         `cmd:"" help:"Show a message with its payload."`
	Failures     failuresCmd     `cmd:"" help:"Group failed messages by topic and error."`
	Explain      explainCmd      `cmd:"" help:"Say why a message, timer, job, run, join or message of the inbox has not run."`
	Retry        retryCmd        `cmd:"" help:"Make failed messages ready again, with all their attempts."`
	Discard      discardCmd      `cmd:"" help:"Discard failed messages."`
	Undiscard    undiscardCmd    `cmd:"" help:"Take discards of the last hour back."`
	Cancel       cancelCmd       `cmd:"" help:"Cancel messages that have not run."`
	Erase        eraseCmd        `cmd:"" help:"Erase what messages say, for those who must."`
	Reschedule   rescheduleCmd   `cmd:"" help:"Change the due time of messages that have not run."`
	Retopic      retopicCmd      `cmd:"" help:"Move messages that wait to another topic or queue."`
	Pause        pauseCmd        `cmd:"" help:"Stop work on a topic or queue, for all workers."`
	Resume       resumeCmd       `cmd:"" help:"Resume work on a topic or queue."`
	Pauses       pausesCmd       `cmd:"" help:"List what is paused."`
	Bulk         bulkCmd         `cmd:"" help:"List and stop bulk acts: what workers retry or discard at a rate."`
	Limits       limitsCmd       `cmd:"" help:"Limit how many messages of a topic or queue run at once, or begin in a time."`
	Backlog      backlogCmd      `cmd:"" help:"Count what is in the database, by queue, topic and state."`
	Stats        statsCmd        `cmd:"" help:"Show what workers did, by topic: how many messages, how fast, and what failed."`
	Workers      workersCmd      `cmd:"" help:"List the processes that work on the database."`
	Audit        auditCmd        `cmd:"" help:"List what operators did."`
	Joins        joinsCmd        `cmd:"" help:"List, show and cancel joins, which wait until several messages are done."`
	Flows        flowsCmd        `cmd:"" help:"Show flows of several steps, send them signals, and cancel them."`
	Timers       timersCmd       `cmd:"" help:"Schedule messages for later, once, and cancel them."`
	Jobs         jobsCmd         `cmd:"" help:"Schedule messages again and again, by a cron expression."`
	Inbox        inboxCmd        `cmd:"" help:"List and show messages from outside, and revive dead ones."`
	Lease        leaseCmd        `cmd:"" help:"Run a command while holding a lease: one at a time, on any number of machines."`
	Leases       leasesCmd       `cmd:"" help:"List leases, and release them by force."`
	Health       healthCmd       `cmd:"" help:"Check whether a database is healthy and work is claimed."`
	Fleet        fleetCmd        `cmd:"" help:"List and check many databases at once, each of them a store of a fleet."`
	Doctor       doctorCmd       `cmd:"" help:"Examine a database: what is wrong, and what to do about it."`
	Evidence     evidenceCmd     `cmd:"" help:"Test what pawl promises on a database, in a schema of its own that is removed."`
	UI           uiCmd           `cmd:"" name:"ui" help:"Serve the dashboard: pages about all of it, for a browser."`
	Demo         demoCmd         `cmd:"" help:"Run orders, ETL runs and checkouts, kill workers, and count what was lost."`
	Version      versionCmd      `cmd:"" help:"Print the version."`
	Completion   completionCmd   `cmd:"" help:"Print a script that completes command lines in a shell."`
	Man          manCmd          `cmd:"" help:"Print the manual page, or write those of all commands."`

	DemoWorker    demoWorkerCmd    `cmd:"" hidden:""`
	CompleteWords completeWordsCmd `cmd:"" hidden:""`
}

// options hold for all commands.
type options struct {
	DB     string `name:"db" default:"sqlite:pawl.db" placeholder:"URL" help:"Database: the path or file: URI of a SQLite file, sqlite:PATH, postgres://USER@HOST/DATABASE, \"host=HOST dbname=DATABASE\", sqlserver://USER@HOST?database=DATABASE or \"Server=HOST;Database=DATABASE\". Default: ${default}."`
	Fleet  string `placeholder:"WHERE" help:"In place of --db a fleet of databases: dir:PATH[/PATTERN], list:FILE or table:URL; see \"pawl fleet --help\". With --store any command is about one of them."`
	Store  string `placeholder:"KEY" help:"The store of --fleet that the command is about."`
	Schema string `placeholder:"NAME" help:"Schema of pawl's tables in PostgreSQL. Default: pawl."`
	Prefix string `placeholder:"TEXT" help:"Prefix of pawl's table names."`
	JSON   bool   `name:"json" help:"Print JSON, one object a line."`
	Actor  string `placeholder:"NAME" help:"Who runs the command, for the audit trail. Default: user@host."`
	Reason string `placeholder:"TEXT" help:"Why, for the audit trail."`

	FleetQuery string `placeholder:"SQL" help:"Query of --fleet table:URL, which returns key and URL of every store and, if it has more columns, schema and prefix. Default: SELECT key, url FROM pawl_stores."`
}

// run parses and executes a command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	var c cli
	answered := false // by --help or --version
	parser, err := a.parser(&c, kong.Exit(func(int) { answered = true }), kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		return a.complain(err, "", "")
	}
	parsed, err := parser.Parse(args)
	switch {
	case answered:
		return exitOK
	case err != nil:
		return a.complain(usage("%s", withoutValue(err)), commandOf(err), c.DB)
	}
	err = c.options.settle(parsed)
	if err == nil {
		parsed.BindTo(c.options.account(ctx), (*context.Context)(nil))
		err = parsed.Run()
	}
	if err != nil {
		return a.complain(err, parsed.Command(), c.DB)
	}
	return exitOK
}

// parser returns the parser of a command line into c.
func (a *app) parser(c *cli, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append([]kong.Option{
		kong.Name("pawl"), kong.Description(description), kong.UsageOnError(), kong.Writers(a.stdout, a.stderr),
		kong.Vars{"version": version()}, kong.PostBuild(environment), kong.PostBuild(globalFlags),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Bind(a, &c.options),
	}, more...)...)
}

// withoutValue is kong's error without the value of the variable that it came
// from: whoever uses one does not want the value in a log (D-5).
func withoutValue(err error) string {
	return regexp.MustCompile(`(?s) \(from envar (\w+)=".*"\)`).ReplaceAllString(err.Error(), " (from $$$1)")
}

// commandOf is the command that a line with a mistake got to.
func commandOf(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		return parse.Context.Command()
	}
	return ""
}

// environment gives every option a variable: PAWL_DB for one of all commands,
// PAWL_WORK_LEASE for one of a command. The command's name keeps them apart
// from the variables by which "work" hands a message's fields to its command,
// which may well enqueue the next message.
func environment(k *kong.Kong) error {
	nameVariables(k.Model.Node, "PAWL")
	return nil
}

func nameVariables(node *kong.Node, prefix string) {
	for _, command := range node.Children {
		nameVariables(command, prefix+"_"+screaming(command.Name))
	}
	for _, flag := range node.Flags {
		if flag.Name == "help" || flag.Name == "version" || flag.Hidden {
			continue
		}
		flag.Envs = []string{prefix + "_" + screaming(flag.Name)}
		flag.Tag.Envs = flag.Envs
	}
}

// globalFlags groups the flags of all commands, so that help lists them after the
// command's own.
func globalFlags(k *kong.Kong) error {
	global := &kong.Group{Key: "global", Title: "Flags of all commands:"}
	for _, flag := range k.Model.Flags {
		flag.Group = global
	}
	return nil
}

func screaming(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "-", "_")) }

// buildInfo is what the program was built from, also as JSON.
type buildInfo struct {
	Version  string `json:"version"` // of the module; "(devel)" outside a release
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go,omitempty"`
}

// The linker sets both in a released program: .goreleaser.yaml.
//
//nolint:gochecknoglobals // it sets nothing else
var releaseVersion, releaseRevision string

// build returns what the program was built from.
func build() buildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return buildInfo{Version: "unknown"}
	}
	if releaseVersion != "" {
		return buildInfo{Version: releaseVersion, Revision: releaseRevision, Go: info.GoVersion}
	}
	b := buildInfo{Version: info.Main.Version, Go: info.GoVersion}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

// version returns the version in a line, with the commit unless it is part of it.
func version() string {
	b := build()
	text := "pawl " + b.Version
	if b.Revision != "" && !strings.Contains(text, b.Revision[:min(12, len(b.Revision))]) {
		text += " " + b.Revision
	}
	return strings.TrimSpace(text + " " + b.Go)
}

// beforeAbort says what an exit that waits for nothing must still do.
func (a *app) beforeAbort(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.onAbort = f
}

func (a *app) abort() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.onAbort != nil {
		a.onAbort()
	}
}
